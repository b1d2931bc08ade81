//! Panics of everybody's code: END comes once, and none leaves a drop.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::Arc,
    task::Poll,
};

use serde_json::Value;
use stream_lifecycle::{
    Component, ComponentFault, Decision, Ending, Guardrail, GuardrailOutput, Lifecycle,
    LifecycleEvent, Sanitizer, TextCollector,
};

use crate::support::{
    Broken, Does, Log, Trace, counting, drain, items, next, poll, record, recorded, upstream,
};

/// Runs the stream to its panic and returns the payload.
fn panic_of(stream: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(stream)).unwrap_err();
    (*payload.downcast::<&str>().unwrap()).to_owned()
}

/// Returns the faulty components and their messages.
fn messages(faults: &[ComponentFault]) -> Vec<(Component, &str)> {
    faults.iter().map(|fault| (fault.who, fault.message.as_str())).collect()
}

// Contract: S4.10.
#[test]
fn panic_in_the_item_path_is_resumed_after_end() {
    struct Rail;
    impl Guardrail<String> for Rail {
        fn push(&mut self, _: String, _: &mut GuardrailOutput<String>) -> Decision {
            panic_any("rail")
        }

        fn finish(
            &mut self,
            _: stream_lifecycle::UpstreamEnd,
            _: &mut GuardrailOutput<String>,
        ) -> Decision {
            Decision::Continue
        }
    }
    type Make = fn(Lifecycle<String, Broken>) -> Lifecycle<String, Broken>;
    let same: Make = |record| record;
    let cases: [(Component, &str, Make, Does); 3] = [
        (Component::Upstream, "up", same, Does::Panic("up")),
        (
            Component::Collector,
            "collect",
            |record| record.collector(|_: &String| panic_any("collect")),
            Does::Item("a"),
        ),
        (Component::Guardrail, "rail", |record| record.enforce(Rail), Does::Item("a")),
    ];
    for (who, message, make, does) in cases {
        let (log, trace) = (Log::default(), Trace::default());
        let inner = upstream([does, Does::Item("never")]);
        let seen = inner.seen();
        let stream = make(record(&log).finalizer(counting(&trace))).wrap(inner);
        let mut stream = Box::pin(stream);
        assert_eq!(panic_of(|| drop(next(&mut stream))), message);
        let ending = Ending::Panicked { who, message: message.into() };
        assert_eq!(log.end().ending, ending);
        assert_eq!((trace.all(), seen.dropped()), (vec!["finalizer".to_owned()], true));
        // The stream ended, without a second panic or END.
        assert!(poll(&mut stream).is_ready());
        drop(stream);
        assert_eq!(log.ends().len(), 1);
    }
}

// Contract: S4.10.
#[test]
fn panicking_finalizer_leaves_null_and_a_fault() {
    let log = Log::default();
    let stream = record(&log).finalizer(|_| panic_any("fin")).wrap(items(["a"]));
    assert_eq!(drain(stream).len(), 1);
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::Complete, Some(Value::Null)));
    assert_eq!(messages(&end.faults), [(Component::Finalizer, "fin")]);
}

// Contract: S4.10.
#[test]
fn panicking_sanitizer_omits_the_aggregate() {
    let (log, trace) = (Log::default(), Trace::default());
    let sink = trace.clone();
    let stream = recorded(&log)
        .sanitizer(Sanitizer::new("bad", 0, |_, _| panic_any("san")))
        .codec(Arc::new(move |_: &Value| {
            sink.note("codec");
            Ok(Value::Null)
        }))
        .wrap(items(["secret"]));
    drain(stream);
    let end = log.end();
    assert_eq!((&end.data, &end.annotated), (&None, &None));
    assert_eq!(end.omitted.unwrap().by, "bad");
    assert_eq!(end.faults[0].who, Component::Sanitizer);
    assert!(trace.all().is_empty(), "no codec on what was omitted");
}

// Contract: S4.10.
#[test]
fn panics_of_codec_and_subscriber_do_not_end_the_stream() {
    let log = Log::default();
    let stream = Lifecycle::<String, Broken>::new("a")
        .subscriber(Arc::new(|_: &Arc<LifecycleEvent>| panic_any("sub")))
        .subscriber(log.subscriber())
        .codec(Arc::new(|_: &Value| panic_any("codec")))
        .wrap(items(["a"]));
    assert_eq!(drain(stream).len(), 1);
    let end = log.end();
    assert_eq!(end.ending, Ending::Complete);
    assert_eq!(end.codec_error.as_deref(), Some("the codec panicked"));
    let who: Vec<_> = end.faults.iter().map(|fault| fault.who).collect();
    assert_eq!(who, [Component::Subscriber, Component::Codec]);
}

