//! Messages that are collected, and their limits.

use llm_stream_guard::{
    End, Event, Guard, Ids, OwnedEvent,
    lifecycle::{Ending, Lifecycle, MessageCollector, message_json},
    profile,
};

use crate::lifecycle::support::{Broken, Log, drain};

const WIRE: &str = "<think>é hm</think>Hi <tool_call>{\"name\": \"f\", \"arguments\": \
                    {\"a\": [1, 2]}}</tool_call> and <tool_call>{\"name\": \"g\", \"argum";

// Contract: S4.22.
#[test]
fn collected_stream_equals_the_parsed_complete_text() {
    let mut guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    guard.set_ids(Ids::counting());
    let whole = message_json(&guard.parse(WIRE, End::Stop).unwrap());
    assert_eq!(whole["calls"][1]["outcome"], "incomplete");
    for size in [1, 2, 3, 7, WIRE.len()] {
        let pieces: Vec<String> =
            WIRE.chars().collect::<Vec<_>>().chunks(size).map(|c| c.iter().collect()).collect();
        let log = Log::default();
        let stream = Lifecycle::new("a")
            .subscriber(log.subscriber())
            .collect_with(MessageCollector::default())
            .wrap(llm_stream_guard::guard_text(
                tokio_stream::iter(pieces.into_iter().map(Ok::<_, Broken>)),
                guard.clone(),
            ));
        drain(stream);
        let end = log.end();
        assert_eq!((end.data, end.truncated), (Some(whole.clone()), false), "size {size}");
    }
}

/// Runs a wire through a message collector with this limit.
fn limited(limit: usize) -> (String, bool) {
    let mut guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| events.push(Ok::<_, Broken>(event.to_owned()));
    guard.push(WIRE, &mut sink).unwrap();
    guard.finish(End::Stop, &mut sink).unwrap();
    let log = Log::default();
    let stream = Lifecycle::<OwnedEvent, Broken>::new("a")
        .subscriber(log.subscriber())
        .collect_with(MessageCollector::with_limit(limit))
        .wrap(tokio_stream::iter(events));
    drain(stream);
    let end = log.end();
    assert_eq!(end.ending, Ending::Complete, "the stream goes on");
    let data = end.data.unwrap();
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    let calls = data["calls"].as_array().unwrap().iter().map(|call| {
        let outcome = call["outcome"].as_str().unwrap_or("open");
        format!("[{} {} {outcome}]", call["name"], call["arguments"])
    });
    (text("reasoning") + &text("content") + &calls.collect::<String>(), end.truncated)
}

// Contract: S4.23.
#[test]
fn message_over_the_limit_is_truncated_and_marked() {
    assert_eq!(limited(0), (String::new(), true));
    // Never inside a scalar.
    assert_eq!(limited(1), (String::new(), true));
    assert_eq!(limited(2), ("é".into(), true));
    assert_eq!(limited(8), ("é hmHi ".into(), true));
    let (all, truncated) = limited(1 << 20);
    assert!(all.contains("\\\"a\\\": [1, 2]"), "{all}");
    assert!(!truncated);
    // A call whose arguments are cut has not ended as far as the record knows.
    let start = (8..4096).find(|&limit| limited(limit).0.contains("[\"f\"")).unwrap();
    let cut = limited(start + 4);
    assert_eq!(cut, (r#"é hmHi ["f" "{\"a\"" open]"#.into(), true));
}
