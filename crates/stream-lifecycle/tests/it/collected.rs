//! Collectors: limits of aggregates, times, marks.

use std::{
    num::NonZeroU64,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use futures_core::Stream;
use serde_json::json;
use stream_lifecycle::{
    ItemInfo, Lifecycle, LifecycleEvent, Marks, Stamp, SystemClock, TextCollector,
};

use crate::support::{
    Broken, Does, HandClock, Log, drain, items, next, record, recorded, upstream,
};

const THREE: NonZeroU64 = NonZeroU64::new(3).unwrap();

// Contract: S4.20.
#[test]
fn marks_are_sampled_and_have_no_content() {
    let log = Log::default();
    let stream = recorded(&log).marks(Marks::Every(THREE)).wrap(items(["secret"; 7]));
    drain(stream);
    let marks: Vec<_> = log
        .all()
        .iter()
        .filter_map(|event| match &**event {
            LifecycleEvent::Mark(mark) => Some((mark.index, mark.item.bytes, mark.item.visible)),
            _ => None,
        })
        .collect();
    assert_eq!(marks, [(0, 6, true), (3, 6, true), (6, 6, true)]);
    for event in log.all().iter().filter(|event| event.end().is_none()) {
        assert!(!serde_json::to_string(&**event).unwrap().contains("secret"));
    }
    let log = Log::default();
    drain(recorded(&log).wrap(items(["a"])));
    assert_eq!(log.kinds(), ["start", "end"], "off unless asked for");
}

// Contract: S4.20.
#[test]
fn mark_has_index_choice_finish_usage_and_bytes() {
    let log = Log::default();
    let describe = |item: &String| {
        let mut info = ItemInfo::default();
        (info.bytes, info.choices) = (item.len() as u64, vec![2]);
        (info.finish, info.usage) = (vec!["stop".into()], Some(json!({"total_tokens": 3})));
        info
    };
    let record = record(&log).marks(Marks::Every(NonZeroU64::MIN)).describe(describe);
    drain(record.wrap(items(["abc"])));
    let mark = serde_json::to_value(&*log.all()[1]).unwrap();
    assert_eq!(mark["index"], 0);
    assert_eq!(
        mark["item"],
        json!({
            "bytes": 3, "visible": false, "choices": [2], "finish": ["stop"],
            "usage": {"total_tokens": 3},
        })
    );
}

fn stamp(seconds: u64) -> Option<Stamp> {
    let clock = HandClock::default();
    clock.advance(seconds);
    Some(Stamp::now(&clock))
}

// Contract: S4.21.
#[test]
fn times_are_taken_when_items_pass_and_not_when_reported() {
    let (log, clock) = (Log::default(), HandClock::default());
    let late = clock.clone();
    let stream = record(&log)
        .clock(Arc::new(clock.clone()))
        .describe(|item: &String| {
            let mut info = ItemInfo::default();
            info.visible = item == "visible";
            info
        })
        .finalizer(move |_| {
            late.advance(100);
            json!(null)
        });
    clock.advance(1);
    let mut stream = Box::pin(stream.wrap(items(["hidden", "visible", "visible"])));
    for _ in 0..4 {
        clock.advance(1);
        next(&mut stream);
    }
    let times = log.end().times;
    assert_eq!((times.start, times.first_item), (stamp(1), stamp(2)));
    assert_eq!((times.first_visible, times.end), (stamp(3), stamp(5)));
    assert_eq!(log.end().time_to_first_item, Some(Duration::from_secs(1)));
}

// Contract: S4.21.
#[test]
fn end_time_is_taken_before_the_drop_of_upstream() {
    /// An upstream whose drop takes time.
    struct Heavy(HandClock);
    impl Stream for Heavy {
        type Item = Result<String, Broken>;

        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(None)
        }
    }
    impl Drop for Heavy {
        fn drop(&mut self) {
            self.0.advance(60);
        }
    }
    for polls in [0, 1] {
        let (log, clock) = (Log::default(), HandClock::default());
        let record = recorded(&log).clock(Arc::new(clock.clone()));
        let mut stream = Box::pin(record.wrap(Heavy(clock.clone())));
        clock.advance(1);
        (0..polls).for_each(|_| drop(next(&mut stream)));
        drop(stream);
        assert_eq!(log.end().times.end, stamp(1), "{polls} polls");
    }
}

// Contract: S4.21.
#[test]
fn times_need_a_clock_and_the_system_clock_advances() {
    let log = Log::default();
    drain(recorded(&log).wrap(items(["a"])));
    assert_eq!(log.end().times, Default::default());
    let clock = SystemClock::new();
    let (first, second) = (Stamp::now(&clock), Stamp::now(&clock));
    assert!(second.monotonic >= first.monotonic);
    assert!(first.wall > Some(SystemTime::UNIX_EPOCH));
}

// Contract: S4.23.
#[test]
fn text_over_the_limit_is_cut_and_marked_truncated() {
    let log = Log::default();
    let stream =
        record(&log).collect_with(TextCollector::with_limit(4)).wrap(items(["abc", "éa", "d"]));
    assert_eq!(drain(stream).len(), 3);
    let end = log.end();
    assert_eq!((end.data, end.truncated), (Some("abc".into()), true));
    let log = Log::default();
    drain(record(&log).collect_with(TextCollector::with_limit(4)).wrap(items(["abc", "d"])));
    let end = log.end();
    assert_eq!((end.data, end.truncated), (Some("abcd".into()), false));
}

#[test]
fn items_pass_without_allocation() {
    let log = Log::default();
    let stream = Lifecycle::<&'static str, Broken>::new("a")
        .subscriber(log.subscriber())
        .collector(
            |item: &&'static str| if item.is_empty() { Err(Broken("empty")) } else { Ok(()) },
        )
        .wrap(tokio_stream::iter(["x"; 100].map(Ok)));
    let mut stream = Box::pin(stream);
    next(&mut stream);
    let info = allocation_counter::measure(|| {
        for _ in 0..90 {
            assert!(next(&mut stream).is_some());
        }
    });
    assert_eq!(info.count_total, 0);
}

#[test]
fn failing_stream_reports_the_partial_aggregate() {
    let log = Log::default();
    let inner = upstream([Does::Item("a"), Does::Item("b"), Does::Fail("x")]);
    drain(recorded(&log).wrap(inner));
    let end = log.end();
    assert_eq!((end.data, end.items), (Some("ab".into()), 2));
}
