//! From recordings and checkpoints to families. The templates are our own, in the shape of models'.

use llm_stream_guard::{
    Certainty, Checkpoint, Detection, End, Guard, Start, Worker, detect, identify,
};
use serde_json::json;

/// Whether a family is among those of the best candidate.
fn is_of(detection: &Detection, family: &str) -> bool {
    detection.candidates.first().is_some_and(|best| best.families.iter().any(|it| it == family))
}

/// A recording, a family among the best, and how sure that is.
const RECORDINGS: &[(&str, &str, Certainty)] = &[
    (
        "<think>Hm.</think>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>",
        "qwen3",
        Certainty::Sure,
    ),
    ("[TOOL_CALLS]f[ARGS]{\"a\": 1}", "mistral", Certainty::Sure),
    (
        "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
        "glm45",
        Certainty::Sure,
    ),
    ("<|channel|>analysis<|message|>Hm.<|end|>", "harmony", Certainty::Likely),
    ("{\"name\": \"f\", \"parameters\": {}}", "llama3_json", Certainty::Likely),
    ("<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": ", "hermes", Certainty::Likely),
];

#[test]
fn families_are_detected_from_recordings() {
    for (text, family, certainty) in RECORDINGS {
        let found = detect([*text]);
        assert!(is_of(&found, family), "{text}: {found:?}");
        assert_eq!(found.certainty, *certainty, "{text}: {found:?}");
    }
}

#[test]
fn text_without_known_markup_has_no_family() {
    let texts = [
        "",
        "Just text, 1 < 2.",
        "<p>It <b>rains</b>.</p>",
        "{\"name\": \"Ada\", \"born\": 1815}",
        "Try:\n```python\nprint(\"hi\")\n```\nDone.",
        "setup(name=\"x\", version=\"1\")",
        "Write calls in <tool_call> tags.",
        "<think>Hm.</think>Yes.<|a_token_of_nobody|>",
    ];
    for text in texts {
        let found = detect([text]);
        assert_eq!((found.certainty, found.profile()), (Certainty::Unknown, None), "{text}");
    }
}

#[test]
fn closer_without_opener_means_the_prompt_opened_reasoning() {
    let found = detect(["So it rains.\n</think>\n\nYes."]);
    assert_eq!(found.profile().map(|profile| profile.start), Some(Start::Reasoning));
    assert_eq!(found.candidates[0].markers, ["</think>"]);
}

#[test]
fn family_that_leaves_markup_of_any_message_as_text_is_rejected() {
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let found = detect([call, "<think>Hm.</think>Yes."]);
    assert!(is_of(&found, "qwen3") && !is_of(&found, "hermes"), "{found:?}");
    let hermes = found.candidates.iter().find(|it| it.families.iter().any(|it| it == "hermes"));
    assert_eq!(hermes.expect("it reads the call").leftovers, ["<think>", "</think>"]);
}

#[test]
fn long_texts_are_read_up_to_a_limit() {
    let long = "x".repeat(1 << 20) + "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    assert_eq!(detect([long.as_str()]).certainty, Certainty::Unknown);
}

#[test]
fn tool_use_template_is_chosen_among_several() {
    let config = json!({
        "chat_template": [
            {"name": "default", "template": "d"},
            {"name": "tool_use", "template": "t"},
        ],
        "eos_token": {"content": "<|im_end|>"},
        "init_kwargs": {"token_suffix": ":x"},
        "response_template": {"fields": {}},
    });
    let found = Checkpoint::from_tokenizer_config(&config);
    assert_eq!(found.template.as_deref(), Some("t"));
    assert_eq!(found.eos_token.as_deref(), Some("<|im_end|>"));
    assert_eq!(found.token_suffix.as_deref(), Some(":x"));
    let found = identify(&found);
    assert_eq!(found.response_template, Some(json!({"fields": {}})));
    assert_eq!((found.certainty, found.families.len()), (Certainty::Unknown, 0));
    assert!(found.profile.is_none() && found.evidence[0].contains("not usable"), "{found:?}");
}

#[test]
fn own_response_template_of_a_checkpoint_is_preferred_to_a_family() {
    let own = json!({"start_anchor": "<bot>", "fields": {
        "thinking": {"open": "<t>", "close": "</t>"}, "content": {}}});
    let config = json!({"name_or_path": "Qwen/Qwen3-8B", "response_template": own});
    let found = identify(&Checkpoint::from_tokenizer_config(&config));
    assert_eq!(found.families, ["qwen3"]);
    assert!(found.evidence[0].contains("its own response template"), "{found:?}");
    let guard = Guard::builder(&found.profile.expect("the template's")).build().unwrap();
    let message = guard.parse("<t>x</t>y", End::Stop).unwrap();
    assert_eq!((message.reasoning.as_str(), message.content.as_str()), ("x", "y"));
}

#[test]
fn malformed_template_identifies_no_family() {
    let widest = usize::MAX;
    let broken =
        ["{%", "{%}", "a{%}b%}", "{%é%}", "{{ 'a\nb' | indent(", "{{ [[1]] | tojson(indent="];
    let broken = broken.map(|text| match text.ends_with(['(', '=']) {
        true => format!("{text}{widest}) }}}}"),
        false => text.to_owned(),
    });
    for text in broken {
        let found = identify(&Checkpoint::from_template(&text));
        assert_eq!(found.certainty, Certainty::Unknown, "{text}: {found:?}");
    }
}

#[test]
fn unrendered_template_is_identified_by_its_strings() {
    let template = "{% for c in calls %}<|tool_call:begin|>{{ c }}{% endfor %}";
    let found = identify(&Checkpoint::from_template(template));
    assert_eq!((found.families[0].as_str(), found.certainty), ("solar_open", Certainty::Likely));
    assert!(found.evidence.iter().any(|it| it.contains("not rendered")), "{found}");
    let lost = Worker::new("no/such/program").identify(&Checkpoint::from_template(template));
    assert_eq!((&lost.families, lost.certainty), (&found.families, found.certainty));
    assert!(lost.evidence.iter().any(|it| it.contains("no/such/program")), "{lost}");
}

#[test]
fn unused_members_of_a_tokenizer_file_are_not_kept_in_memory() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("long.json");
    let read = |text: &str| {
        std::fs::write(&path, text).expect("the scratch directory is there");
        Checkpoint::read(&path)
    };
    let zeros = format!("[{}0]", "0,".repeat(3 << 20));
    let file = format!("{{\"added\": {zeros}, \"chat_template\": \"x\", \"eos_token\": \"e\"}}");
    let mut found = None;
    let spent = allocation_counter::measure(|| found = read(&file).ok());
    let found = found.expect("a template");
    assert_eq!((found.template.as_deref(), found.eos_token.as_deref()), (Some("x"), Some("e")));
    assert!(spent.bytes_max < 32 << 20, "{spent:?}");
    let error = read(&format!("{{\"chat_template\": {zeros}}}")).expect_err("it is long");
    assert!(error.to_string().contains("`chat_template` is beyond"), "{error}");
    let error =
        read(&format!("{{\"added\": [{}0]}}", "0,".repeat(9 << 20))).expect_err("it is long");
    assert!(error.to_string().contains("longer than"), "{error}");
    assert!(read("{\"chat_template\": \"x\"} {").is_err());
}

