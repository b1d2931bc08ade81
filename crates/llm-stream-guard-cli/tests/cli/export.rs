//! Families written as response templates read the families' own vectors.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use family_export::{Exported, response_template};
use guard_laws::GuardMachine;
use llm_stream_guard::{End, Guard, Profile, Tools, named_profile};
use llm_stream_guard_cli::{machine_for, machine_with};
use response_templates::Boundaries;
use serde_json::json;
use stream_laws::{
    COMPLETE, Cut, REASONING, RecordedEvent, StreamMachine,
    json::{JsonValue, parse_object},
    run,
    vector::{CaseFinish, CaseKind, CaseStart, VectorCase, read_cases},
};

use toolcall_parsers::{
    EncodeCall, Grammar, encode_form,
    family::{Family, Keys},
};

use crate::support::{root, run as run_command};

/// The names and arguments of complete calls.
pub(crate) fn calls(events: &[RecordedEvent]) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String, bool)> = Vec::new();
    for event in events {
        match event {
            RecordedEvent::CallStart { name, .. } => {
                calls.push((name.clone(), String::new(), false));
            }
            RecordedEvent::CallArguments { index, fragment } => {
                calls[*index as usize].1.push_str(fragment);
            }
            RecordedEvent::CallEnd { index, outcome } => {
                calls[*index as usize].2 = outcome == COMPLETE;
            }
            RecordedEvent::Text { .. } => {}
        }
    }
    calls.into_iter().filter(|call| call.2).map(|(name, text, _)| (name, text)).collect()
}

/// Whether `machine` reads the calls that the case expects.
fn agrees(machine: &impl StreamMachine, case: &VectorCase) -> bool {
    [Cut::Whole, Cut::EachScalar].into_iter().all(|cut| {
        let got = calls(&run(machine, &case.wire, cut).events);
        got.len() == case.expect.calls.len()
            && got.iter().zip(&case.expect.calls).all(|((name, text), call)| {
                *name == call.name && parse_object(text).is_ok_and(|it| it == call.arguments)
            })
    })
}

/// What reads the case by the template of its family, `profile`.
fn by_template(
    profile: &Profile,
    exported: &Exported,
    case: &VectorCase,
    boundaries: Boundaries,
) -> GuardMachine {
    let mut read = profile_of(exported);
    read.template_settings.boundaries = boundaries;
    let mut builder = Guard::builder(&read);
    if let (CaseStart::Reasoning, Some(name)) = (case.start, &profile.reasoning) {
        let format = think_filter::format(name).expect("a format");
        builder = builder.prompt(&format!("<bot>{}", format.open[0]));
    }
    if let Some(tools) = &case.tools {
        let tools = serde_json::from_str(tools).expect("JSON");
        builder = builder.tools(Tools::from_json(&tools).expect("tools"));
    }
    let end = if case.finish == CaseFinish::Stop { End::Stop } else { End::Length };
    GuardMachine::new(builder.build().expect("an exported template is good"), end)
}

fn profile_of(exported: &Exported) -> Profile {
    Profile::from_response_template(&exported.template.to_string()).expect("a template")
}

/// The profile that reads by the template of a family, if there is one.
pub(crate) fn exported(name: &str) -> Option<Profile> {
    response_template(&Profile::tools(name), "<bot>").ok().as_ref().map(profile_of)
}

