//! Reasoning in the façade: names of all formats, the prompt's end, limits, estimates, collapse.

use guard_laws::reasoning_options;
use llm_stream_guard::{
    BuildError, Collapse, CollapseAction, CollapseLimits, End, Event, Format, Guard, GuardBuilder,
    InlineTags, LimitPolicy, Outcome, Profile, Reasoning, ReasoningLimit, Start, Unclosed,
    Whitespace,
    jail_match::{Channel, ServerItem},
    profile, profiles, reasoning, reasoning_aliases, think_filter,
    wire_remap::RemapTable,
};

fn builder(name: &str) -> GuardBuilder {
    Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile(name).unwrap() })
}

/// Content as it is, reasoning in braces, complete calls in brackets, broken ones as `!`.
fn events(guard: &Guard, chunks: &[&str], end: End) -> String {
    let (mut guard, mut seen, mut last) = (guard.clone(), String::new(), 'c');
    let mut on = |event: Event<'_>| match event {
        Event::Content(text) => {
            seen.push_str(if last == 'r' { "}" } else { "" });
            seen.push_str(text);
            last = 'c';
        }
        Event::Reasoning(text) => {
            seen.push_str(if last == 'r' { "" } else { "{" });
            seen.push_str(text);
            last = 'r';
        }
        Event::CallStart { name, .. } => {
            seen.push_str(if last == 'r' { "}[" } else { "[" });
            seen.push_str(name);
            last = 'c';
        }
        Event::CallEnd { outcome, .. } => {
            seen.push(if outcome == Outcome::Incomplete { '!' } else { ']' });
        }
        _ => {}
    };
    for chunk in chunks {
        let _ = guard.push(chunk, &mut on);
    }
    let _ = guard.finish(end, &mut on);
    if last == 'r' {
        seen.push('}');
    }
    seen
}

/// The same for the text whole and in scalars.
fn shown(guard: &Guard, text: &str) -> String {
    let scalars: Vec<String> = text.chars().map(String::from).collect();
    let scalars: Vec<&str> = scalars.iter().map(String::as_str).collect();
    let whole = events(guard, &[text], End::Stop);
    assert_eq!(events(guard, &scalars, End::Stop), whole, "{text:?}");
    whole
}

#[test]
fn closer_of_a_quoted_opener_is_text_in_every_family() {
    let mut families = 0;
    for profile in profiles() {
        let named = profile.reasoning.as_deref().and_then(|name| reasoning(name).ok());
        let Some(Reasoning::Format(format)) = named else { continue };
        let [Some(open), Some(close)] = [format.open.first(), format.close.first()] else {
            continue;
        };
        let builder =
            Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile.clone() });
        let guard = builder.build().expect("builds");
        let says = |text: &str| shown(&guard, text) == text;
        if !says(&format!("Say {open}x")) {
            // A token that no prose holds opens reasoning in a sentence, too.
            continue;
        }
        families += 1;
        for text in [
            format!("Hello there. {open}let me recall{close}The capital"),
            format!("Say {open}{open}a{close} and {close} twice, {open}{close}."),
            format!("Say `{open}` and then {close}, or {open} and then `{close}`."),
        ] {
            assert!(says(&text), "{}: {text:?} is {:?}", profile.name, shown(&guard, &text));
        }
        if format.openers == think_filter::Openers::Lead {
            continue;
        }
        let text = format!("Say {open}.\n{open}why{close}Yes.");
        assert_eq!(shown(&guard, &text), format!("Say {open}.\n{{why}}Yes."), "{}", profile.name);
    }
    assert!(families >= 40, "{families}");
}

