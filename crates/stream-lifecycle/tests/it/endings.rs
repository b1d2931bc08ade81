//! Every ending: the finalizer runs once, and END is sent once, with the right ending.

use std::{
    error::Error,
    fmt,
    num::{NonZeroU64, ParseIntError},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_core::{FusedStream, Stream};
use serde_json::{Value, json};
use stream_lifecycle::{
    CloseError, Collector, Component, Decision, Ending, ErrorInfo, FinishInfo, Guardrail,
    GuardrailOutput, LateClose, Lifecycle, Marks, Progress, Refused, UpstreamEnd,
};

use crate::support::{
    Broken, Does, Log, Trace, counting, drain, items, next, poll, record, recorded, upstream,
};

const FIVE: NonZeroU64 = NonZeroU64::new(5).unwrap();
const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

fn ok(texts: &[&str]) -> Vec<Result<String, Broken>> {
    texts.iter().map(|text| Ok((*text).to_owned())).collect()
}

// Contract: S4.1.
#[test]
fn item_is_marked_then_collected_then_yielded() {
    let (log, trace) = (Log::default(), Trace::default());
    let (marks, collects) = (trace.clone(), trace.clone());
    let stream = record(&log)
        .marks(Marks::Every(NonZeroU64::MIN))
        .subscriber(Arc::new(move |event: &Arc<_>| marks.note(kind(event))))
        .collector(move |item: &String| {
            collects.note(format!("collect {item}"));
            Ok(())
        })
        .wrap(items(["a", "b"]));
    let mut stream = Box::pin(stream);
    while let Some(Ok(item)) = next(&mut stream) {
        trace.note(format!("yield {item}"));
    }
    assert_eq!(
        trace.all(),
        ["start", "mark", "collect a", "yield a", "mark", "collect b", "yield b", "end"]
    );
}

fn kind(event: &stream_lifecycle::LifecycleEvent) -> String {
    serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()
}

// Contract: S4.2.
#[test]
fn collectors_receive_items_borrowed_or_cloned() {
    /// An item that is not `Clone`, so that a collector must borrow it.
    struct Whole(String);
    let seen = Trace::default();
    let sink = seen.clone();
    let stream = Lifecycle::<Whole, Broken>::new("a")
        .collector(move |item: &Whole| {
            sink.note(item.0.as_str());
            Ok(())
        })
        .wrap(tokio_stream::iter([Ok(Whole("x".into()))]));
    assert_eq!(drain(stream).len(), 1);

    let kept = Trace::default();
    let sink = kept.clone();
    let stream = Lifecycle::<String, Broken>::new("b")
        .collector_owned(move |item| {
            sink.note(item);
            Ok(())
        })
        .wrap(items(["y"]));
    assert_eq!(drain(stream), ok(&["y"]));
    assert_eq!((seen.all(), kept.all()), (vec!["x".to_owned()], vec!["y".to_owned()]));
}

/// Returns a record whose collector refuses the item `bad`.
fn refusing(log: &Log, trace: &Trace) -> Lifecycle<String, Broken> {
    let sink = trace.clone();
    record(log).finalizer(counting(trace)).collector(move |item: &String| {
        sink.note(format!("collect {item}"));
        if item == "bad" { Err(Broken("refused")) } else { Ok(()) }
    })
}

// Contract: S4.3.
#[test]
fn collector_error_replaces_the_item_and_ends_the_stream() {
    let (log, trace) = (Log::default(), Trace::default());
    let inner = items(["a", "bad", "c"]);
    let seen = inner.seen();
    let all = drain(refusing(&log, &trace).wrap(inner));
    assert_eq!(all, [Ok("a".into()), Err(Broken("refused"))]);
    assert_eq!(trace.all(), ["collect a", "collect bad", "finalizer"]);
    assert_eq!(seen.polls(), 2);
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Collector, .. }));
}

// Contract: S4.3.
#[test]
fn refused_item_is_delivered_before_the_error_on_request() {
    let (log, trace) = (Log::default(), Trace::default());
    let stream = refusing(&log, &trace).refused(Refused::Deliver).wrap(items(["bad", "c"]));
    assert_eq!(drain(stream), [Ok("bad".into()), Err(Broken("refused"))]);
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Collector, .. }));
}