// Contract: S4.10.
#[test]
fn panics_do_not_escape_a_drop_during_unwinding() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("bomb");
        }
    }
    let log = Log::default();
    let record = || {
        let bomb = Bomb;
        record(&log)
            .collector(move |_: &String| {
                let _bomb = &bomb;
                Ok(())
            })
            .finalizer(|_| panic_any("fin"))
            .sanitizer(Sanitizer::new("bad", 0, |_, _| panic_any("san")))
            .subscriber(Arc::new(|_: &Arc<LifecycleEvent>| panic_any("sub")))
            .wrap(items(["a"]))
    };
    drop(record());
    let unwound = panic_of(|| {
        let _stream = record();
        panic_any("outer")
    });
    assert_eq!(unwound, "outer");
    let endings: Vec<_> = log.ends().into_iter().map(|end| end.ending).collect();
    assert_eq!(endings, [Ending::Dropped, Ending::Dropped]);
}

// Contract: S4.10.
#[test]
fn first_faults_are_kept_and_later_ones_counted() {
    let log = Log::default();
    let stream = record(&log)
        .marks(stream_lifecycle::Marks::Every(std::num::NonZeroU64::MIN))
        .subscriber(Arc::new(|_: &Arc<LifecycleEvent>| panic_any("sub")))
        .wrap(items(["x"; 40]));
    assert_eq!(drain(stream).len(), 40);
    let end = log.end();
    assert_eq!((end.faults.len(), end.more_faults), (16, 25));
}

// Contract: S4.10.
#[test]
fn end_is_sent_if_upstream_or_a_sanitizer_panics_in_its_drop() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("bomb");
        }
    }
    let (log, bomb) = (Log::default(), Bomb);
    let inner = tokio_stream::iter((0..2).map(move |n| {
        let _bomb = &bomb;
        Ok(n.to_string())
    }));
    let mut stream = Box::pin(recorded(&log).wrap(inner));
    next(&mut stream);
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::Dropped, Some("0".into())));
    assert_eq!(messages(&end.faults), [(Component::Upstream, "bomb")]);

    // The stream ended and waits for a close that does not happen.
    let (log, bomb) = (Log::default(), Bomb);
    let inner = tokio_stream::iter((0..1).map(move |_| {
        let _bomb = &bomb;
        Err(Broken("x"))
    }));
    let stream = recorded(&log).wrap(inner).on_close(|_, _| Poll::Ready(Ok(())));
    assert_eq!(drain(stream), [Err(Broken("x"))]);
    assert_eq!(log.end().faults, []);

    let (log, bomb) = (Log::default(), Bomb);
    let keep = Sanitizer::new("keep", 0, move |_, _| {
        let _bomb = &bomb;
        stream_lifecycle::SanitizerVerdict::Keep
    });
    drain(recorded(&log).sanitizer(keep).wrap(items(["a"])));
    let end = log.end();
    assert_eq!((end.ending, end.data), (Ending::Complete, Some("a".into())));
    assert_eq!(messages(&end.faults), [(Component::Sanitizer, "bomb")]);
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("bomb");
    }
}

/// Keeps a bomb in its closures, every one of them.
fn armed(log: &Log) -> Lifecycle<String, Broken> {
    struct Rail(Bomb);
    impl Guardrail<String> for Rail {
        fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
            out.put(item);
            Decision::Continue
        }

        fn finish(
            &mut self,
            _: stream_lifecycle::UpstreamEnd,
            _: &mut GuardrailOutput<String>,
        ) -> Decision {
            Decision::Continue
        }
    }
    impl stream_lifecycle::Context for Rail {
        fn enter(&self, f: &mut dyn FnMut()) {
            f();
        }
    }
    fn holding<R>(bomb: Bomb, result: R) -> impl Fn() -> R
    where
        R: Clone,
    {
        move || {
            let _bomb = &bomb;
            result.clone()
        }
    }
    let (observe, describe) = (holding(Bomb, Ok(())), holding(Bomb, Default::default()));
    let (info, cut) = (holding(Bomb, Default::default()), holding(Bomb, None));
    let (tell, codec) = (holding(Bomb, ()), holding(Bomb, Ok(Value::Null)));
    let (now, pending) = (holding(Bomb, std::time::Duration::ZERO), holding(Bomb, Poll::Pending));
    let sanitize = holding(Bomb, stream_lifecycle::SanitizerVerdict::Keep);
    record(log)
        .collector(move |_: &String| observe())
        .describe(move |_: &String| describe())
        .describe_error(move |_: &Broken| info())
        .cut_error(move |_: &Ending| cut())
        .subscriber(Arc::new(move |_: &Arc<LifecycleEvent>| tell()))
        .codec(Arc::new(move |_: &Value| codec()))
        .clock(Arc::new(now))
        .timeout(std::future::poll_fn(move |_| pending()))
        .sanitizer(Sanitizer::new("keep", 0, move |_, _| sanitize()))
        .enforce(Rail(Bomb))
        .enforce(Rail(Bomb))
        .context(stream_lifecycle::ContextHandle::new(Rail(Bomb)))
}

