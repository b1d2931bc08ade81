//! A stream whose parts may all misbehave, for property tests and fuzz targets.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
};

use futures_core::FusedStream;
use stream_lifecycle::{
    CloseError, Component, Decision, Ending, Guardrail, GuardrailOutput, Lifecycle, LifecycleEvent,
    Marks, Refused, Sanitizer, SanitizerVerdict, UpstreamEnd,
};

use crate::support::{Broken, Does, Log, Trace, counting, poll, record, upstream};

/// Behaviour of user code for an item.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Acts {
    Takes,
    Refuses,
    Panics,
}

/// An action of the consumer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wants {
    Poll,
    Close,
    MoveToAnotherThread,
    Drop,
}

/// The behaviour of every part.
#[derive(Debug, Clone)]
pub(crate) struct Chaos {
    pub(crate) script: Vec<Does>,
    pub(crate) collects: Vec<Acts>,
    pub(crate) rail: Option<Vec<Acts>>,
    pub(crate) ends: Acts,
    pub(crate) subscriber: Acts,
    /// How often the cleanup waits.
    pub(crate) cleanup: Option<u8>,
    pub(crate) consumer: Vec<Wants>,
}

/// A panic payload whose drop panics too.
struct Hot(&'static str);

impl Drop for Hot {
    fn drop(&mut self) {
        panic_any(self.0);
    }
}

/// Returns whether `polled` panicked, with the payload left alone.
fn caught<R>(polled: thread::Result<R>) -> Result<R, ()> {
    polled.map_err(std::mem::forget)
}

/// A guardrail that holds every second item, and acts.
struct Rail(Vec<Acts>, Option<String>);

impl Guardrail<String> for Rail {
    fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
        match self.0.pop() {
            Some(Acts::Panics) => panic_any(Hot("rail")),
            Some(Acts::Refuses) => return Decision::End("refused".into()),
            _ => {}
        }
        match self.1.take() {
            Some(held) => [held, item].into_iter().for_each(|item| out.put(item)),
            None => self.1 = Some(item),
        }
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut GuardrailOutput<String>) -> Decision {
        self.1.take().into_iter().for_each(|item| out.put(item));
        Decision::Continue
    }
}

fn chaotic(
    log: &Log,
    trace: &Trace,
    mut collects: Vec<Acts>,
    rail: Option<Vec<Acts>>,
    ends: Acts,
    subscriber: Acts,
) -> Lifecycle<String, Broken> {
    let finalize = counting(trace);
    let record = record(log)
        .marks(Marks::Every(std::num::NonZeroU64::MIN))
        .refused(if matches!(subscriber, Acts::Refuses) {
            Refused::Deliver
        } else {
            Refused::Withhold
        })
        .collector(move |_: &String| match collects.pop() {
            Some(Acts::Panics) => panic_any(Hot("collect")),
            Some(Acts::Refuses) => Err(Broken("refused")),
            _ => Ok(()),
        })
        .cut_error(|ending: &Ending| {
            assert_eq!(ending.status(), "error", "asked for an error of a stream that was not cut");
            None
        })
        .finalizer(move |finish| {
            let data = finalize(finish);
            if matches!(ends, Acts::Panics) { panic_any(Hot("finalize")) } else { data }
        })
        .sanitizer(Sanitizer::new("any", 0, move |_, _| match ends {
            Acts::Takes => SanitizerVerdict::Keep,
            Acts::Refuses => SanitizerVerdict::Omit,
            Acts::Panics => panic_any(Hot("sanitize")),
        }))
        .subscriber(Arc::new(move |_: &Arc<LifecycleEvent>| {
            if matches!(subscriber, Acts::Panics) {
                panic_any(Hot("subscriber"));
            }
        }));
    match rail {
        Some(acts) => record.enforce(Rail(acts, None)),
        None => record,
    }
}

impl Chaos {
    /// Runs the stream and checks that it has one START, one finalizer, one END, and no later
    /// event.
    ///
    /// # Panics
    /// If a check fails.
    pub(crate) fn ends_once(self) {
        let Self { script, collects, rail, ends, subscriber, cleanup, consumer } = self;
        let (log, trace) = (Log::default(), Trace::default());
        let inner = upstream(script);
        let seen = inner.seen();
        let stream = chaotic(&log, &trace, collects, rail, ends, subscriber).wrap(inner);
        let stream = match cleanup {
            Some(mut waits) => stream.on_close(move |_, _| {
                waits = waits.saturating_sub(1);
                if waits > 0 { Poll::Pending } else { Poll::Ready(Err(CloseError::new("late"))) }
            }),
            None => stream,
        };
        let mut stream = Box::pin(stream);
        let cx = &mut Context::from_waker(Waker::noop());
        for wants in consumer {
            match wants {
                Wants::Poll => {
                    let over = stream.is_terminated();
                    let polled = caught(catch_unwind(AssertUnwindSafe(|| poll(&mut stream))));
                    assert!(!over || matches!(polled, Ok(Poll::Ready(None))));
                    let last = !matches!(polled, Ok(Poll::Pending | Poll::Ready(Some(Ok(_)))));
                    assert!(!last || stream.is_terminated());
                }
                Wants::Close => drop(stream.as_mut().poll_close(cx)),
                Wants::MoveToAnotherThread => {
                    let moved = thread::spawn(move || {
                        let _ = caught(catch_unwind(AssertUnwindSafe(|| poll(&mut stream))));
                        stream
                    });
                    stream = moved.join().expect("caught");
                }
                Wants::Drop => break,
            }
            assert!(log.ends().len() <= usize::from(stream.is_terminated()));
        }
        drop(stream);
        assert!(seen.dropped());
        assert_eq!(trace.all(), ["finalizer"]);
        let kinds = log.kinds();
        let count = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
        assert_eq!((count("start"), count("end")), (1, 1));
        assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "end"));
        let end = log.end();
        assert_eq!(end.items, count("mark") as u64);
        // The record has upstream's error, or a worse ending, for every action of the consumer.
        assert!(!seen.failed() || end.ending.status() == "error", "{:?}", end.ending);
        assert!(
            end.faults.iter().all(|fault| fault.who != Component::ErrorHook),
            "{:?}",
            end.faults
        );
    }
}