/// A checkpoint named like one of Qwen's, with these added tokens: text, and whether it is special.
fn with_tokens(name: &str, tokens: &[(&str, bool)]) -> Checkpoint {
    let tokens = tokens.iter().enumerate().map(|(id, (text, special))| {
        (id.to_string(), json!({"content": text, "special": special}))
    });
    let decoder: serde_json::Map<_, _> = tokens.collect();
    Checkpoint::from_tokenizer_config(
        &json!({"name_or_path": name, "added_tokens_decoder": decoder}),
    )
}

#[test]
fn added_tokens_that_the_family_uses_are_its_marker_tokens() {
    let tokens = [("<tool_call>", false), ("<|image|>", true), ("<|im_end|>", true)];
    let found = identify(&with_tokens("Qwen/Qwen3-8B", &tokens));
    let markers: Vec<_> = found.marker_tokens.iter().map(|it| (it.id, &*it.text)).collect();
    assert_eq!(markers, [(0, "<tool_call>"), (2, "<|im_end|>")]);
    assert_eq!(found.profile.as_ref().map(|it| it.needs_special_tokens), Some(false));
    assert!(found.to_string().contains("marker tokens: <tool_call> (0) <|im_end|> (2)"), "{found}");
}

#[test]
fn expectation_of_special_tokens_is_compared_with_the_tokenizer() {
    let found = identify(&with_tokens("Qwen/Qwen3-8B", &[("<tool_call>", true)]));
    assert_eq!(found.profile.as_ref().map(|it| it.needs_special_tokens), Some(true));
    assert!(
        found.evidence.iter().any(|it| it.ends_with("special tokens: `<tool_call>`")),
        "{found}"
    );
    let expects = |special| {
        let name = "google/gemma-4-E2B-it";
        let found = identify(&with_tokens(name, &[("<|tool_call>", special), ("<turn|>", true)]));
        assert_eq!(found.marker_tokens.len(), 2, "{found}");
        found.evidence.iter().any(|it| it.contains("the tokenizer has none of them"))
    };
    assert!(expects(false) && !expects(true));
}