// Contract: S4.10.
#[test]
fn panics_of_dropped_values_do_not_escape_a_drop_or_a_poll() {
    let held = || {
        let (probed, closed) = (Bomb, Bomb);
        let log = Log::default();
        let stream = armed(&log).wrap(items(["a"]));
        let stream = stream
            .probe(move |_| {
                let _bomb = &probed;
                stream_lifecycle::Progress::default()
            })
            .on_close(move |_, _| {
                let _bomb = &closed;
                Poll::Ready(Ok(()))
            });
        (log, stream)
    };
    // Streams are dropped unpolled, half way, after their end, and while unwinding.
    let (log, stream) = held();
    drop(stream);
    assert_eq!(log.end().ending, Ending::Dropped);
    let (log, stream) = held();
    let mut stream = Box::pin(stream);
    assert!(next(&mut stream).is_some());
    drop(stream);
    assert_eq!(log.end().ending, Ending::Dropped);
    let (log, stream) = held();
    assert_eq!(drain(stream).len(), 1);
    assert_eq!(log.end().ending, Ending::Complete);
    let (log, stream) = held();
    let unwound = panic_of(move || {
        let _stream = stream;
        panic_any("outer")
    });
    assert_eq!((unwound.as_str(), log.end().ending), ("outer", Ending::Dropped));
    // Calls are started and dropped, or refused.
    let log = Log::default();
    drop(armed(&log).start());
    assert_eq!(log.end().ending, Ending::Dropped);
    let log = Log::default();
    armed(&log).reject("no");
    assert_eq!(log.kinds(), ["rejected"]);
}

/// Panics when it is dropped, with a payload that does, too.
#[derive(Debug)]
struct Hot(u8);

impl Drop for Hot {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic_any(Self(self.0 - 1));
        }
    }
}

// Contract: S4.10.
#[test]
fn end_is_sent_if_a_panic_payload_panics_in_its_drop() {
    for (drops, polls) in [(1, 0), (1, 1), (3, 1)] {
        let log = Log::default();
        let stream = record(&log)
            .collect_with(TextCollector::default())
            .finalizer(move |_| panic_any(Hot(drops)))
            .subscriber(Arc::new(move |_: &Arc<LifecycleEvent>| panic_any(Hot(drops))))
            .wrap(items(["a"]));
        let mut stream = Box::pin(stream);
        (0..polls).for_each(|_| drop(poll(&mut stream)));
        drop(stream);
        assert_eq!(log.end().faults[0].who, Component::Subscriber);
    }
}

// Contract: S4.10.
#[test]
fn end_is_sent_if_held_items_panic_in_their_drop() {
    /// Lets each item out three times.
    struct Keeps;
    impl Guardrail<Hot> for Keeps {
        fn push(&mut self, item: Hot, out: &mut GuardrailOutput<Hot>) -> Decision {
            (0..3).for_each(|_| out.put(Hot(item.0)));
            std::mem::forget(item);
            Decision::Continue
        }

        fn finish(
            &mut self,
            _: stream_lifecycle::UpstreamEnd,
            _: &mut GuardrailOutput<Hot>,
        ) -> Decision {
            Decision::Continue
        }
    }
    let log = Log::default();
    let record = Lifecycle::<Hot, Broken>::new("a").subscriber(log.subscriber());
    let mut stream =
        Box::pin(record.enforce(Keeps).wrap(tokio_stream::iter([Ok(Hot(1)), Ok(Hot(0))])));
    std::mem::forget(poll(&mut stream));
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.withheld.items), (Ending::Dropped, 2));
    assert_eq!(end.faults.len(), 2, "{:?}", end.faults);

    // One item is refused by a collector, and one waits for its check.
    let log = Log::default();
    let record = Lifecycle::<Hot, Broken>::new("a").subscriber(log.subscriber());
    let refuse = record.collector(|_: &Hot| Err(Broken("no")));
    let mut stream = Box::pin(refuse.wrap(tokio_stream::iter([Ok(Hot(1))])));
    assert!(matches!(poll(&mut stream), Poll::Ready(Some(Err(Broken("no"))))));
    assert_eq!(log.end().ending.name(), "failed");

    let log = Log::default();
    let record = Lifecycle::<Hot, Broken>::new("a").subscriber(log.subscriber());
    let size = std::num::NonZeroUsize::new(100).unwrap();
    let read = |_: &Hot, on: &mut dyn FnMut(u64, &str)| on(0, "x");
    let check = |_: stream_lifecycle::Passage| std::future::pending();
    let window = stream_lifecycle::Window::new(stream_lifecycle::Windows::chars(size), read, check);
    let hot = tokio_stream::iter([Ok(Hot(1)), Ok(Hot(1))]);
    let mut stream = Box::pin(record.enforce(window).wrap(hot));
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    assert_eq!(log.end().withheld.items, 2);
}
