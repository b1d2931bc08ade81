//! Each limit bites.

use llm_stream_guard::{
    End, LimitPolicy, Limits,
    chat::{ChatError, ChatGuard, ChatOptions, Chunk, Note, Violation},
};
use serde_json::json;

use crate::chat::{
    feed::{builder, chat, choice, choices, run, text},
    reader::read_finished,
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

#[test]
fn one_choice_too_many_is_an_error() {
    let mut options = ChatOptions::default();
    options.limits.choices = 2;
    let mut guard = chat("hermes", options);
    let mut out: Vec<Chunk> = Vec::new();
    guard.push(text(5, "a"), &mut out).expect("the first");
    guard.push(text(3, "b"), &mut out).expect("the second");
    assert_eq!(guard.push(text(4, "c"), &mut out), Err(ChatError::TooManyChoices));
    assert_eq!(out.len(), 2);
}

// Contract: S1.55.
#[test]
fn calls_beyond_the_limit_are_dropped_and_noted() {
    let mut options = ChatOptions::default();
    options.limits.calls = 2;
    let native = |index: u32| {
        choice(json!({"index": 0, "delta": {"tool_calls": [
            {"index": index, "id": format!("n{index}"), "function": {"name": "g", "arguments": "{}"}}
        ]}}))
    };
    let chunks = vec![text(0, CALL), native(0), native(1), native(2), text(0, CALL)];
    let seen = run(&mut chat("hermes", options), chunks, End::Stop);
    assert_eq!(read_finished(&seen.chunks)[&0].calls.len(), 2);
    let hit = |note: &&llm_stream_guard::chat::ChatNote| {
        note.note == Note::Violation(Violation::CallLimit)
    };
    assert_eq!(seen.notes.iter().filter(hit).count(), 3);
}

#[test]
fn entries_that_wait_too_long_come_out_early() {
    let mut options = ChatOptions::default();
    options.limits.waiting = 3;
    let empty = choice(
        json!({"index": 0, "delta": {"content": ""}, "logprobs": {"content": [{"token": ""}]}}),
    );
    let mut chunks = vec![text(0, "<tool")];
    chunks.extend(vec![empty; 5]);
    let seen = run(&mut chat("hermes", options), chunks, End::Stop);
    assert!(seen.notes.iter().any(|note| note.note == Note::Violation(Violation::WaitingLimit)));
    let entries = |it: &serde_json::Value| it["logprobs"]["content"].as_array().map_or(0, Vec::len);
    let counts: Vec<_> = choices(&seen.chunks).iter().map(entries).collect();
    assert_eq!(counts, [4, 1]);
}

#[test]
fn a_limit_of_the_guard_with_the_error_policy_reaches_the_caller() {
    let limits = Limits { candidate: 16, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = builder("hermes").limits(limits).build().expect("builds");
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    let long = format!("<tool_call>{}", " ".repeat(64));
    assert!(matches!(guard.push(text(0, &long), &mut out), Err(ChatError::Limit(_))));
    assert!(!out.is_empty(), "what was held has been released");
}

#[test]
fn an_aggregate_that_outgrows_its_limit_says_so() {
    let mut whole = llm_stream_guard::chat::Aggregator::with_limit(4);
    for piece in ["ab", "cd", "e"] {
        assert!(!whole.is_truncated());
        whole.push(&text(0, piece));
    }
    assert!(whole.is_truncated());
    assert_eq!(whole.finish().choices[0].message.text(), Some("abcd"));
}