// Contract: S4.3.
#[test]
fn drop_or_close_after_a_delivered_refusal_ends_as_failed() {
    let (log, trace) = (Log::default(), Trace::default());
    let stream = refusing(&log, &trace).refused(Refused::Deliver).wrap(items(["bad", "c"]));
    let mut stream = Box::pin(stream);
    assert_eq!(next(&mut stream), Some(Ok("bad".into())));
    assert_eq!(log.ends(), []);
    drop(stream);
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Collector, .. }));

    let (log, trace) = (Log::default(), Trace::default());
    let stream = refusing(&log, &trace).refused(Refused::Deliver).wrap(items(["bad", "c"]));
    let mut stream = Box::pin(stream);
    assert_eq!(next(&mut stream), Some(Ok("bad".into())));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(matches!(stream.as_mut().poll_close(cx), Poll::Ready(Ok(()))));
    assert!(matches!(log.end().ending, Ending::Failed { who: Component::Collector, .. }));
}

// Contract: S4.4.
#[test]
fn upstream_error_is_yielded_last_and_after_end() {
    let (log, trace) = (Log::default(), Trace::default());
    let inner = upstream([Does::Item("a"), Does::Fail("gone"), Does::Item("never")]);
    let seen = inner.seen();
    let mut stream = Box::pin(refusing(&log, &trace).wrap(inner));
    assert_eq!(next(&mut stream), Some(Ok("a".into())));
    assert_eq!(log.ends(), []);
    assert_eq!(next(&mut stream), Some(Err(Broken("gone"))));
    let class = std::any::type_name::<Broken>();
    let ending = Ending::Failed { who: Component::Upstream, error: ErrorInfo::class(class) };
    assert_eq!(log.end().ending, ending);
    for _ in 0..3 {
        assert_eq!(poll(&mut stream), Poll::Ready(None));
    }
    drop(stream);
    assert_eq!(trace.all(), ["collect a", "finalizer"]);
    assert_eq!((seen.polls(), log.ends().len()), (2, 1));
}

// Contract: S4.5, S4.6.
#[test]
fn every_ending_finalizes_once_and_sends_end_once() {
    type Run = fn(Lifecycle<String, Broken>);
    let part = || items(["a", "b", "c"]);
    let cases: [(&str, Run); 9] = [
        ("complete", |record| drop(drain(record.wrap(items(["a"]))))),
        ("failed", |record| drop(drain(record.wrap(upstream([Does::Fail("x")]))))),
        ("dropped", |record| drop(record.wrap(items(["a"])))),
        ("dropped", |record| {
            let mut stream = Box::pin(record.wrap(items(["a", "b"])));
            next(&mut stream);
        }),
        ("closed", |record| {
            let mut stream = Box::pin(record.wrap(items(["a", "b"])));
            next(&mut stream);
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(matches!(stream.as_mut().poll_close(cx), Poll::Ready(Ok(()))));
            assert_eq!(poll(&mut stream), Poll::Ready(None));
        }),
        ("limit", |record| {
            drop(drain(record.limit_items(TWO).wrap(items(["a", "b", "c"]))));
        }),
        ("timed_out", |record| {
            drop(drain(record.timeout(std::future::ready(())).wrap(items(["a"]))));
        }),
        ("panicked", |record| {
            let cut = record.cut_error(|ending| Some(Broken(ending.name())));
            let all = drain(cut.wrap(upstream([Does::Panic("oh")])));
            assert_eq!(all, [Err(Broken("panicked"))]);
        }),
        ("failed", |record| {
            let refuse = record.collector(|_: &String| Err(Broken("no")));
            drop(drain(refuse.wrap(items(["a", "b"]))));
        }),
    ];
    drop(part());
    for (number, (name, run)) in cases.into_iter().enumerate() {
        let (log, trace) = (Log::default(), Trace::default());
        run(record(&log).finalizer(counting(&trace)));
        let end = log.end();
        assert_eq!(end.ending.name(), name, "case {number}");
        assert_eq!(trace.all(), ["finalizer"], "case {number}");
        assert_eq!(end.data.unwrap()["ending"], name, "case {number}");
        assert_eq!(log.kinds(), ["start", "end"], "case {number}");
    }
}

// Contract: S4.6.
#[test]
fn end_is_sent_after_the_finalizer_and_before_the_last_poll_returns() {
    let (log, trace) = (Log::default(), Trace::default());
    let sink = trace.clone();
    let stream = record(&log)
        .finalizer(counting(&trace))
        .subscriber(Arc::new(move |event: &Arc<_>| sink.note(kind(event))))
        .wrap(items([]));
    let mut stream = Box::pin(stream);
    assert_eq!(poll(&mut stream), Poll::Ready(None));
    trace.note("none");
    assert_eq!(trace.all(), ["start", "finalizer", "end", "none"]);
}