#[test]
fn exported_templates_parse_calls_of_their_families() {
    let schema = json!({"properties": {"to": {"type": "string"}, "n": {"type": "integer"}}});
    let tools = Tools::new([("wave", schema.clone()), ("nod", schema)]);
    let one = EncodeCall::new("wave", r#"{"to": "Ida, \u00e9", "n": 3}"#);
    let two = EncodeCall::new("nod", r#"{"to": "two\nlines"}"#);
    let (mut read, mut wrong) = (0, Vec::new());
    for grammar in toolcall_parsers::grammars() {
        let Some(profile) = exported(grammar.name()) else { continue };
        for written in [&[one][..], &[one, two]] {
            let form = grammar.family().write.form;
            let Ok(wire) = encode_form(&grammar, form, written, &tools) else { continue };
            // A second way to write a parameter, which the template does not have.
            if wire.contains("<![CDATA[") {
                continue;
            }
            let guard = Guard::builder(&profile).tools(tools.clone()).build().expect("a guard");
            let machine = GuardMachine::new(guard, End::Stop);
            let got = calls(&run(&machine, &wire, Cut::EachScalar).events);
            let same = got.len() == written.len()
                && got.iter().zip(written).all(|((name, text), call)| {
                    name == call.name && parse_object(text) == parse_object(call.arguments)
                });
            if !same {
                wrong.push(format!("{}: {wire:?} is {got:?}", grammar.name()));
            }
            read += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read >= 60, "{read} wires");
}

const SUFFIX: &str = "the suffix of the checkpoint's tags";

/// What an export says that it cannot say, and the vectors that show it.
const LOST: [(&str, &[&str]); 11] = [
    (
        "rules for values beyond the template",
        &[
            "qwen3_coder/cut-after-quoted-call",
            "qwen3_coder/opener-of-a-given-parameter-is-data",
            "minimax_m2/cut-after-quoted-call",
            "minimax_m2/opener-of-a-given-parameter-is-data",
            "glm47/cut-after-quoted-call",
            "solar_open2/cut-after-quoted-call",
            "minicpm5/cut-after-quoted-call",
            "minicpm5/value-that-never-ends-quotes-a-call",
            "minicpm5/opener-of-a-given-parameter-is-data",
            "dots/cut-after-quoted-call",
            "dots/opener-of-a-given-parameter-is-data",
            "hy_v3/cut-after-quoted-call",
            "ling3/cut-after-quoted-call",
            "mimo/cut-after-quoted-call",
            "mimo/opener-of-a-given-parameter-is-data",
            "k2_horizon/cut-after-quoted-call",
            "functiongemma/a-call-that-quotes-a-call-in-a-value",
            "functiongemma/bare-boolean-in-a-string-list",
            "functiongemma/bare-null-for-a-string",
            "functiongemma/bare-number-for-a-string",
            "functiongemma/escapes-in-quotes",
            "functiongemma/expression-in-quotes",
            "gemma4/a-call-that-quotes-a-call-in-a-value",
            "gemma4/bare-boolean-in-a-string-list",
            "gemma4/bare-null-for-a-string",
            "gemma4/bare-number-for-a-string",
            "gemma4/escapes-in-quotes",
            "gemma4/expression-in-quotes",
            "gemma4/quoted-block",
            "gemma4/quoted-own-end",
            "glm47/end-tags-in-a-json-string",
            "glm47/quoted-block",
            "glm47/quoted-own-end",
            "hermes/array-in-a-string",
            "kimi_k2/call-in-a-value-without-a-name",
            "minimax_m2/quoted-block",
            "minimax_m2/quoted-own-end",
            "qwen3_coder/bare-call-in-a-thought",
            "qwen3_coder/declared-containers",
            "qwen3_coder/quoted-block",
            "qwen3_coder/quoted-own-end",
        ],
    ),
    (
        "objects with other keys, without arguments",
        &[
            "hermes/list",
            "hermes/missing-arguments",
            "internlm2/empty_arguments",
            "internlm2/blank_between_tokens",
            "internlm2/doubled_opener",
            "nemotron_deci/one_object",
        ],
    ),
    (
        "JSON with faults",
        &[
            "cohere/comma_forgotten",
            "deepseek_v3_1/raw-newline",
            "harmony/no-arguments",
            "hermes/raw-control",
        ],
    ),
    (
        "blanks, bare words, other quotes",
        &[
            "functiongemma/bare-scalars",
            "functiongemma/empty-things",
            "functiongemma/quotes-of-scripts",
            "functiongemma/undeclared",
            "functiongemma/words-of-python",
            "gemma4/bare-by-declared-type",
            "gemma4/bare-scalars",
            "gemma4/bare-where-a-string-may-stand",
            "gemma4/empty-things",
            "gemma4/null-words",
            "gemma4/quotes-of-scripts",
            "gemma4/wire-types",
            "gemma4/words-of-python",
        ],
    ),
    (
        "text after a call that only the next",
        &[
            "gigachat3/text_around",
            "granite_20b_fc/braces_behind",
            "granite_20b_fc/text_around",
            "mistral/named-text-around",
            "mistral/orphan-closer",
            "mistral/text-between",
        ],
    ),
    (
        "parameters written in other ways, and newlines",
        &[
            "k2_horizon/cut-in-type",
            "k2_horizon/schema-wins",
            "k2_horizon/think-then-call",
            "k2_horizon/types-on-the-wire",
            "seed_oss/newline-at-one-edge",
            "seed_oss/raw-value-keeps-its-newline",
        ],
    ),
    (
        SUFFIX,
        &[
            "hy_v3/suffix-call",
            "hy_v3/suffix-in-a-value",
            "hy_v3/suffix-missing",
            "hy_v3/suffix-text-behind",
            "hy_v3/suffix-turn",
            "hy_v4/suffix-call",
            "hy_v4/suffix-in-a-value",
            "hy_v4/suffix-missing",
            "hy_v4/suffix-text-behind",
            "hy_v4/suffix-turn",
            "hy_v4/token-suffix",
        ],
    ),
    (
        "headers that lack tokens",
        &[
            "beam/quoted-header-in-a-thought",
            "harmony/built-in-tool",
            "harmony/channel-first",
            "harmony/channel-marker-missing",
            "harmony/quoted-header-in-a-thought",
            "harmony/quoted-message-token",
            "inkling/quoted-header-in-a-thought",
            "muse_glimmer/bare-header-after-a-line",
            "muse_glimmer/block-to-nobody",
            "muse_glimmer/header-in-a-thought",
            "muse_glimmer/header-in-an-answer",
            "muse_glimmer/quoted-header-in-a-thought",
            "muse_glimmer/recipient-in-a-word-of-a-thought",
        ],
    ),
    ("that a call interrupts reasoning", &["trinity/call-in-reasoning", "trinity/suspended"]),
    ("values as Python spells them", &[]),
    // The family takes these for what was meant, and says nothing.
    (
        "markers that are missing, cut or repeated",
        &[
            "beam/cut-call-end",
            "muse_glimmer/cut-call-end",
            "qwen3_coder/cut-between-parameters",
            "xing4/cut-before-end",
            "xml_calls/cut-before-end",
            "iquest_coder_v2/cut-before-end",
            "minimax_m2/cut-between-parameters",
            "glm47/cut-before-end",
            "glm47/cut-between-parameters",
            "spark25/cut-before-end",
            "solar_open2/cut-before-end",
            "solar_open2/cut-between-parameters",
            "glm45/cut-before-end",
            "minicpm5/cut-before-end",
            "minicpm5/cut-between-parameters",
            "minicpm5/container-with-python-word",
            "minicpm5/list-with-trailing-comma",
            "minicpm5/object-with-trailing-comma",
            "minicpm5/list-with-none",
            "poolside_v1/cut-before-end",
            "dots/cut-between-parameters",
            "hy_v3/cut-between-parameters",
            "ling3/cut-before-end",
            "ling3/cut-between-parameters",
            "mimo/cut-between-parameters",
            "k2_horizon/cut-before-closer",
            "k2_horizon/cut-between-parameters",
            "iquest_q1/cut-before-end",
            "deepseek_v3_1/end-for-arguments",
            "glm47/no-value-tag-no-end",
            "iquest_coder_v2/no-value-tag-no-end",
            "kimi_k2/end-for-arguments",
            "deepseek_v3/truncated_before_end",
            "functiongemma/cut-in-closer",
            "functiongemma/key-with-quote",
            "gemma4/cut-in-closer",
            "gemma4/key-with-quote",
            "gemma4/lost-quote",
            "glm45/value-opener-twice",
            "harmony/cut-call-end",
            "hermes/cut-in-closer",
            "minimax_m2/token-in-the-name",
            "muse_glimmer/doubled-name",
            "muse_glimmer/token-in-the-name",
            "muse_glimmer/two-calls-in-a-message",
            "muse_glimmer/two-calls-wrapper-missing",
            "muse_glimmer/wrapper-missing",
            "qwen3/end-of-turn-in-a-thought",
            "qwen3_coder/header-opener-twice",
            "solar_open2/value-opener-twice",
        ],
    ),
];

/// The family of the case without the ways to write a call that it only reads.
fn only_written(family: &Family, case: &VectorCase) -> Grammar {
    let mut family = Family { name: case.family.clone(), ..family.clone() };
    let mut form = family.forms.swap_remove(std::mem::take(&mut family.write.form));
    form.sections.truncate(1);
    form.calls.truncate(1);
    if let Keys::Named(keys) = &mut form.keys {
        keys.name.truncate(1);
        keys.arguments.truncate(1);
        for others in [&mut keys.wrapper, &mut keys.list, &mut keys.answer] {
            others.clear();
        }
    }
    family.forms = vec![form];
    Grammar::new(family).expect("a form of a family is one")
}

/// Faults of the wire that families tell, and what they make of names.
const FAULTS: [&str; 5] =
    ["missing_closer", "skipped", "second_arguments", "duplicate_parameter", "pseudo_call"];

/// Why the template of the family may read the case in another way: it is not written as the family
/// writes, or the family itself tells of a fault.
fn is_otherwise(family: &Family, case: &VectorCase) -> bool {
    let grammar = only_written(family, case);
    let own = Profile { grammar: Some(grammar.clone()), ..Profile::named(grammar.name()) };
    let written = machine_with(case, &[own]).expect("a machine");
    let known = run(&machine_for(case).expect("a machine"), &case.wire, Cut::Whole);
    !agrees(&written, case) || known.diagnostics.iter().any(|it| FAULTS.contains(&&*it.kind))
}

/// Whether an argument holds what may be a marker, or a limit cut the call.
fn needs_strings(case: &VectorCase) -> bool {
    fn holds(value: &JsonValue) -> bool {
        match value {
            JsonValue::String(text) => ["<", "[", "```"].iter().any(|it| text.contains(it)),
            JsonValue::Object(members) => members.values().any(holds),
            JsonValue::Array(items) => items.iter().any(holds),
            _ => false,
        }
    }
    case.expect.incomplete.is_some() || case.expect.calls.iter().any(|it| holds(&it.arguments))
}

/// Every vector with calls of a family that can be a template.
fn cases() -> Vec<(Profile, Exported, VectorCase)> {
    let mut all = Vec::new();
    for directory in ["tools", "profiles"] {
        for file in fs::read_dir(root().join("families/vectors").join(directory)).expect("vectors")
        {
            let text = fs::read_to_string(file.expect("a file").path()).expect("a file");
            for case in read_cases(&text).expect("vectors") {
                let profile = match case.kind {
                    CaseKind::Both => named_profile(&case.family).expect("a profile"),
                    _ => Profile::tools(&case.family),
                };
                if let Ok(exported) = response_template(&profile, "<bot>") {
                    all.push((profile, exported, case));
                }
            }
        }
    }
    all
}

#[test]
fn exported_templates_pass_the_vectors_of_their_families() {
    let mut lost: BTreeSet<&str> = LOST.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let (mut alike, mut exact, mut wrong) = (0, 0, Vec::new());
    let cases = cases();
    for (profile, exported, case) in &cases {
        let id = case.id.as_str();
        let is_listed = lost.remove(id);
        let machine = |boundaries| by_template(profile, exported, case, boundaries);
        let aware = machine(Boundaries::StringAware);
        let thought = run(&aware, &case.wire, Cut::Whole).channel_text(REASONING);
        let is_told = exported.lost.iter().any(|it| it.starts_with(SUFFIX));
        let thinks = thought.trim() == case.expect.reasoning.trim();
        if agrees(&aware, case) && (thinks || is_told || !case.options.is_empty()) {
            alike += 1;
            let is_exact = agrees(&machine(Boundaries::Exact), case);
            exact += usize::from(is_exact);
            if is_listed || !is_exact && !needs_strings(case) {
                wrong.push(format!("{id}: listed, or closers in strings do not explain it"));
            }
            continue;
        }
        let name = profile.tools.as_deref().unwrap_or_default();
        let grammar = toolcall_parsers::grammar(name).expect("a family");
        let note = LOST.iter().find(|(_, ids)| ids.contains(&id)).map(|(note, _)| *note);
        let is_said = note.is_none_or(|it| exported.lost.iter().any(|lost| lost.starts_with(it)));
        if !is_said || note.is_none() != is_otherwise(grammar.family(), case) {
            wrong.push(format!("{id}: {note:?} is not why it is read in another way"));
        }
    }
    assert!(wrong.is_empty() && lost.is_empty(), "{wrong:#?} {lost:?}");
    let all = cases.len();
    assert!(all > 1350 && alike > 1150, "{alike} of {all} alike, {exact} exactly");
}

#[test]
fn exported_family_is_a_template_and_losses_are_reported() {
    let anchor = "<|im_start|>assistant\n";
    let output = run_command(&["families", "--export", "qwen3", "--anchor", anchor]);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (text, notes) = (text(output.stdout), text(output.stderr));
    let profile = Profile::from_response_template(&text).expect("a template");
    assert!(Guard::builder(&profile).build().is_ok());
    assert!(notes.contains("not in the template: markers that are missing"), "{notes}");
}

#[test]
fn export_without_an_anchor_uses_the_chatml_anchor_with_a_note() {
    let output = run_command(&["families", "--export", "qwen3"]);
    let notes = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("--anchor"), "{notes}");
    let template: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let anchor = &template["response_template"]["start_anchor"];
    assert_eq!(anchor, "<|im_start|>assistant\n");
}

#[test]
fn families_without_a_template_report_the_reason() {
    let mut refused = BTreeMap::<String, Vec<String>>::new();
    for grammar in toolcall_parsers::grammars() {
        if let Err(why) = response_template(&Profile::tools(grammar.name()), "<bot>") {
            refused.entry(why.to_string()).or_default().push(grammar.name().to_owned());
        }
    }
    let refused: Vec<_> =
        refused.iter().map(|(why, names)| (why.as_str(), names.join(" "))).collect();
    let expected = [
        (
            "its arguments are neither JSON nor flat tags",
            "granite_pythonic lfm2 llama4_pythonic minimax_m3 olmo3 pythonic sarashina",
        ),
        (
            "its calls begin without a marker",
            "bare_json functionary_v32 glm4 hyperclovax_think_14b llama3_json llama4_json ollama_generic xlam",
        ),
        ("its calls end with nothing but a bracket", "llamacpp_generic"),
        (
            "its parameters are more than a key and a value",
            "deepseek_v3_2 deepseek_v4 deepseek_v4_1 gigachat35 kimi_k3",
        ),
        ("only line breaks separate its calls", "harn_text minimax_m1"),
        ("the key of its objects is the name", "apertus"),
        ("the part after its arguments is not text", "xml_tools"),
    ];
    assert_eq!(refused, expected.map(|(why, names)| (why, names.to_owned())));
}
