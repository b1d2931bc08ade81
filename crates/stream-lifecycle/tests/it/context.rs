//! Contexts: upstream's polls and user code run inside them, on every thread.

use std::{cell::Cell, pin::Pin, sync::Arc, task, task::Poll, thread};

use futures_core::Stream;
use serde_json::Value;
use stream_lifecycle::{
    CloseError, Component, Context, ContextHandle, Ending, Lifecycle, LifecycleEvent, Sanitizer,
    SanitizerVerdict,
};

use crate::support::{Broken, Log, Trace, drain, items, next, record};

thread_local! {
    static SCOPE: Cell<&'static str> = const { Cell::new("none") };
}

/// A context that makes its name the thread's scope.
struct Scope(&'static str);

impl Context for Scope {
    fn enter(&self, f: &mut dyn FnMut()) {
        let before = SCOPE.replace(self.0);
        f();
        SCOPE.set(before);
    }
}

fn here(trace: &Trace, who: &str) {
    trace.note(format!("{who} in {}", SCOPE.get()));
}

/// A stream of one item that records the scope in which it is polled.
struct Whereabouts(Trace, bool);

impl Stream for Whereabouts {
    type Item = Result<String, Broken>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        here(&self.0, "upstream");
        let more = std::mem::replace(&mut self.1, false);
        Poll::Ready(more.then(|| Ok("a".to_owned())))
    }
}

impl Drop for Whereabouts {
    fn drop(&mut self) {
        here(&self.0, "release");
    }
}

/// Returns a record that records the scope in which each part of it runs.
fn noting(trace: &Trace) -> Lifecycle<String, Broken> {
    let part = |who: &'static str| {
        let trace = trace.clone();
        move || here(&trace, who)
    };
    let (collect, finalize) = (part("collector"), part("finalizer"));
    let (sanitize, codec, subscribe) = (part("sanitizer"), part("codec"), part("subscriber"));
    Lifecycle::new("a")
        .context(ContextHandle::new(Scope("call")))
        .collector(move |_: &String| {
            collect();
            Ok(())
        })
        .finalizer(move |_| {
            finalize();
            Value::Null
        })
        .sanitizer(Sanitizer::new("here", 0, move |_, _| {
            sanitize();
            SanitizerVerdict::Keep
        }))
        .codec(Arc::new(move |_: &Value| {
            codec();
            Ok(Value::Null)
        }))
        .subscriber(Arc::new(move |_: &Arc<LifecycleEvent>| subscribe()))
}

// Contract: S4.17.
#[test]
fn user_code_runs_in_the_context_on_every_thread() {
    let trace = Trace::default();
    let stream = noting(&trace).wrap(Whereabouts(trace.clone(), true));
    thread::spawn(move || SCOPE.set("other")).join().unwrap();
    let polled = thread::spawn(move || {
        SCOPE.set("other");
        assert_eq!(drain(stream).len(), 1);
        assert_eq!(SCOPE.get(), "other", "the thread's own scope is back");
    });
    polled.join().unwrap();
    assert_eq!(
        trace.all(),
        [
            "subscriber in call", // START
            "upstream in call",
            "collector in call",
            "upstream in call",
            "release in call",
            "finalizer in call",
            "sanitizer in call",
            "codec in call",
            "subscriber in call",
        ]
    );
}

// Contract: S4.17.
#[test]
fn drop_and_close_run_in_the_context() {
    for close in [false, true] {
        let trace = Trace::default();
        let stream = noting(&trace).wrap(Whereabouts(trace.clone(), true));
        let sink = trace.clone();
        let stream = stream.on_close(move |_, _| {
            here(&sink, "cleanup");
            Poll::Ready(Ok::<(), CloseError>(()))
        });
        let dropped = thread::spawn(move || {
            let mut stream = Box::pin(stream);
            let cx = &mut task::Context::from_waker(task::Waker::noop());
            if close {
                assert!(stream.as_mut().poll_close(cx).is_ready());
            }
        });
        dropped.join().unwrap();
        let all = trace.all();
        assert!(all.iter().all(|one| one.ends_with("in call")), "{all:?}");
        assert_eq!(trace.count("finalizer in call"), 1);
        assert_eq!(trace.count("cleanup in call"), usize::from(close));
    }
}