// Contract: S4.7.
#[test]
fn empty_stream_is_finalized_and_sends_end() {
    let (log, trace) = (Log::default(), Trace::default());
    assert_eq!(drain(record(&log).finalizer(counting(&trace)).wrap(items([]))), []);
    let end = log.end();
    assert_eq!(end.ending, Ending::Complete);
    assert_eq!(end.data, Some(json!({"items": 0, "ending": "complete"})));
    assert_eq!(trace.all(), ["finalizer"]);
}

// Contract: S1.61, S4.8.
#[test]
fn drop_finalizes_with_the_partial_data() {
    let log = Log::default();
    let mut stream = Box::pin(recorded(&log).wrap(items(["a", "b", "c"])));
    next(&mut stream);
    next(&mut stream);
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::Dropped, Some("ab".into())));
    assert_eq!(end.metadata["status"], "cancelled");
}

/// A collector for which the answer is complete after `.`.
struct UpToTheDot(bool);

impl Collector<String, Broken> for UpToTheDot {
    fn observe(&mut self, item: &String) -> Result<(), Broken> {
        self.0 = item == ".";
        Ok(())
    }

    fn finish(self: Box<Self>, finish: FinishInfo<'_>) -> Value {
        finish.ending.name().into()
    }

    fn is_whole(&self) -> bool {
        self.0
    }
}

// Contract: S4.8.
#[test]
fn drop_after_a_complete_answer_is_recorded_as_complete() {
    let leave = |after: LateClose, reads: usize| {
        let log = Log::default();
        let record = record(&log).collect_with(UpToTheDot(false)).late_close(after);
        let mut stream = Box::pin(record.wrap(items(["a", "."])));
        (0..reads).for_each(|_| drop(next(&mut stream)));
        drop(stream);
        let end = log.end();
        assert_eq!(end.data, Some(end.ending.name().into()), "the finalizer receives the same");
        assert!(!end.truncated, "its collector has no limit");
        end.ending
    };
    assert_eq!(leave(LateClose::default(), 2), Ending::Complete);
    assert_eq!(leave(LateClose::default(), 1), Ending::Dropped);
    assert_eq!(leave(LateClose::AsItEnded, 2), Ending::Dropped);
}

/// Returns an upstream whose cleanup waits for `ready` and then fails.
fn slow_cleanup(
    ready: &Arc<AtomicBool>,
    trace: &Trace,
) -> impl FnMut(Pin<&mut crate::support::Upstream>, &mut Context<'_>) -> Poll<Result<(), CloseError>>
+ Send
+ 'static {
    let (ready, trace) = (Arc::clone(ready), trace.clone());
    move |_, _| {
        if !ready.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        trace.note("cleanup");
        Poll::Ready(Err(CloseError::new("the socket stuck")))
    }
}

/// An error with a source.
#[derive(Debug)]
struct Because(ParseIntError);

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the socket stuck")
    }
}

impl Error for Because {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

// Contract: S4.9.
#[test]
fn close_stops_the_producer_and_keeps_its_result() {
    let (log, trace, ready) = (Log::default(), Trace::default(), Arc::default());
    let stream = record(&log)
        .finalizer(counting(&trace))
        .wrap(items(["a", "b"]))
        .on_close(slow_cleanup(&ready, &trace));
    let mut stream = Box::pin(stream);
    next(&mut stream);
    let cx = &mut Context::from_waker(Waker::noop());
    {
        // An abandoned close loses nothing and finalizes nothing early.
        let mut close = Box::pin(stream.as_mut().close());
        assert!(close.as_mut().poll(cx).is_pending());
    }
    assert_eq!(poll(&mut stream), Poll::Ready(None));
    assert!(stream.is_terminated());
    assert_eq!(log.ends(), []);
    ready.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let mut close = Box::pin(stream.as_mut().close());
        let Poll::Ready(Err(error)) = close.as_mut().poll(cx) else { panic!("not ready") };
        assert_eq!(error.to_string(), "the socket stuck");
    }
    drop(stream);
    assert_eq!(trace.all(), ["cleanup", "finalizer"]);
    let end = log.end();
    assert_eq!(end.ending, Ending::Closed);
    assert_eq!(end.close_error.unwrap().message.unwrap(), "the socket stuck");
}

#[test]
fn debug_output_shows_the_call_and_the_end() {
    let mut stream = Box::pin(record(&Log::default()).wrap(items([])));
    let shown = format!("{stream:?}");
    assert!(shown.contains("call-1") && shown.contains("ended: false"), "{shown}");
    next(&mut stream);
    assert!(format!("{stream:?}").contains("ended: true"));
}