#[test]
fn every_known_reasoning_parser_name_has_a_format() {
    let wanted = "deepseek_r1 deepseek_v4 qwen3 qwen3_coder glm45 ling3 kimi kimi_k2 kimi_k3 \
        minimax_m2 minimax_m3 minimax_append_think mistral granite cohere_command4 gemma4 seed_oss \
        ernie45 hunyuan_a13b hy_v3 hy_v4 olmo3 nemotron_v3 step3 step3p5 inkling gpt_oss apertus \
        muse_glimmer holo2 poolside_v1 exaone4 exaone_deep phi4_reasoning open_thoughts lead_only \
        basic passthrough openai_gptoss gpt-oss harmony glimmer beam";
    for name in wanted.split_whitespace() {
        let found = reasoning(name).unwrap_or_else(|error| panic!("{error}"));
        Guard::builder(&Profile::reasoning(name)).build().unwrap_or_else(|error| panic!("{error}"));
        assert!(!found.name().is_empty());
    }
    for alias in reasoning_aliases() {
        let found = match alias.engine {
            "" => reasoning(alias.name),
            engine => reasoning(&format!("{engine}:{}", alias.name)),
        };
        assert_eq!(
            found.map(|found| found.name().to_owned()).as_deref(),
            Ok(alias.of),
            "{alias:?}"
        );
    }
    let error = reasoning("minimax").unwrap_err().to_string();
    assert!(error.contains("ambiguous") && error.contains("`smg:minimax`"), "{error}");
}

// Contract: S3.9.
#[test]
fn start_is_derived_from_the_prompt_unless_set() {
    let opened = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n";
    let guard = builder("qwen3").prompt(opened).build().unwrap();
    assert_eq!(shown(&guard, "a</think>b"), "{a}b");
    let guard = builder("qwen3")
        .prompt(opened)
        .reasoning(reasoning_options(|it| it.start = Some(Start::Content)))
        .build()
        .unwrap();
    assert_eq!(shown(&guard, "a"), "a", "what the caller says counts more");
    let closed = format!("{opened}\n</think>\n\n");
    let guard = builder("qwen3").prompt(&closed).build().unwrap();
    assert_eq!(shown(&guard, "a"), "a");
}

#[test]
fn start_is_derived_from_prompts_with_message_headers() {
    for (name, prompt, start) in [
        ("harmony", "<|start|>user<|message|>hi<|end|><|start|>assistant", Start::Content),
        ("harmony", "<|start|>assistant<|channel|>analysis<|message|>", Start::Reasoning),
        ("inkling", "<|message_model|><|content_thinking|>", Start::Reasoning),
    ] {
        let Ok(found @ Reasoning::Channels(_)) = reasoning(name) else { panic!("{name}") };
        assert_eq!(found.start_after(prompt), start, "{name} {prompt}");
    }
}