#[test]
fn added_tokens_that_cannot_be_read_are_evidence_and_no_error() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pointer");
    std::fs::create_dir_all(&folder).expect("the scratch directory is there");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write("tokenizer_config.json", r#"{"chat_template": "x", "name_or_path": "Qwen/Qwen3-8B"}"#);
    write("tokenizer.json", "version of a file that is elsewhere");
    let found = identify(&Checkpoint::read(&folder).expect("a template"));
    assert_eq!(found.families, ["qwen3"]);
    assert!(found.evidence.iter().any(|it| it.contains("added tokens cannot be read")), "{found}");
}

#[cfg(feature = "jinja")]
mod rendered {
    use std::time::{Duration, Instant};

    use llm_stream_guard::{identify_trusted, serve_renderings};

    use super::*;
    use crate::hostile;

    /// This program, started to run `worker_process_serves_renderings` alone.
    fn worker() -> Worker {
        let this = std::env::current_exe().expect("this program");
        Worker::new(this).args([
            "--exact",
            "identify::rendered::worker_process_serves_renderings",
            "--ignored",
            "--nocapture",
        ])
    }

    #[test]
    #[ignore = "a worker of another test: it reads its job from the standard input"]
    fn worker_process_serves_renderings() {
        // Without a job there is nothing to be done.
        let _ = serve_renderings();
    }

    #[test]
    fn worker_identifies_like_this_process() {
        let checkpoint = Checkpoint::from_template(&template(HERMES, "", ""));
        assert_eq!(worker().identify(&checkpoint), identify_trusted(&checkpoint));
    }

    #[cfg(unix)]
    #[test]
    fn hostile_templates_end_in_a_worker_within_five_seconds() {
        for (name, text) in hostile::templates() {
            let start = Instant::now();
            let found = worker().identify(&Checkpoint::from_template(&text));
            let spent = start.elapsed();
            assert!(spent < Duration::from_secs(5), "{name}: {spent:?}");
            assert_eq!(found.certainty, Certainty::Unknown, "{name}: {found}");
            assert!(!found.evidence.is_empty(), "{name}: {found}");
        }
    }

    /// A template of turns, with what is written of a call, of the system's message for tools, and
    /// after the header of an answer.
    fn template(call: &str, system: &str, opened: &str) -> String {
        format!(
            "{{% if tools %}}{system}{{% endif %}}\
             {{% for m in messages %}}<|im_start|>{{{{ m.role }}}}\n{{{{ m.content or '' }}}}\
             {{% for c in m.tool_calls or [] %}}{call}{{% endfor %}}<|im_end|>\n{{% endfor %}}\
             {{% if add_generation_prompt %}}<|im_start|>assistant\n{opened}{{% endif %}}"
        )
    }

