//! Each limit bites.

use llm_stream_guard::{
    End, LimitPolicy, Limits,
    chat::{Annotated, ChatError, ChatGuard, ChatOptions, Chunk, Note, Violation, guard_chunks},
};
use serde_json::json;

use crate::chat::{
    feed::{builder, chat, choice, choices, run, text},
    reader::read_finished,
    streams::{drain, upstream},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

#[test]
fn choice_over_the_limit_is_an_error() {
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
fn calls_over_the_limit_are_dropped_and_noted() {
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
fn logprob_entries_over_the_waiting_limit_are_emitted_early() {
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
fn limit_of_the_guard_with_the_error_policy_reaches_the_caller() {
    let limits = Limits { candidate: 16, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = builder("hermes").limits(limits).build().expect("builds");
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    let long = format!("<tool_call>{}", " ".repeat(64));
    assert!(matches!(guard.push(text(0, &long), &mut out), Err(ChatError::Limit(_))));
    assert!(!out.is_empty(), "what was held has been released");
}

#[test]
fn aggregate_over_its_limit_is_marked_truncated() {
    let long = "ab".repeat(4096);
    let mut whole = llm_stream_guard::chat::Aggregator::with_limit(20_480);
    for piece in [&*long, &long, &long] {
        assert!(!whole.is_truncated());
        whole.push(&text(0, piece));
    }
    assert!(whole.is_truncated());
    assert_eq!(whole.finish().choices[0].message.text(), Some(&*long.repeat(2)));
}

#[test]
fn seventeenth_waiting_chunk_without_choices_releases_all() {
    let bare = || choices_none(json!({"prompt_tokens": 1, "completion_tokens": 1}));
    let mut guard = chat("hermes", ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    guard.push(text(0, "a"), &mut out).expect("no limit");
    for _ in 0..16 {
        guard.push(bare(), &mut out).expect("no limit");
    }
    assert_eq!(out.len(), 1, "sixteen wait");
    guard.push(bare(), &mut out).expect("no limit");
    assert_eq!(out.len(), 18, "one more, and all come out");
}

fn choices_none(usage: serde_json::Value) -> Chunk {
    serde_json::from_value(json!({"choices": [], "usage": usage})).expect("a chunk")
}

#[test]
fn annotations_over_the_waiting_limit_are_emitted_alone() {
    let seen = |count: usize| {
        let noted = |n: usize| {
            let part = if n == 0 { "a <tool" } else { "" };
            let comment = Some(vec![n.to_string()]);
            Annotated { comment, ..Annotated::from_data(text(0, part)) }
        };
        let items: Vec<_> = (0..count).map(noted).collect();
        let stream = guard_chunks(upstream(items), chat("hermes", ChatOptions::default()));
        let counts =
            |it: Annotated<Chunk>| (it.data.is_some(), it.comment.map_or(0, |it| it.len()));
        drain(stream).into_iter().map(counts).collect::<Vec<_>>()
    };
    // The first is on the text before what is held, whose chunk has those after it.
    assert_eq!(seen(1 + 1024), [(true, 1), (true, 1024)]);
    assert_eq!(seen(1 + 1025), [(true, 1), (false, 1025), (true, 0)]);
}
