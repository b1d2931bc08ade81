//! Tool choice and stop strings at the level of chunks.

use guard_laws::call_options;
use llm_stream_guard::{
    BadPayload, CallOptions, End, Parallel, StopString, ToolChoice,
    chat::{ChatError, ChatGuard, ChatOptions, Completion, Note, Stop},
};
use serde_json::json;

use crate::chat::{
    feed::{Seen, builder, choice, run, stop, text},
    reader::{Read, read_finished},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

fn guard(tool_choice: ToolChoice) -> ChatGuard {
    let guard = builder("hermes").tool_choice(tool_choice).build().expect("builds");
    ChatGuard::new(guard, ChatOptions::default())
}

fn only(seen: &Seen) -> Read {
    read_finished(&seen.chunks).remove(&0).expect("a choice")
}

fn native(name: &str) -> llm_stream_guard::chat::Chunk {
    choice(json!({"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "n", "function": {"name": name, "arguments": "{}"}}
    ]}}))
}

// Contract: S1.32.
#[test]
fn tool_choice_none_drops_calls_and_turns_tool_calls_into_stop() {
    for call in [text(0, CALL), native("f")] {
        let chunks = vec![text(0, "a"), call, stop(0, "tool_calls")];
        let read = only(&run(&mut guard(ToolChoice::None), chunks, End::Stop));
        assert_eq!((read.content.as_str(), read.calls.len()), ("a", 0));
        assert_eq!(read.finish.as_deref(), Some("stop"));
    }
}

// Contract: S1.26.
#[test]
fn tool_choice_required_reads_a_json_array_as_calls() {
    let payload = r#"[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "parameters": {}}]"#;
    let chunks = payload.chars().map(|c| text(0, &c.to_string()));
    let chunks = chunks.chain([stop(0, "stop")]).collect();
    let read = only(&run(&mut guard(ToolChoice::Required), chunks, End::Stop));
    let calls: Vec<_> =
        read.calls.iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("f", "{\"a\": 1}"), ("g", "{}")]);
    assert_eq!((read.content.as_str(), read.finish.as_deref()), ("", Some("tool_calls")));
}

// Contract: S1.29.
#[test]
fn named_tool_choice_emits_only_that_tool_and_keeps_stop() {
    let named = || ToolChoice::Named("f".into());
    let chunks = vec![text(0, r#"{"a""#), text(0, ": 1}"), stop(0, "stop")];
    let read = only(&run(&mut guard(named()), chunks, End::Stop));
    assert_eq!(
        (read.calls[0].name.as_str(), read.calls[0].arguments.as_str()),
        ("f", "{\"a\": 1}")
    );
    assert_eq!(read.finish.as_deref(), Some("stop"));

    let read =
        only(&run(&mut guard(named()), vec![native("g"), native("f"), stop(0, "stop")], End::Stop));
    assert_eq!(read.calls.len(), 0, "the second delta continues the first");

    let mut options = ChatOptions::default();
    options.stop = Stop::Rewrite;
    let guard = builder("hermes").tool_choice(named()).build().expect("builds");
    let chunks = vec![text(0, "{}"), stop(0, "stop")];
    let read = only(&run(&mut ChatGuard::new(guard, options), chunks, End::Stop));
    assert_eq!(read.finish.as_deref(), Some("tool_calls"));
}

// Contract: S1.31.
#[test]
fn rejected_payload_is_noted_in_a_stream_and_an_error_for_a_complete_response() {
    let guard = builder("hermes")
        .tool_choice(ToolChoice::Required)
        .calls(call_options(|it| it.bad_payload = BadPayload::Reject))
        .build()
        .expect("builds");
    let guard = ChatGuard::new(guard, ChatOptions::default());
    let bad = r#"[{"name": "f", "arguments": 5}]"#;
    let seen = run(&mut guard.clone(), vec![text(0, bad), stop(0, "stop")], End::Stop);
    let read = only(&seen);
    assert_eq!((read.content.as_str(), read.calls.len()), ("", 0));
    let noted = seen.notes.iter().filter(|note| matches!(note.note, Note::Rejected(_)));
    assert_eq!(noted.count(), 1);
    let response = json!({"choices": [{"message": {"content": bad}, "finish_reason": "stop"}]});
    let response: Completion = serde_json::from_value(response).expect("a completion");
    assert!(matches!(guard.complete(response), Err(ChatError::Rejected(_))));
}

// Contract: S1.33.
#[test]
fn parallel_one_emits_only_the_first_call_of_a_stream() {
    let mut options = CallOptions::default();
    options.parallel = Parallel::One;
    let guard = builder("hermes").calls(options).build().expect("builds");
    let chunks = vec![text(0, CALL), text(0, CALL), stop(0, "stop")];
    let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
    assert_eq!(only(&seen).calls.len(), 1);
    assert!(seen.notes.iter().any(|note| matches!(note.note, Note::Diagnostic(_))));
}

#[test]
fn stop_string_sets_finish_reason_stop_despite_a_later_length() {
    let guard = builder("hermes").stop([StopString::hidden("END")]).build().expect("builds");
    let chunks = ["a E", "N", "D b", "c"].map(|content| text(0, content));
    let chunks = chunks.into_iter().chain([stop(0, "length")]).collect();
    let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
    let read = only(&seen);
    assert_eq!((read.content.as_str(), read.finish.as_deref()), ("a ", Some("stop")));
}

#[test]
fn stopped_choices_are_counted_and_finished_without_more_input() {
    let guard = builder("hermes").stop([StopString::hidden("END")]).build().expect("builds");
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let mut chunks: Vec<llm_stream_guard::chat::Chunk> = Vec::new();
    for (index, content, stopped) in [(0, "a EN", 0), (1, "b END", 1), (0, "D c", 2)] {
        guard.push(text(index, content), &mut chunks).expect("no limit");
        assert_eq!(guard.stopped(), stopped);
    }
    guard.finish(End::Stop, &mut chunks).expect("no limit");
    let reasons = chunks.iter().flat_map(|chunk| &chunk.choices);
    let reasons = reasons.filter_map(|choice| choice.finish_reason.value()).collect::<Vec<_>>();
    assert_eq!(reasons, ["stop", "stop"]);
}
