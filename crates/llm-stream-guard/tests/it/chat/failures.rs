//! A stream that cannot go on, and one that need not.

use std::{
    io,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use futures_core::Stream as _;

use llm_stream_guard::{
    End, LimitPolicy, Limits, StopString,
    chat::{
        Annotated, ChatError, ChatGuard, ChatOptions, ChatSse, Chunk, Failures, Field,
        Ticking as _, guard_chunks, guard_sse,
    },
    sse,
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{builder, chat, chunk, event, stop, text},
    reader::read,
    sse::data,
    streams::{drain, upstream},
};

fn with_usage(mut chunk: Chunk, tokens: u32) -> Chunk {
    chunk.usage = Field::Value(json!({"total_tokens": tokens}));
    chunk
}

/// A guard whose candidates may be 16 bytes long.
fn strict() -> ChatGuard {
    let limits = Limits { candidate: 16, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = builder("hermes").limits(limits).build().expect("builds");
    ChatGuard::new(guard, ChatOptions::default())
}

fn too_long() -> String {
    format!("<tool_call>{}", " ".repeat(64))
}

// Contract: S1.14.
#[test]
fn held_text_of_other_choices_and_usage_precede_an_error() {
    let mut one = ChatOptions::default();
    one.limits.choices = 2;
    let many = (0..3).map(|index| json!({"index": index, "delta": {"content": "b <to"}}));
    let many = chunk(json!({"id": "c1", "choices": many.collect::<Vec<_>>()}));
    for (mut guard, last) in
        [(strict(), text(0, &too_long())), (chat("hermes", one), with_usage(many, 7))]
    {
        let mut out: Vec<Chunk> = Vec::new();
        guard.push(text(0, "a "), &mut out).expect("no limit");
        guard.push(with_usage(text(1, "<tool"), 5), &mut out).expect("no limit");
        let error = guard.push(last, &mut out).expect_err("a limit");
        let choices = read(&out);
        assert!(choices[&1].content.starts_with("<tool"), "{:?}", choices[&1]);
        assert!(choices[&0].content.starts_with("a "), "{:?}", choices[&0]);
        let usages: Vec<_> = out.iter().filter_map(|chunk| chunk.usage.value()).collect();
        assert_eq!(usages.len(), 1, "{error}");
        assert!(choices.values().all(|choice| choice.finish.is_none()));
        let count = out.len();
        assert_eq!(guard.push(text(0, "late"), &mut out), Err(error));
        assert_eq!(guard.finish(End::Stop, &mut out), Err(error));
        assert_eq!(out.len(), count, "nothing comes behind the error");
    }
}

// Contract: S1.14.
#[test]
fn surplus_choice_does_not_suppress_other_choices_of_its_chunk() {
    let mut options = ChatOptions::default();
    options.limits.choices = 1;
    let mut guard = chat("hermes", options);
    let mut out: Vec<Chunk> = Vec::new();
    guard.push(text(7, "a"), &mut out).expect("the first");
    let both = chunk(json!({"id": "c1", "choices": [
        {"index": 0, "delta": {"content": "x"}}, {"index": 7, "delta": {"content": "b"}}]}));
    assert_eq!(guard.push(both, &mut out), Err(ChatError::TooManyChoices));
    assert_eq!(read(&out)[&7].content, "ab");
}

/// The data of what comes out, the error apart.
fn told(machine: ChatSse, bytes: &str) -> (Vec<String>, Option<Value>) {
    let (mut machine, mut out) = (machine, Vec::new());
    if machine.push(bytes.as_bytes(), &mut out).is_ok() {
        let _ = machine.finish(End::Stop, &mut out);
    }
    let mut data = data(&out);
    let at = data.iter().position(|data| data.starts_with("{\"error\""));
    let error = at.map(|at| serde_json::from_str(&data.remove(at)).expect("JSON"));
    (data, error)
}

// Contract: S1.60.
#[test]
fn errors_are_written_before_done_on_request() {
    let upstream =
        [event(&text(0, "a <to")), event(&text(1, &too_long())), event(&text(0, "late"))];
    let (data, error) = told(ChatSse::new(strict()), &upstream.concat());
    assert_eq!((error, data.iter().any(|data| data == "[DONE]")), (None, false));

    let machine = ChatSse::new(strict()).failures(Failures::Written);
    let (data, error) = told(machine, &upstream.concat());
    let message = error.expect("an error")["error"]["message"].clone();
    assert!(message.as_str().is_some_and(|text| text.contains("candidate_limit")), "{message}");
    assert_eq!(data.iter().filter(|data| *data == "[DONE]").count(), 1);
    assert!(data.concat().contains("<to") && !data.concat().contains("late"));

    let limits = sse::SseLimits::default().line(20).policy(sse::SseLimitPolicy::Error);
    let machine = ChatSse::new(strict()).limits(limits).failures(Failures::Written);
    let (data, error) = told(machine, &upstream.concat());
    assert!(error.is_some() && data == ["[DONE]"], "{data:?}");

    // Upstream's own error is one already.
    let own = [upstream[0].as_str(), "data: {\"error\":{\"message\":\"gone\"}}\n\n"].concat();
    let (data, error) = told(ChatSse::new(strict()).failures(Failures::Written), &own);
    assert_eq!(error.expect("an error")["error"]["message"], "gone");
    assert_eq!(data.last().map(String::as_str), Some("[DONE]"));
}

// Contract: S1.60.
#[test]
fn error_of_the_body_is_written_without_its_details_on_request() {
    let body = || [Ok(event(&text(0, "a <to"))), Err(io::Error::other("10.0.0.7 gone"))];
    let machine = ChatSse::new(chat("hermes", ChatOptions::default())).failures(Failures::Written);
    let bytes = drain(guard_sse(upstream(body()), machine.clone()));
    let out: Vec<u8> = bytes.into_iter().flat_map(|bytes| bytes.expect("in the bytes")).collect();
    let data = data(&out);
    assert!(data[1].contains("<to") && data[2].contains("error") && !data[2].contains("10.0.0.7"));
    assert_eq!(data[3..], ["[DONE]"]);

    let mut stream = pin!(guard_sse(upstream(body()), machine));
    let mut cx = Context::from_waker(Waker::noop());
    while !matches!(stream.as_mut().poll_next(&mut cx), Poll::Ready(None)) {}
    assert!(stream.upstream_error().is_some_and(|error| error.to_string().contains("gone")));
}

// Contract: S1.60.
#[test]
fn limit_error_is_written_into_a_chunk_stream_on_request() {
    let long = || [text(0, "a <to"), text(1, &too_long()), text(0, "late")];
    assert!(
        drain(guard_chunks(upstream(long()), strict()))
            .iter()
            .all(|chunk| chunk.fields.get("error").is_none())
    );

    let stream = guard_chunks(upstream(long()), strict()).failures(Failures::Written);
    let seen = drain(stream);
    let (last, chunks) = seen.split_last().expect("an error");
    let message = last.fields["error"]["message"].as_str().expect("words");
    assert!(message.contains("candidate_limit"), "{message}");
    assert!(read(chunks)[&0].content.contains("<to"));

    let values = long().map(|chunk| serde_json::to_value(chunk).expect("JSON"));
    let results = values.clone().map(Ok::<_, io::Error>);
    let seen = drain(guard_chunks(upstream(values), strict()).failures(Failures::Written));
    assert!(seen.last().expect("an error")["error"]["message"].is_string());
    let seen = drain(guard_chunks(upstream(results), strict()).failures(Failures::Written));
    assert!(seen.last().expect("an error").as_ref().expect("told")["error"].is_object());

    let items = long().map(Annotated::from_data);
    let seen = drain(guard_chunks(upstream(items), strict()).failures(Failures::Written));
    let Annotated { data: None, event, comment, .. } = seen.last().expect("an error") else {
        panic!("no error: {seen:?}");
    };
    assert_eq!(event.as_deref(), Some("error"));
    assert!(comment.as_ref().is_some_and(|words| words[0].contains("candidate_limit")));
}

// Contract: X.40.
#[test]
fn guard_is_over_when_every_choice_finished_after_a_stop_string() {
    let guard = builder("hermes").stop([StopString::hidden("END")]).build().expect("builds");
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let mut out: Vec<Chunk> = Vec::new();
    for (chunk, over) in [
        (text(0, "a"), false),
        (text(1, "b"), false),
        (text(0, "END"), false),
        (text(0, "more"), false),
        (stop(1, "stop"), true),
    ] {
        guard.push(chunk, &mut out).expect("no limit");
        assert_eq!(guard.is_over(), over);
    }
    let mut guard = chat("hermes", ChatOptions::default());
    guard.push(stop(0, "stop"), &mut out).expect("no limit");
    assert!(!guard.is_over(), "the server ended it, and says more");
}

// Contract: S1.51.
#[test]
fn event_stream_reports_notes_and_sends_keep_alives() {
    let notes = Arc::new(Mutex::new(0));
    let count = notes.clone();
    let call = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    let held = event(&text(0, "<tool_call>"));
    let body = upstream([event(&text(0, call)), held.clone(), held].map(Ok::<_, io::Error>));
    let stream = guard_sse(body, ChatSse::new(chat("hermes", ChatOptions::default())));
    let stream = stream.on_note(move |_| *count.lock().expect("no panic") += 1);
    let alive = || Ok(b": alive\n\n".to_vec());
    let seen = drain(stream.keep_alive(tokio_stream::iter(0..100), alive));
    let bytes: Vec<u8> = seen.into_iter().flat_map(|bytes| bytes.expect("no error")).collect();
    assert!(String::from_utf8(bytes).expect("text").contains(": alive"));
    assert!(*notes.lock().expect("no panic") >= 1, "the call's end");
}
