//! Where reasoning, calls, wire delimiters and finish reasons meet.

use llm_stream_guard::{
    CallLimits, CallOptions, End, Guard, GuardBuilder, Ids, InReasoning, Outcome, Profile,
    ToolChoice, Tools, UnknownTools,
    chat::{ChatGuard, ChatOptions, Note},
    profile,
    wire_remap::RemapTable,
};
use stream_laws::Cut;

use crate::chat::{
    feed::{Seen, builder, choices, counting, run, stop, text, usage},
    reader::{Read, read_finished},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
const F: (&str, &str) = ("f", "{\"a\": 1}");

/// What comes out, which is the same for the whole message and for one scalar at a time.
fn message(builder: GuardBuilder, message: &str, reason: &str) -> Read {
    let mut guard = builder.build().expect("builds");
    guard.set_ids(Ids::counting());
    let read = |cut: Cut| {
        let chunks = cut.pieces(message).map(|piece| text(0, piece));
        let chunks = chunks.chain([stop(0, reason), usage()]).collect();
        let seen =
            run(&mut ChatGuard::new(guard.clone(), ChatOptions::default()), chunks, End::Stop);
        read_finished(&seen.chunks).remove(&0).expect("a choice")
    };
    let whole = read(Cut::Whole);
    assert_eq!(read(Cut::EachScalar), whole, "{message:?}");
    whole
}

fn check(builder: GuardBuilder, wire: &str, reason: &str, expected: (&str, &str, &[(&str, &str)])) {
    let read = message(builder, wire, reason);
    let calls: Vec<_> =
        read.calls.iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect();
    assert_eq!(
        (read.reasoning.as_str(), read.content.as_str(), calls.as_slice()),
        expected,
        "{wire:?}"
    );
    let finish = if reason == "stop" && !calls.is_empty() { "tool_calls" } else { reason };
    assert_eq!(read.finish.as_deref(), Some(finish), "{wire:?}");
}

// Contract: X.1, X.2.
#[test]
fn call_in_reasoning_is_emitted_and_suspends_or_ends_the_span() {
    let wire = format!("<think>a{CALL}b</think>c");
    let with = |tool_in_reasoning| {
        let known = profile("qwen3").expect("a registered profile");
        Guard::builder(&Profile { tool_in_reasoning, ..known }).calls(counting())
    };
    check(with(InReasoning::Suspend), &wire, "stop", ("ab", "c", &[F]));
    check(builder("qwen3"), &format!("<think>a{CALL}b"), "stop", ("a", "b", &[F]));
    let literal = format!("a{CALL}b");
    check(with(InReasoning::Literal), &wire, "stop", (&literal, "c", &[]));
}

// Contract: X.1, X.2.
#[test]
fn refuted_call_in_reasoning_stays_reasoning() {
    for mention in ["use `<tool_call>` for it", "<tool_call>nope</tool_call>", "\"<tool_call>\""] {
        let wire = format!("<think>{mention}</think>c");
        for policy in [InReasoning::Suspend, InReasoning::End] {
            let known = profile("qwen3").expect("a registered profile");
            let known = Profile { tool_in_reasoning: policy, ..known };
            let builder = Guard::builder(&known).calls(counting());
            check(builder, &wire, "stop", (mention, "c", &[]));
        }
    }
}

// Contract: X.3.
#[test]
fn complete_call_in_reasoning_that_never_ends_is_emitted() {
    check(builder("qwen3"), &format!("<think>a{CALL}"), "stop", ("a", "", &[F]));
}

// Contract: S1.9, S3.25, X.4, X.5.
#[test]
fn tags_inside_arguments_are_data() {
    let wire = r#"<tool_call>{"name": "f", "arguments": {"a": "<think>b</think></tool_call>"}}</tool_call>"#;
    check(
        builder("qwen3"),
        wire,
        "stop",
        ("", "", &[("f", r#"{"a": "<think>b</think></tool_call>"}"#)]),
    );
    let guided = r#"</think>[{"name": "f", "arguments": {"a": "<think>b</think><tool_call>"}}]"#;
    let required = builder("qwen3").tool_choice(ToolChoice::Required);
    check(required, guided, "stop", ("", "", &[("f", r#"{"a": "<think>b</think><tool_call>"}"#)]));
}

// Contract: X.6.
#[test]
fn reasoning_truncated_by_the_token_limit_stays_reasoning() {
    check(builder("qwen3"), "<think>a", "length", ("a", "", &[]));
    let wire = r#"<think>a<tool_call>{"name""#;
    check(builder("qwen3"), wire, "length", ("a", "", &[]));
}

// Contract: X.7.
#[test]
fn tags_in_code_are_content_and_stray_quotes_do_not_hide_calls() {
    let literal = "So: ```\n<think>x</think>\n```\nand `<think>` too.";
    check(builder("qwen3"), literal, "stop", ("", literal, &[]));
    let quoted = "write \"<tool_call>\" or `<tool_call>`.";
    check(builder("qwen3"), quoted, "stop", ("", quoted, &[]));
    for stray in ["it's \"", "a ` b"] {
        check(builder("qwen3"), &format!("{stray}{CALL}"), "stop", ("", stray, &[F]));
    }
}

// Contract: X.8.
#[test]
fn reasoning_between_calls_keeps_its_place() {
    let wire = format!("<think>a</think>{CALL}<think>b</think>{CALL}");
    let profile = Profile {
        reasoning: Some("basic".into()),
        tools: Some("hermes".into()),
        ..Profile::named("interleaved")
    };
    let guard = Guard::builder(&profile).build().expect("builds");
    let seen = run(
        &mut ChatGuard::new(guard, ChatOptions::default()),
        vec![text(0, &wire), stop(0, "stop")],
        End::Stop,
    );
    let order: Vec<_> = choices(&seen.chunks)
        .iter()
        .filter_map(|choice| match &choice["delta"] {
            delta if delta["tool_calls"].is_array() => Some("call".to_owned()),
            delta => Some(delta["reasoning_content"].as_str()?.to_owned()),
        })
        .collect();
    assert_eq!(order, ["a", "call", "b", "call"]);
}

// Contract: X.9.
#[test]
fn whitespace_between_markup_is_removed_and_other_whitespace_is_kept() {
    check(
        builder("qwen3"),
        &format!("<think>a</think>\n\n{CALL}\n{CALL}"),
        "stop",
        ("a", "", &[F, F]),
    );
    check(builder("qwen3"), &format!("x\n\n{CALL}"), "stop", ("", "x\n\n", &[F]));
}

fn remapped() -> GuardBuilder {
    builder("qwen3").stage(RemapTable::hermes())
}

// Contract: X.10, X.11, X.14, X.15.
#[test]
fn remapped_delimiters_are_read_as_calls_at_every_cut() {
    let call = r#"[[CALL]]{"name": "f", "arguments": {"a": 1}}[[/CALL]]"#;
    check(remapped(), &format!("<think>a</think>\n\n{call}"), "stop", ("a", "", &[F]));
    let mixed = r#"[[CALL]]{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
    check(remapped(), mixed, "stop", ("", "", &[F]));
    check(remapped(), CALL, "stop", ("", "", &[F]));
    let thought = "<think>the [[CALL]] tag</think>c";
    check(remapped(), thought, "stop", ("the <tool_call> tag", "c", &[]));
}

// Contract: X.10.
#[test]
fn remap_and_recogniser_hold_at_most_one_marker_each() {
    let mut guard = remapped().build().expect("builds");
    let mut sink = |_: llm_stream_guard::Event<'_>| {};
    let longest = "[[/CALL]]".len() + "</tool_call>".len();
    for c in "a[[/CAL]] <thin[[CALL].</thi[".chars() {
        guard.push(&c.to_string(), &mut sink).expect("no limit");
        assert!(guard.held().bytes <= longest - 2 + "a".len(), "{:?}", guard.held());
    }
}

// Contract: S1.17, S1.20, S1.26.
#[test]
fn arguments_keep_the_spelling_of_the_model() {
    for (written, arguments) in [
        (
            r#"{"name": "f", "arguments": {"b": 12345678901234567890123, "a": 1.50}}"#,
            r#"{"b": 12345678901234567890123, "a": 1.50}"#,
        ),
        (r#"{"arguments": {"name": "g"}, "name": "f"}"#, r#"{"name": "g"}"#),
        (r#"{"name": "f", "parameters": {"a": "\u00e9\/"}}"#, r#"{"a": "\u00e9\/"}"#),
        (r#"{"name": "f"}"#, "{}"),
        (r#"{"name": "f", "arguments": null}"#, "{}"),
        (r#"{"name": "f", "arguments": {}}"#, "{}"),
    ] {
        let wire = format!("<tool_call>{written}</tool_call>");
        check(builder("hermes"), &wire, "stop", ("", "", &[("f", arguments)]));
    }
}

// Contract: S1.24.
#[test]
fn call_after_a_malformed_call_is_found() {
    let wire = format!("<tool_call>{{\"name\": \"g\", \"arguments\": {{]}}</tool_call>{CALL}");
    let read = message(builder("hermes"), &wire, "stop");
    assert_eq!(read.calls.last().map(|call| call.name.as_str()), Some("f"));
}

fn notes(options: CallOptions, tools: Tools, profile_name: &str, wire: &str) -> Seen {
    let guard =
        Guard::builder(&profile(profile_name).expect("registered")).calls(options).tools(tools);
    let guard = guard.build().expect("builds");
    run(
        &mut ChatGuard::new(guard, ChatOptions::default()),
        vec![text(0, wire), stop(0, "stop")],
        End::Stop,
    )
}

// Contract: S1.22.
#[test]
fn undeclared_tools_are_reported_and_not_dropped() {
    let mut options = CallOptions::default();
    options.unknown_tools = UnknownTools::Report;
    let tools = serde_json::json!([{"type": "function", "function": {"name": "g"}}]);
    let seen = notes(options, Tools::from_json(&tools).expect("tools"), "hermes", CALL);
    assert_eq!(read_finished(&seen.chunks)[&0].calls.len(), 1);
    let diagnostics = seen.notes.iter().filter(|note| matches!(note.note, Note::Diagnostic(_)));
    assert_eq!(diagnostics.count(), 1);
}

// Contract: X.29.
#[test]
fn limit_in_an_emitted_call_leaves_its_arguments_unclosed() {
    let mut options = CallOptions::default();
    options.limits = CallLimits { name: 16, ..CallLimits::default() };
    let key = "k".repeat(64);
    let wire = format!(
        "<tool_call>\n<function=f>\n<parameter={key}>\n1\n</parameter>\n</function>\n</tool_call>"
    );
    let seen = notes(options, Tools::none(), "qwen3_coder", &wire);
    let read = &read_finished(&seen.chunks)[&0];
    assert_eq!((read.calls[0].name.as_str(), read.finish.as_deref()), ("f", Some("stop")));
    assert!(!read.calls[0].arguments.ends_with('}'), "{}", read.calls[0].arguments);
    let broken = Note::CallEnd { index: 0, outcome: Outcome::Malformed };
    assert!(seen.notes.iter().any(|note| note.note == broken));
}

// Contract: S1.10, X.35.
#[test]
fn guard_without_recognisers_forwards_everything() {
    let wire = format!("<think>a</think>{CALL}[[CALL]]```");
    check(Guard::builder(&Profile::named("plain")), &wire, "stop", ("", &wire, &[]));
}

// Contract: X.38.
#[test]
fn needs_special_tokens_is_true_only_for_families_with_marker_tokens() {
    let special = |name: &str| builder(name).build().expect("builds").needs_special_tokens();
    assert!(special("kimi_k2") && special("mistral"));
    assert!(!special("hermes"));
}
