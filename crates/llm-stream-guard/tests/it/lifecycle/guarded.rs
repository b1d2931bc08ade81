//! Behind a guard, in front of one, and both.

use std::sync::Arc;

use llm_stream_guard::{
    CollapseAction, CollapseLimits, Guard, Guarded, JailedStream, LimitPolicy, Limits, Outcome,
    OwnedEvent,
    chat::{
        ChatGuard, ChatOptions, ChatSse, ChatStream, Chunk, Failures, SseStream, guard_chunks,
        guard_sse,
    },
    guard_text,
    lifecycle::{
        Component, Ending, Lifecycle, MessageCollector, Observed, TextCollector, WithheldInfo,
    },
    profile,
};
use serde_json::{Value, json};

use crate::lifecycle::support::{Broken, Does, Log, Upstream, drain, items, next, poll, upstream};

fn guard() -> Guard {
    Guard::builder(&profile("qwen3").unwrap()).build().unwrap()
}

/// A record after a guard around `inner`.
fn guarded(log: &Log, inner: Upstream) -> Observed<Guarded<Upstream>> {
    Lifecycle::new("call-1")
        .tap("guarded")
        .subscriber(log.subscriber())
        .collect_with(MessageCollector::default())
        .wrap(guard_text(inner, guard()))
        .probe(Guarded::progress)
}

const CALL: &str = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
const HALF_CALL: &str = "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b";

// Contract: X.22.
#[test]
fn upstream_error_in_a_call_makes_the_call_incomplete_and_is_forwarded() {
    let log = Log::default();
    let inner = upstream([Does::Item("Hi. "), Does::Item(HALF_CALL), Does::Fail("gone")]);
    let all = drain(guarded(&log, inner));
    let [.., Ok(OwnedEvent::CallEnd { outcome, .. }), Err(error)] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!((*outcome, error), (Outcome::Incomplete, &Broken("gone")));
    let end = log.end();
    assert!(matches!(end.ending, Ending::Failed { who: Component::Upstream, .. }));
    assert!(end.withheld.is_nothing());
    let data = end.data.unwrap();
    assert_eq!(data["content"], "Hi. ");
    let call = json!({"name": "f", "arguments": "{\"a\": \"b", "outcome": "incomplete"});
    assert_eq!(without_id(&data["calls"][0]), call);
}

fn without_id(call: &Value) -> Value {
    let mut call = call.clone();
    call.as_object_mut().unwrap().remove("id");
    call
}

// Contract: X.22.
#[test]
fn held_prose_is_released_before_the_error() {
    let log = Log::default();
    let inner = upstream([Does::Item("a <tool_"), Does::Fail("gone")]);
    let all = drain(guarded(&log, inner));
    assert_eq!(all.last(), Some(&Err(Broken("gone"))));
    assert_eq!(log.end().data.unwrap()["content"], "a <tool_");
}

// Contract: X.23.
#[test]
fn complete_call_stays_complete_after_an_error() {
    let log = Log::default();
    drain(guarded(&log, upstream([Does::Item(CALL), Does::Fail("gone")])));
    let end = log.end();
    assert_eq!(end.ending.name(), "failed");
    assert_eq!(end.data.unwrap()["calls"][0]["outcome"], "complete");
}

// Contract: X.24.
#[test]
fn drop_inside_a_call_records_emitted_and_withheld_data() {
    let log = Log::default();
    // The name is not complete: the call has not begun for the consumer.
    let mut stream = Box::pin(guarded(&log, items(["Hi. ", "<tool_call>{\"name\": \"f", "x"])));
    assert_eq!(next(&mut stream), Some(Ok(OwnedEvent::Content("Hi. ".into()))));
    // Takes the second piece and gives nothing.
    let waiting = upstream([Does::Item("Hi. "), Does::Item(HALF_NAME), Does::Wait]);
    drop(stream);
    assert_eq!(log.end().data.unwrap()["content"], "Hi. ");

    let log = Log::default();
    let mut stream = Box::pin(guarded(&log, waiting));
    assert!(next(&mut stream).is_some());
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    let end = log.end();
    assert_eq!(end.ending, Ending::Dropped);
    let WithheldInfo { bytes, kind, items, .. } = end.withheld;
    assert_eq!((bytes, kind, items), (HALF_NAME.len(), "candidate", 0));
    let data = end.data.unwrap();
    assert_eq!((&data["content"], data["calls"].as_array().unwrap().len()), (&json!("Hi. "), 0));
}

const HALF_NAME: &str = "<tool_call>{\"name\": \"f";