#[test]
fn cleanup_error_keeps_its_source() {
    let cause = "x".parse::<u8>().unwrap_err();
    let chain = CloseError::new(Because(cause.clone()));
    assert_eq!(chain.to_string(), "the socket stuck");
    assert_eq!(chain.source().map(ToString::to_string), Some(cause.to_string()));
    assert!(CloseError::new("the socket stuck").source().is_none());
}

// Contract: S4.9.
#[test]
fn drop_while_closing_ends_as_closed() {
    let (log, trace, ready) = (Log::default(), Trace::default(), Arc::default());
    let stream = record(&log).wrap(items(["a"])).on_close(slow_cleanup(&ready, &trace));
    let mut stream = Box::pin(stream);
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(stream.as_mut().poll_close(cx).is_pending());
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.close_error.is_some()), (Ending::Closed, true));
}

// Contract: S4.9.
#[test]
fn close_after_an_error_runs_the_cleanup() {
    let (log, trace) = (Log::default(), Trace::default());
    let inner = upstream([Does::Fail("x")]);
    let seen = inner.seen();
    let stream = record(&log).wrap(inner).on_close(slow_cleanup(&Arc::new(true.into()), &trace));
    let mut stream = Box::pin(stream);
    assert_eq!(next(&mut stream), Some(Err(Broken("x"))));
    assert!(!seen.dropped(), "its cleanup is still to come");
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(matches!(stream.as_mut().poll_close(cx), Poll::Ready(Err(_))));
    assert!(seen.dropped());
    assert_eq!(trace.all(), ["cleanup"]);
    assert_eq!(log.end().ending.name(), "failed");
}

// Contract: S4.25.
#[test]
fn any_result_stream_works_without_a_runtime() {
    // The wrapper is `Unpin` exactly if its inner stream is.
    fn unpin<T: Unpin>(stream: T) -> T {
        stream
    }
    let log = Log::default();
    let all = drain(record(&log).wrap(upstream([Does::Wait, Does::Item("a"), Does::Wait])));
    assert_eq!(all, ok(&["a"]));
    assert_eq!(log.end().items, 1);
    let plain = Lifecycle::<u8, ()>::new("b").wrap(tokio_stream::iter([Ok(1), Err(())]));
    assert_eq!(drain(unpin(plain)), [Ok(1), Err(())]);
}

// Contract: S4.27.
#[test]
fn upstream_is_polled_once_per_requested_item() {
    let inner = items(["a", "b", "c"]);
    let seen = inner.seen();
    let mut stream = Box::pin(record(&Log::default()).wrap(inner));
    assert_eq!(seen.polls(), 0);
    for polls in 1..=3 {
        assert!(next(&mut stream).is_some());
        assert_eq!(seen.polls(), polls);
    }
    assert_eq!(stream.size_hint(), (0, None));
    assert_eq!(next(&mut stream), None);
    assert_eq!(stream.size_hint(), (0, Some(0)));
}

// Contract: S4.30.
#[test]
fn upstream_is_dropped_at_the_end_of_the_stream() {
    for last in [None, Some(Does::Fail("x"))] {
        let inner = upstream(last);
        let seen = inner.seen();
        let gone = Arc::clone(&seen);
        let stream = Lifecycle::<String, Broken>::new("a").finalizer(move |_| {
            assert!(gone.dropped(), "the finalizer runs behind the producer's end");
            Value::Null
        });
        let mut stream = Box::pin(stream.wrap(inner));
        let _ = next(&mut stream);
        assert!(seen.dropped());
    }
}

#[test]
fn limit_delivers_allowed_items_and_may_become_an_error() {
    let log = Log::default();
    let cut = |ending: &Ending| Some(Broken(ending.name()));
    let stream = recorded(&log).limit_items(TWO).cut_error(cut).wrap(items(["a", "b", "c"]));
    assert_eq!(drain(stream), [Ok("a".into()), Ok("b".into()), Err(Broken("limit"))]);
    assert_eq!(log.end().ending, Ending::Limit { what: "items", at: 2 });
    // Exactly the allowed number passes.
    let log = Log::default();
    assert_eq!(drain(recorded(&log).limit_items(TWO).wrap(items(["a", "b"]))), ok(&["a", "b"]));
    assert_eq!(log.end().ending, Ending::Complete);

    let log = Log::default();
    let stream = recorded(&log).limit_bytes(FIVE).wrap(items(["abc", "de", "f"]));
    assert_eq!(drain(stream), ok(&["abc", "de"]));
    let end = log.end();
    assert_eq!(end.ending, Ending::Limit { what: "bytes", at: 5 });
    assert_eq!((end.data, end.items), (Some("abcde".into()), 2));
}