/// A value that records the scope in which it is dropped.
struct Noted(Trace, &'static str);

impl Drop for Noted {
    fn drop(&mut self) {
        here(&self.0, self.1);
    }
}

// Contract: S4.17.
#[test]
fn abandoned_values_are_dropped_in_the_context() {
    // A producer is dropped before and after its future is polled.
    for polled in [false, true] {
        let trace = Trace::default();
        let noted = Noted(trace.clone(), "producer");
        let make = async move {
            let _noted = &noted;
            std::future::pending::<Result<Whereabouts, Broken>>().await
        };
        let mut made = Box::pin(noting(&trace).create_async(make));
        let cx = &mut task::Context::from_waker(task::Waker::noop());
        assert!(!polled || made.as_mut().poll(cx).is_pending());
        drop(made);
        assert_eq!(trace.count("producer in call"), 1, "{:?}", trace.all());
        assert!(trace.all().iter().all(|one| one.ends_with("in call")), "{:?}", trace.all());
    }
    // The closures of a stream are dropped midway, after its end and after a close.
    for (polls, close) in [(0, false), (2, false), (0, true)] {
        let trace = Trace::default();
        let (probe, closer) = (Noted(trace.clone(), "probe"), Noted(trace.clone(), "closer"));
        let stream = noting(&trace)
            .wrap(Whereabouts(trace.clone(), true))
            .probe(move |_| {
                let _probe = &probe;
                stream_lifecycle::Progress::default()
            })
            .on_close(move |_, _| {
                let _closer = &closer;
                Poll::Ready(Ok::<(), CloseError>(()))
            });
        let mut stream = Box::pin(stream);
        (0..polls).for_each(|_| drop(next(&mut stream)));
        let cx = &mut task::Context::from_waker(task::Waker::noop());
        assert!(!close || stream.as_mut().poll_close(cx).is_ready());
        drop(stream);
        assert_eq!((trace.count("probe in call"), trace.count("closer in call")), (1, 1));
    }
}

// Contract: S4.17.
#[test]
fn context_is_returned_to_the_caller() {
    let stream = noting(&Trace::default()).wrap(items([]));
    let context = stream.context().unwrap().clone();
    assert_eq!(format!("{context:?}"), "ContextHandle { .. }");
    let scope = thread::spawn(move || context.run(|| SCOPE.get())).join().unwrap();
    assert_eq!(scope, "call");
    assert!(Lifecycle::<String, Broken>::new("b").wrap(items([])).context().is_none());
}

// Contract: S4.17.
#[test]
fn code_runs_outside_a_context_that_fails() {
    /// A context that does not run its work.
    struct Lazy;
    impl Context for Lazy {
        fn enter(&self, _: &mut dyn FnMut()) {}
    }
    let log = Log::default();
    assert_eq!(drain(record(&log).context(ContextHandle::new(Lazy)).wrap(items(["a"]))).len(), 1);
    assert_eq!(log.end().ending, Ending::Complete);

    /// A context that runs its work, then panics.
    struct Hasty;
    impl Context for Hasty {
        fn enter(&self, f: &mut dyn FnMut()) {
            f();
            std::panic::panic_any("left in a hurry");
        }
    }
    let log = Log::default();
    let mut stream =
        Box::pin(record(&log).context(ContextHandle::new(Hasty)).wrap(items(["a", "b"])));
    assert_eq!(next(&mut stream), Some(Ok("a".into())));
    drop(stream);
    let end = log.end();
    assert_eq!(end.ending, Ending::Dropped);
    assert!(end.faults.iter().all(|fault| fault.who == Component::Context));
    assert_eq!(end.faults.len(), 2, "START and a poll: {:?}", end.faults);
}

#[cfg(feature = "tracing")]
mod spans {
    use std::cell::RefCell;

    use tracing::{
        Event, Metadata, Subscriber,
        span::{Attributes, Id, Record},
    };

    use super::*;

    thread_local! {
        static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    }

    /// A `tracing` subscriber that records only which spans the thread is in.
    struct Spans;

    impl Subscriber for Spans {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(7)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, span: &Id) {
            ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
        }

        fn exit(&self, _: &Id) {
            ENTERED.with_borrow_mut(Vec::pop);
        }
    }

    // Contract: S4.17.
    #[test]
    fn tracing_span_is_entered_as_a_context() {
        let trace = Trace::default();
        let stream = tracing::subscriber::with_default(Spans, || {
            let sink = trace.clone();
            Lifecycle::<String, Broken>::new("a")
                .context(ContextHandle::new(tracing::info_span!("call")))
                .collector(move |_: &String| {
                    sink.note(format!("{:?}", ENTERED.with_borrow(Clone::clone)));
                    Ok(())
                })
                .wrap(items(["a"]))
        });
        thread::spawn(move || drain(stream)).join().unwrap();
        assert_eq!(trace.all(), ["[7]"]);
    }
}
