//! Starting, failing to, and being refused.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    task::{Context, Poll, Waker},
};

use stream_lifecycle::{Component, Ending};

use crate::support::{Broken, Log, Trace, Upstream, counting, drain, items, record};

type Made = Result<Upstream, Broken>;

// Contract: S4.28.
#[test]
fn refused_call_has_one_event_and_no_start() {
    let (log, trace) = (Log::default(), Trace::default());
    record(&log).finalizer(counting(&trace)).reject("over quota");
    assert_eq!(log.kinds(), ["rejected"]);
    let event = serde_json::to_value(&*log.all()[0]).unwrap();
    assert_eq!((&event["reason"], &event["call"]["id"]), (&"over quota".into(), &"call-1".into()));
    assert!(trace.all().is_empty());
    // A record that is never started sends no event.
    drop(record(&log));
    assert_eq!(log.kinds(), ["rejected"]);
}

// Contract: S4.29.
#[test]
fn start_is_sent_before_the_producer_is_created() {
    let log = Log::default();
    let stream = record(&log).create(|| {
        assert_eq!(log.kinds(), ["start"]);
        Made::Ok(items(["a"]))
    });
    assert_eq!(drain(stream.unwrap()).len(), 1);
    assert_eq!(log.end().ending, Ending::Complete);
}

// Contract: S4.29.
#[test]
fn producer_that_fails_sends_end_without_output() {
    let (log, trace) = (Log::default(), Trace::default());
    let record = record(&log).finalizer(counting(&trace));
    let failed = record.create(|| Made::Err(Broken("no route")));
    assert_eq!(failed.err(), Some(Broken("no route")));
    let end = log.end();
    assert!(matches!(end.ending, Ending::Failed { who: Component::Producer, .. }));
    assert_eq!((end.data, end.omitted, trace.all().len()), (None, None, 0));
    assert_eq!(log.kinds(), ["start", "end"]);
}

// Contract: S4.29.
#[test]
fn producer_that_panics_sends_end() {
    let log = Log::default();
    let made = || record(&log).create(|| -> Made { panic_any("dns") });
    assert!(catch_unwind(AssertUnwindSafe(made)).is_err());
    let ending = Ending::Panicked { who: Component::Producer, message: "dns".into() };
    assert_eq!(log.end().ending, ending);
}

// Contract: S4.29.
#[test]
fn asynchronous_producer_may_be_awaited_or_dropped() {
    let cx = &mut Context::from_waker(Waker::noop());
    let log = Log::default();
    let mut ready = Box::pin(record(&log).create_async(async { Made::Ok(items(["a"])) }));
    let Poll::Ready(Ok(stream)) = ready.as_mut().poll(cx) else { panic!("not ready") };
    drain(stream);
    assert_eq!(log.end().ending, Ending::Complete);

    let log = Log::default();
    let mut failing = Box::pin(record(&log).create_async(async { Made::Err(Broken("x")) }));
    assert!(matches!(failing.as_mut().poll(cx), Poll::Ready(Err(Broken("x")))));
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Producer, .. }));

    let log = Log::default();
    let mut waiting = Box::pin(record(&log).create_async(std::future::pending::<Made>()));
    assert!(waiting.as_mut().poll(cx).is_pending());
    assert_eq!(log.kinds(), ["start"]);
    drop(waiting);
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::Dropped, None));
}

#[test]
fn started_stream_is_wrapped_or_failed_by_the_caller() {
    let log = Log::default();
    record(&log).start().fail(&Broken("x"));
    assert_eq!(log.end().ending.name(), "failed");
    let log = Log::default();
    drop(record(&log).start());
    assert_eq!(log.end().ending, Ending::Dropped);
    let log = Log::default();
    assert_eq!(drain(record(&log).start().wrap(items(["a"]))).len(), 1);
    assert_eq!(log.end().ending, Ending::Complete);
}