    const HERMES: &str = "{{ '\n' }}<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": \
        {{ c.function.arguments | tojson }}}\n</tool_call>";

    #[test]
    fn rendered_calls_identify_family_end_of_turn_and_argument_form() {
        let found = identify_trusted(&Checkpoint::from_template(&template(HERMES, "", "")));
        assert_eq!((&*found.families[0], found.certainty), ("hermes", Certainty::Sure), "{found}");
        assert!(found.families.iter().any(|family| family == "qwen3"), "{found}");
        assert_eq!(found.end_of_turn, ["<|im_end|>"]);
        assert_eq!((found.encode_equal, found.string_arguments), (Some(true), Some(false)));
        assert_eq!(found.profile.map(|profile| profile.start), Some(Start::Content));
    }

    #[test]
    fn rendered_prompt_yields_the_start_and_the_thinking_switch() {
        let opened = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n\
            </think>\n\n{% else %}<think>\n{% endif %}";
        let found = identify_trusted(&Checkpoint::from_template(&template(HERMES, "", opened)));
        let profile = found.profile.expect("a family");
        assert_eq!((&*profile.name, profile.start), ("qwen3", Start::Reasoning));
        assert_eq!(
            profile.switch.into_iter().collect::<Vec<_>>(),
            [("enable_thinking".into(), true)]
        );
    }

    #[test]
    fn format_quoted_in_instructions_identifies_no_family() {
        let quoted = template("", "Write <tool_call>{\"name\": ...}</tool_call>.", "");
        let found = identify_trusted(&Checkpoint::from_template(&quoted));
        assert_eq!((found.certainty, found.families.len()), (Certainty::Unknown, 0), "{found}");
        assert!(found.evidence.iter().any(|it| it == "it renders no calls"), "{found}");
    }

    #[test]
    fn arguments_are_rendered_as_a_string_if_the_template_expects_one() {
        let call =
            "{{ '<function=' + c.function.name + '>' + c.function.arguments + '</function>' }}";
        let found = identify_trusted(&Checkpoint::from_template(&template(call, "", "")));
        assert_eq!(&*found.families[0], "functionary_v31");
        assert_eq!(found.string_arguments, Some(true));
    }

    #[test]
    fn variants_are_identified_by_their_rendered_calls() {
        let array = "{% if loop.first %}[TOOL_CALLS]{{ open }}[{% endif %}{\"name\": \
            \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}, \"id\": \
            \"{{ c.id }}\"}{{ ']' if loop.last else ', ' }}";
        for (open, variant) in [(" ", Some(0)), ("", Some(1))] {
            let array = array.replace("{{ open }}", open);
            let found = identify_trusted(&Checkpoint::from_template(&template(&array, "", "")));
            let profile = found.profile.as_ref().expect("a family");
            assert_eq!((&*profile.name, profile.variant), ("mistral", variant), "{found}");
            assert_eq!(found.encode_equal, Some(true));
        }
    }

    #[test]
    fn call_names_inside_ids_are_probed() {
        let call = "<|tool_calls_section_begin|><|tool_call_begin|>{{ c.id }}\
            <|tool_call_argument_begin|>{{ c.function.arguments | tojson }}<|tool_call_end|>\
            <|tool_calls_section_end|>";
        let found = identify_trusted(&Checkpoint::from_template(&template(call, "", "")));
        assert_eq!(found.families, ["kimi_k2"], "{found}");
    }

    #[test]
    fn token_suffix_in_tags_is_identified() {
        let call = "<tool_calls:z>\n<tool_call:z>{{ c.function.name }}<tool_sep:z>\n{% for k, v in \
            c.function.arguments.items() %}<arg_key:z>{{ k }}</arg_key:z>\n<arg_value:z>\
            {{ v if v is string else v | tojson }}</arg_value:z>\n{% endfor %}</tool_call:z>\n\
            </tool_calls:z>";
        let found = identify_trusted(&Checkpoint::from_template(&template(call, "", "")));
        assert_eq!(&*found.families[0], "hy_v3", "{found}");
        assert_eq!(found.token_suffix.as_deref(), Some(":z"));
    }

    #[test]
    fn unreadable_calls_and_failing_templates_are_in_the_evidence() {
        let odd = template("%%{{ c.function.name }}%%{{ c.function.arguments | tojson }}", "", "");
        let found = identify_trusted(&Checkpoint::from_template(&odd));
        assert_eq!(found.families.len(), 0, "{found}");
        assert!(found.evidence.iter().any(|it| it.contains("no family reads")), "{found}");
        let fails =
            "{{ raise_exception('no!') }}{% for c in m.tool_calls %}[TOOL_CALLS]{% endfor %}";
        let found = identify_trusted(&Checkpoint::from_template(fails));
        assert_eq!((&*found.families[0], found.certainty), ("mistral", Certainty::Likely));
        assert!(found.evidence.iter().any(|it| it.contains("no!")), "{found}");
    }
}