// Contract: X.24.
#[test]
fn finalizer_receives_the_withheld_byte_count() {
    let log = Log::default();
    let inner = upstream([Does::Item(HALF_NAME), Does::Wait]);
    let stream = Lifecycle::<OwnedEvent, Broken>::new("a")
        .subscriber(log.subscriber())
        .finalizer(|finish| json!({"withheld": finish.withheld, "how": finish.ending.name()}))
        .wrap(guard_text(inner, guard()))
        .probe(Guarded::progress);
    let mut stream = Box::pin(stream);
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    let withheld = json!({"bytes": HALF_NAME.len(), "kind": "candidate", "items": 0});
    assert_eq!(log.end().data, Some(json!({"withheld": withheld, "how": "dropped"})));
}

// Contract: X.24.
#[test]
fn drop_inside_a_jail_records_the_withheld_bytes() {
    let log = Log::default();
    let jail = JailedStream::builder().jail_start_sequence("<<").jail_end_sequence(">>").build();
    let inner = upstream([Does::Item("a <<secret"), Does::Wait, Does::Item(">>")]);
    let stream = Lifecycle::<OwnedEvent, Broken>::new("a")
        .subscriber(log.subscriber())
        .collect_with(MessageCollector::default())
        .wrap(jail.unwrap().apply_text(inner))
        .probe(Guarded::progress);
    let mut stream = Box::pin(stream);
    assert_eq!(next(&mut stream), Some(Ok(OwnedEvent::Content("a ".into()))));
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.withheld.bytes), (Ending::Dropped, "<<secret".len()));
    assert_eq!(end.data.unwrap()["content"], "a ");
}

// Contract: X.25.
#[test]
fn drop_between_two_events_of_a_chunk_ends_the_stream_once() {
    let log = Log::default();
    let chunk = "<think>hm</think>Hi.<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let mut stream = Box::pin(guarded(&log, items([chunk])));
    assert_eq!(next(&mut stream), Some(Ok(OwnedEvent::Reasoning("hm".into()))));
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.withheld.items), (Ending::Dropped, 4));
    let data = end.data.unwrap();
    assert_eq!((&data["reasoning"], &data["content"]), (&json!("hm"), &json!("")));
}

/// A raw tap, a guard, a guarded tap; one log for both.
fn tapped(log: &Log, inner: Upstream) -> Observed<Guarded<Observed<Upstream>>> {
    let raw = Lifecycle::new("call-1")
        .tap("raw")
        .subscriber(log.subscriber())
        .collect_with(TextCollector::default())
        .wrap(inner);
    Lifecycle::new("call-1")
        .tap("guarded")
        .subscriber(log.subscriber())
        .collect_with(MessageCollector::default())
        .wrap(guard_text(raw, guard()))
        .probe(Guarded::progress)
}

/// Tap, ending and aggregate of each END; all of one call.
fn taps(log: &Log) -> Vec<(String, &'static str, Value)> {
    let tap = |end: llm_stream_guard::lifecycle::EndEvent| {
        assert_eq!(end.call.id, "call-1");
        (end.call.tap.to_string(), end.ending.name(), end.data.unwrap())
    };
    log.ends().into_iter().map(tap).collect()
}

// Contract: S4.26.
#[test]
fn lifecycles_before_and_after_the_guard_each_end_once_under_one_id() {
    let log = Log::default();
    drain(tapped(&log, items(["<think>hm</th", "ink>Hi."])));
    let [raw, guarded] = &taps(&log)[..] else { panic!("{:?}", log.ends()) };
    assert_eq!(*raw, ("raw".into(), "complete", "<think>hm</think>Hi.".into()));
    assert_eq!((guarded.0.as_str(), guarded.1), ("guarded", "complete"));
    assert_eq!((&guarded.2["reasoning"], &guarded.2["content"]), (&json!("hm"), &json!("Hi.")));
}

// Contract: S4.26.
#[test]
fn lifecycles_before_and_after_the_guard_agree_on_drops_and_errors() {
    let log = Log::default();
    let mut stream = Box::pin(tapped(&log, items(["Hi.", " more"])));
    next(&mut stream);
    drop(stream);
    let ends: Vec<_> = taps(&log).into_iter().map(|tap| (tap.0, tap.1)).collect();
    assert_eq!(ends, [("raw".into(), "dropped"), ("guarded".into(), "dropped")]);

    let log = Log::default();
    drain(tapped(&log, upstream([Does::Item("Hi."), Does::Fail("x")])));
    let ends: Vec<_> = taps(&log).into_iter().map(|tap| (tap.0, tap.1)).collect();
    assert_eq!(ends, [("raw".into(), "failed"), ("guarded".into(), "failed")]);
}

