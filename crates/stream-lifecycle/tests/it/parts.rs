//! Single types: debug output, error texts, size hints.

use std::num::NonZeroUsize;

use futures_core::Stream as _;
use serde_json::json;
use stream_lifecycle::{
    Collector, Decision, ErrorInfo, Overflow, Passage, Queue, Sanitizer, SanitizerVerdict,
    TextCollector, Window, Windows,
};

use crate::support::{Broken, Log, items, next, recorded};

#[test]
fn debug_output_has_settings_and_no_payload() {
    let (queue, inbox) = Queue::bounded(NonZeroUsize::MIN, Overflow::DropOldest);
    let check = |_: Passage| async { Decision::Continue };
    let window = Window::<String>::over_text(Windows::chars(NonZeroUsize::MIN), check);
    let sanitizer = Sanitizer::new("mask", 3, |_, _| SanitizerVerdict::Keep);
    for (shown, begins) in [
        (format!("{:?}", queue.flush()), "Flush { upto: 0"),
        (format!("{queue:?}"), "Queue { capacity: 1"),
        (format!("{inbox:?}"), "Inbox"),
        (format!("{window:?}"), "Window { windows"),
        (format!("{sanitizer:?}"), "Sanitizer { name: \"mask\", priority: 3"),
    ] {
        assert!(shown.starts_with(begins), "{shown}");
    }
}

#[test]
fn errors_and_items_are_described() {
    let error = serde_json::to_value(ErrorInfo::class("timeout").text("late")).unwrap();
    assert_eq!(error, json!({"class": "timeout", "message": "late"}));
    let describe = |item: &str| {
        let collector: &dyn Collector<String, Broken> = &TextCollector::default();
        collector.describe(&item.to_owned())
    };
    assert_eq!((describe("ab").bytes, describe("ab").visible), (2, true));
    assert_eq!((describe("").bytes, describe("").visible), (0, false));
}

#[test]
fn size_hint_of_an_ended_stream_is_exact() {
    let log = Log::default();
    let mut stream = Box::pin(recorded(&log).wrap(items(["a"])));
    assert_eq!(stream.size_hint(), (0, None));
    while next(&mut stream).is_some() {}
    assert_eq!(stream.size_hint(), (0, Some(0)));
}