#[test]
fn timer_ends_a_waiting_stream() {
    let log = Log::default();
    let fire = Arc::new(AtomicBool::new(false));
    let timer = Arc::clone(&fire);
    let timer = std::future::poll_fn(move |_| match timer.load(Ordering::SeqCst) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    let inner = upstream([Does::Item("a"), Does::Wait, Does::Wait, Does::Item("late")]);
    let mut stream = Box::pin(recorded(&log).timeout(timer).wrap(inner));
    assert_eq!(next(&mut stream), Some(Ok("a".into())));
    assert_eq!(poll(&mut stream), Poll::Pending);
    fire.store(true, Ordering::SeqCst);
    assert_eq!(poll(&mut stream), Poll::Ready(None));
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::TimedOut, Some("a".into())));
}

#[test]
fn error_description_of_the_caller_is_recorded() {
    let log = Log::default();
    let words = |error: &Broken| {
        let mut info = ErrorInfo::class("broken");
        info.message = Some(error.0.to_owned());
        info
    };
    drain(record(&log).describe_error(words).wrap(upstream([Does::Fail("pipe")])));
    let end = log.end();
    assert_eq!(end.metadata["error_class"], "broken");
    assert_eq!(end.metadata["error_message"], "pipe");
}

#[test]
fn cut_error_is_asked_only_for_truncated_streams() {
    let cut = |ending: &Ending| Some(Broken(ending.name()));
    let log = Log::default();
    assert_eq!(drain(recorded(&log).cut_error(cut).wrap(items(["a"]))), ok(&["a"]));
    assert_eq!(log.end().ending, Ending::Complete);
    // The consumer leaves, or upstream fails.
    for script in [vec![Does::Item("a"), Does::Wait], vec![Does::Fail("x")]] {
        let (log, asked) = (Log::default(), Trace::default());
        let note = asked.clone();
        let cut = move |ending: &Ending| {
            note.note(ending.name());
            None
        };
        let mut stream = Box::pin(recorded(&log).cut_error(cut).wrap(upstream(script)));
        drop(next(&mut stream));
        drop(stream);
        assert_eq!((asked.all().len(), log.ends().len()), (0, 1));
    }
}

/// Lets everything out at the end.
#[derive(Default)]
struct Hoards(Vec<String>);

impl Guardrail<String> for Hoards {
    fn push(&mut self, item: String, _: &mut GuardrailOutput<String>) -> Decision {
        self.0.push(item);
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut GuardrailOutput<String>) -> Decision {
        self.0.drain(..).for_each(|item| out.put(item));
        Decision::Continue
    }
}

// Contract: S4.8.
#[test]
fn upstream_error_is_recorded_if_the_consumer_leaves_while_guardrails_release() {
    for close in [false, true] {
        let log = Log::default();
        let script = [Does::Item("a"), Does::Item("b"), Does::Fail("x")];
        let mut stream = Box::pin(recorded(&log).enforce(Hoards::default()).wrap(upstream(script)));
        assert_eq!(next(&mut stream), Some(Ok("a".into())));
        if close {
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(stream.as_mut().poll_close(cx).is_ready());
        }
        drop(stream);
        let end = log.end();
        assert!(matches!(end.ending, Ending::Failed { who: Component::Upstream, .. }), "{end:?}");
        assert_eq!((end.data, end.withheld.items), (Some("a".into()), 1));
    }
    // Upstream was complete, but the consumer did not fetch its items.
    let log = Log::default();
    let mut stream = Box::pin(recorded(&log).enforce(Hoards::default()).wrap(items(["a", "b"])));
    assert_eq!(next(&mut stream), Some(Ok("a".into())));
    drop(stream);
    assert_eq!(log.end().ending, Ending::Dropped);
}

#[test]
fn failure_reported_by_the_probe_is_the_ending() {
    let log = Log::default();
    let progress = |_: &_| Progress::default().failed(ErrorInfo::class("wire"));
    drain(recorded(&log).wrap(items(["a"])).probe(progress));
    let failed = Ending::Failed { who: Component::Upstream, error: ErrorInfo::class("wire") };
    assert_eq!(log.end().ending, failed);
}