#[test]
fn guard_limit_is_recorded_as_a_limit_ending() {
    let log = Log::default();
    let limits = Limits { candidate: 16, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = Guard::builder(&profile("qwen3").unwrap()).limits(limits).build().unwrap();
    let stream = Lifecycle::<OwnedEvent, Broken>::new("a")
        .subscriber(log.subscriber())
        .wrap(guard_text(items(["<tool_call>{\"name\": \"a rather long name"]), guard))
        .probe(Guarded::progress);
    drain(stream);
    assert_eq!(log.end().ending, Ending::Limit { what: "candidate_limit", at: 0 });
}

#[test]
fn subscribers_share_one_event() {
    let (one, two) = (Log::default(), Log::default());
    let stream = Lifecycle::<String, Broken>::new("a")
        .subscriber(one.subscriber())
        .subscriber(two.subscriber());
    drain(stream.wrap(items([])));
    assert!(one.all().iter().zip(two.all()).all(|(a, b)| Arc::ptr_eq(a, &b)));
}

// Contract: X.30.
#[test]
fn collapse_is_recorded_as_a_limit_ending() {
    let log = Log::default();
    let limits = CollapseLimits { action: CollapseAction::EndStream, ..CollapseLimits::default() };
    let guard = Guard::builder(&profile("qwen3").unwrap()).stage(limits).build().unwrap();
    let opener = "<tool_call>\n";
    let inner = items(["Hi.\n", opener, opener, opener, opener, opener, CALL]);
    let stream = Lifecycle::new("call-1")
        .subscriber(log.subscriber())
        .collect_with(MessageCollector::default())
        .wrap(guard_text(inner, guard))
        .probe(Guarded::progress);
    let all = drain(stream);
    assert!(!all.iter().any(|event| matches!(event, Ok(OwnedEvent::CallStart { .. }))), "{all:?}");
    let end = log.end();
    assert_eq!(end.ending, Ending::Limit { what: "collapse", at: 4 });
    assert!(end.data.unwrap()["content"].as_str().unwrap().starts_with("Hi."));
}

// Contract: X.24, X.30.
#[test]
fn chat_stream_records_its_collapse_and_withheld_bytes() {
    let opener = "<tool_call>\n";
    let pieces = ["Hi.\n", opener, opener, opener, opener, opener, CALL];
    let json = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let machine = || {
        let limits = CollapseLimits { action: CollapseAction::EndStream, ..Default::default() };
        let guard = Guard::builder(&profile("qwen3").unwrap()).stage(limits).build().unwrap();
        ChatGuard::new(guard, ChatOptions::default())
    };
    let chunks = |pieces: &[&str]| {
        let chunks = pieces.iter().map(|text| serde_json::from_value::<Chunk>(json(text)).unwrap());
        chunks.map(Ok::<_, Broken>).collect::<Vec<_>>()
    };
    let bytes = |pieces: &[&str]| {
        let events = pieces.iter().map(|text| format!("data: {}\n\n", json(text)));
        events.map(|event| Ok::<_, Broken>(event.into_bytes())).collect::<Vec<_>>()
    };
    let chat = |log: &Log, pieces: &[&str]| {
        let inner = guard_chunks(tokio_stream::iter(chunks(pieces)), machine());
        let record = Lifecycle::<Chunk, Broken>::new("a").subscriber(log.subscriber());
        record.wrap(inner).probe(ChatStream::progress)
    };
    let sse = |log: &Log, pieces: &[&str]| {
        let inner = guard_sse(tokio_stream::iter(bytes(pieces)), ChatSse::new(machine()));
        let record = Lifecycle::<Vec<u8>, Broken>::new("a").subscriber(log.subscriber());
        record.wrap(inner).probe(SseStream::progress)
    };
    let collapse = Ending::Limit { what: "collapse", at: 4 };
    let (one, other) = (Log::default(), Log::default());
    drain(chat(&one, &pieces));
    drain(sse(&other, &pieces));
    assert_eq!([one.end().ending, other.end().ending], [collapse.clone(), collapse]);

    // A drop inside a call's opener.
    let (one, other) = (Log::default(), Log::default());
    let mut stream = Box::pin(chat(&one, &["Hi. <tool_c", "all>"]));
    assert!(matches!(next(&mut stream), Some(Ok(_))));
    drop(stream);
    let mut stream = Box::pin(sse(&other, &["Hi. <tool_c", "all>"]));
    assert!(matches!(next(&mut stream), Some(Ok(_))));
    drop(stream);
    for end in [one.end(), other.end()] {
        assert_eq!((end.ending, end.withheld.bytes), (Ending::Dropped, "<tool_c".len()));
    }
}

#[test]
fn written_upstream_error_is_recorded_as_failed() {
    let log = Log::default();
    let guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    let sse = ChatSse::new(ChatGuard::new(guard, ChatOptions::default()));
    let inner = tokio_stream::iter([Ok(b": hi\n\n".to_vec()), Err(Broken("gone"))]);
    let record = Lifecycle::<Vec<u8>, Broken>::new("a").subscriber(log.subscriber());
    let stream = record.wrap(guard_sse(inner, sse.failures(Failures::Written)));
    let all = drain(stream.probe(SseStream::progress));
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Upstream, .. }));
}