// Contract: S3.22.
#[test]
fn reasoning_limit_holds_across_calls() {
    let limit = |policy| ReasoningLimit { bytes: 3, policy };
    let text = "<think>ab<tool_call>{\"name\": \"f\"}</tool_call>cd</think>e";
    let guard = builder("trinity")
        .reasoning(reasoning_options(|it| it.limit = Some(limit(LimitPolicy::Drop))))
        .build()
        .unwrap();
    assert_eq!(shown(&guard, text), "{ab}[f]{c}e");
    let guard = builder("trinity")
        .reasoning(reasoning_options(|it| it.limit = Some(limit(LimitPolicy::Release))))
        .build()
        .unwrap();
    assert_eq!(shown(&guard, text), "{ab}[f]{c}de");
    let guard = builder("trinity")
        .reasoning(reasoning_options(|it| it.limit = Some(limit(LimitPolicy::Error))))
        .build()
        .unwrap();
    assert_eq!(shown(&guard, text), "{ab}[f]{c}");
    let error = guard.clone().push(text, &mut |_: Event<'_>| {}).unwrap_err();
    assert_eq!(error.kind.name(), "reasoning_limit");
}

#[test]
fn reasoning_tokens_are_estimated_from_emitted_reasoning() {
    let mut guard = builder("qwen3").build().unwrap();
    let mut sink = |_: Event<'_>| {};
    for chunk in ["<think>", "12345", "6789</think>", "visible"] {
        guard.push(chunk, &mut sink).unwrap();
    }
    assert_eq!((guard.counters().reasoning_bytes, guard.reasoning_tokens()), (9, 3));
    guard.reset();
    assert_eq!(guard.reasoning_tokens(), 0);
}

#[test]
fn tags_stay_in_the_text_on_request() {
    let format = Format::tags("own", "<think>", "</think>").inline(Start::Reasoning);
    let profile = Profile { format: Some(format), ..profile("qwen3").unwrap() };
    let guard = Guard::builder(&Profile { whitespace: Whitespace::Verbatim, ..profile })
        .reasoning(reasoning_options(|it| it.start = Some(Start::Reasoning)))
        .build()
        .unwrap();
    let text = "a</think>b<tool_call>{\"name\": \"f\"}</tool_call>";
    assert_eq!(shown(&guard, text), "<think>a</think>b[f]");
}

fn collapsing(action: CollapseAction) -> Guard {
    let limits = CollapseLimits { run: 3, action, ..CollapseLimits::default() };
    builder("hermes").stage(limits).build().unwrap()
}

const COLLAPSE: &str = "ok\n<tool_call>\n<tool_call>\n<tool_call>\n<tool_call>\n{\"name\": \"f\"}";

#[test]
fn collapse_is_not_detected_by_default() {
    let mut guard = builder("hermes").build().unwrap();
    guard.push(COLLAPSE, &mut |_: Event<'_>| {}).unwrap();
    assert!(guard.collapse().is_none() && !guard.is_over());
}

#[test]
fn observed_collapse_is_reported_and_leaves_the_output_unchanged() {
    let mut guard = collapsing(CollapseAction::Observe);
    let plain = builder("hermes").build().unwrap();
    assert_eq!(shown(&guard, COLLAPSE), shown(&plain, COLLAPSE));
    guard.push(COLLAPSE, &mut |_: Event<'_>| {}).unwrap();
    assert!(matches!(guard.collapse(), Some(Collapse { start: 3, end: 38, run: 3, .. })));
    guard.reset();
    assert!(guard.collapse().is_none());
}

// Contract: X.30.
#[test]
fn collapse_ends_the_message_at_every_cut() {
    let guard = collapsing(CollapseAction::EndStream);
    let seen = shown(&guard, &format!("{COLLAPSE}</tool_call> and more"));
    assert!(seen.starts_with("ok\n") && !seen.contains(['[', 'm']), "no call, no more: {seen:?}");
    let mut guard = guard;
    let mut sink = |_: Event<'_>| {};
    guard.push(COLLAPSE, &mut sink).unwrap();
    assert!(guard.is_over());
    assert_eq!(guard.held().bytes, 0);
    guard.push("ignored", &mut sink).unwrap();
    guard.finish(End::Stop, &mut sink).unwrap();
    guard.reset();
    assert_eq!(shown(&guard, "back"), "back");
}

// Contract: X.30.
#[test]
fn collapse_fails_the_message_on_request() {
    let mut guard = collapsing(CollapseAction::Error);
    let mut sink = |_: Event<'_>| {};
    let error = guard.push(COLLAPSE, &mut sink).unwrap_err();
    assert_eq!((error.kind.name(), error.at, error.bytes), ("collapse", 3, 35));
    assert_eq!(guard.push("more", &mut sink), Err(error));
    assert_eq!(guard.finish(End::Stop, &mut sink), Err(error));
}

#[test]
fn marker_fragments_and_wire_openers_count_as_collapse_openers() {
    let limits =
        CollapseLimits { run: 3, action: CollapseAction::EndStream, ..CollapseLimits::default() };
    let guard = builder("hermes").stage(RemapTable::hermes()).stage(limits).build().unwrap();
    let text = "a [[CALL]]_call>\n[[CALL]] b";
    let seen = shown(&guard, text);
    assert!(seen.starts_with("a ") && !seen.ends_with('b'), "{seen:?}");
}

#[test]
fn collapse_ends_a_guarded_stream() {
    use futures_core::Stream;
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };
    let chunks = [COLLAPSE, "never read"].map(Ok::<_, std::io::Error>);
    let inner = tokio_stream::iter(chunks);
    let guard = collapsing(CollapseAction::EndStream);
    let mut stream = pin!(llm_stream_guard::guard_text(inner, guard));
    let mut context = Context::from_waker(Waker::noop());
    let mut text = String::new();
    while let Poll::Ready(Some(event)) = stream.as_mut().poll_next(&mut context) {
        text += &format!("{event:?}");
    }
    assert!(!text.contains("never read"), "{text}");
    assert!(stream.machine().collapse().is_some() && stream.limit_hit().is_none());
}

// Contract: S3.12.
#[test]
fn unclosed_reasoning_goes_to_the_channel_of_its_policy() {
    let call = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    for (policy, expected) in [
        (Unclosed::Reasoning, "a\n{plan\n\nThe answer}"),
        (Unclosed::Content, "a\nplan\n\nThe answer"),
        (Unclosed::Split, "a\n{plan\n\n}The answer"),
    ] {
        let guard = builder("qwen3")
            .reasoning(reasoning_options(|it| it.unclosed = Some((policy, 64))))
            .build()
            .unwrap();
        assert_eq!(shown(&guard, "a\n<think>plan\n\nThe answer"), expected, "{policy:?}");
        let closed = format!("<think>a\n\nb</think>{call}\n<think>c</think>");
        assert_eq!(shown(&guard, &closed), "{a\n\nb}[f]\n{c}", "{policy:?}");
    }
    // What a call interrupts is told by what follows it alone.
    let kept = builder("qwen3")
        .reasoning(reasoning_options(|it| it.unclosed = Some((Unclosed::Content, 64))))
        .build()
        .unwrap();
    assert_eq!(shown(&kept, &format!("<think>ab{call}cd")), "{ab}[f]cd");
    let mut guard = builder("qwen3")
        .reasoning(reasoning_options(|it| it.unclosed = Some((Unclosed::Content, 4))))
        .build()
        .unwrap();
    let mut seen = String::new();
    let mut on = |event: Event<'_>| {
        if let Event::Reasoning(text) = event {
            seen.push_str(text);
        }
    };
    guard.push("<think>abc", &mut on).unwrap();
    assert_eq!(guard.held().bytes, 3);
    guard.push("</think>", &mut on).unwrap();
    assert_eq!(guard.held().bytes, 0, "its closer came");
    guard.push("\n<think>hello", &mut on).unwrap();
    guard.finish(End::Stop, &mut on).unwrap();
    assert_eq!(seen, "abchello", "too long to wait for");
}

// Contract: S3.12, S3.17.
#[test]
fn separated_reasoning_is_reasoning_and_inline_tags_follow_their_option() {
    for (tags, expected) in
        [(InlineTags::Live, "{told}a\n{b}"), (InlineTags::Literal, "{told}a\n<think>b")]
    {
        let guard = builder("qwen3")
            .reasoning(reasoning_options(|it| it.inline_tags = tags))
            .build()
            .unwrap();
        for last in [None, Some("more")] {
            let mut guard = guard.clone();
            let mut seen = String::new();
            let mut on = |event: Event<'_>| match event {
                Event::Reasoning(text) => seen += &format!("{{{text}}}"),
                Event::Content(text) => seen += text,
                _ => {}
            };
            guard.server_item(ServerItem::Channel(Channel::REASONING), &mut on).unwrap();
            guard.push("told", &mut on).unwrap();
            guard.server_item(ServerItem::Channel(Channel::CONTENT), &mut on).unwrap();
            guard.push("a\n<think>b", &mut on).unwrap();
            if let Some(last) = last {
                guard.message_boundary(&mut on);
                guard.push(&format!("<think>{last}</think>"), &mut on).unwrap();
            }
            guard.finish(End::Stop, &mut on).unwrap();
            let last = last.map(|last| format!("{{{last}}}")).unwrap_or_default();
            assert_eq!(seen, format!("{expected}{last}"), "{tags:?}");
        }
    }
    let mut guard = builder("qwen3")
        .reasoning(reasoning_options(|it| it.unclosed = Some((Unclosed::Content, 64))))
        .build()
        .unwrap();
    let mut seen = String::new();
    let mut on = |event: Event<'_>| {
        if let Event::Reasoning(text) = event {
            seen.push_str(text);
        }
    };
    guard.server_item(ServerItem::Channel(Channel::REASONING), &mut on).unwrap();
    guard.push("told", &mut on).unwrap();
    guard.finish(End::Stop, &mut on).unwrap();
    assert_eq!(seen, "told", "the server knows that it is none of the answer");
}

#[test]
fn options_about_tags_are_refused_without_tags() {
    for (builder, option) in [
        (
            Guard::builder(&profile("harmony").unwrap())
                .reasoning(reasoning_options(|it| it.unclosed = Some((Unclosed::Content, 9)))),
            "unclosed",
        ),
        (
            Guard::builder(&Profile::named("x"))
                .reasoning(reasoning_options(|it| it.inline_tags = InlineTags::Literal)),
            "inline_tags",
        ),
    ] {
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::NoTags { option: name } if name == option), "{error}");
    }
}
