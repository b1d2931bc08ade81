//! Helpers that the tests share: scripted upstreams, a log of events, a manual clock.

use std::{
    collections::VecDeque,
    marker::PhantomPinned,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime},
};

use futures_core::Stream;
use serde_json::{Value, json};
use stream_lifecycle::{
    Clock, EndEvent, FinishInfo, Lifecycle, LifecycleEvent, Subscriber, TextCollector,
};

/// The error of these streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);

/// A step of an upstream when it is polled.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    Item(&'static str),
    Fail(&'static str),
    Wait,
    Panic(&'static str),
}

/// Observed state of an upstream.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    polls: AtomicU64,
    failed: AtomicBool,
    dropped: AtomicBool,
}

impl Seen {
    pub(crate) fn polls(&self) -> u64 {
        self.polls.load(Ordering::SeqCst)
    }

    /// Returns whether the upstream yielded an error.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    pub(crate) fn dropped(&self) -> bool {
        self.dropped.load(Ordering::SeqCst)
    }
}

/// A value that records the drop of its owner.
struct OnDrop(Arc<Seen>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.dropped.store(true, Ordering::SeqCst);
    }
}

pin_project_lite::pin_project! {
    /// An upstream that follows a script, then ends. It is not `Unpin`, and must not be polled
    /// after its end.
    pub(crate) struct Upstream {
        script: VecDeque<Does>,
        ended: bool,
        on_drop: OnDrop,
        #[pin]
        pinned: PhantomPinned,
    }
}

pub(crate) fn upstream(script: impl IntoIterator<Item = Does>) -> Upstream {
    Upstream {
        script: script.into_iter().collect(),
        ended: false,
        on_drop: OnDrop(Arc::default()),
        pinned: PhantomPinned,
    }
}

pub(crate) fn items(texts: impl IntoIterator<Item = &'static str>) -> Upstream {
    upstream(texts.into_iter().map(Does::Item))
}

impl Upstream {
    pub(crate) fn seen(&self) -> Arc<Seen> {
        Arc::clone(&self.on_drop.0)
    }
}

impl Stream for Upstream {
    type Item = Result<String, Broken>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        assert!(!*this.ended, "polled behind the end");
        this.on_drop.0.polls.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(match this.script.pop_front() {
            Some(Does::Item(text)) => Some(Ok(text.to_owned())),
            Some(Does::Fail(what)) => {
                this.on_drop.0.failed.store(true, Ordering::SeqCst);
                Some(Err(Broken(what)))
            }
            Some(Does::Panic(what)) => std::panic::panic_any(what),
            Some(Does::Wait) => {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            None => {
                *this.ended = true;
                None
            }
        })
    }
}

/// Polls the stream once.
pub(crate) fn poll<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Poll<Option<S::Item>> {
    stream.as_mut().poll_next(&mut Context::from_waker(Waker::noop()))
}

/// Polls the stream until it is ready.
pub(crate) fn next<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    loop {
        if let Poll::Ready(item) = poll(stream) {
            return item;
        }
    }
}

/// Drains the stream and checks that polling again yields nothing.
pub(crate) fn drain<S: Stream>(stream: S) -> Vec<S::Item> {
    let mut stream = Box::pin(stream);
    let all: Vec<_> = std::iter::from_fn(|| next(&mut stream)).collect();
    assert!(matches!(poll(&mut stream), Poll::Ready(None)), "not fused");
    all
}

/// A record of notes in order, from any thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub(crate) fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the number of notes that equal `what`.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.all().iter().filter(|one| *one == what).count()
    }
}

/// A subscriber that keeps every event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Arc<LifecycleEvent>>>>);

impl Log {
    pub(crate) fn subscriber(&self) -> Arc<dyn Subscriber> {
        let log = self.clone();
        Arc::new(move |event: &Arc<LifecycleEvent>| {
            log.0.lock().unwrap().push(Arc::clone(event));
        })
    }

    pub(crate) fn all(&self) -> Vec<Arc<LifecycleEvent>> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn ends(&self) -> Vec<EndEvent> {
        self.all().iter().filter_map(|event| event.end().cloned()).collect()
    }

    /// Returns the only END event.
    #[track_caller]
    pub(crate) fn end(&self) -> EndEvent {
        let mut ends = self.ends();
        assert_eq!(ends.len(), 1, "{:?}", self.all());
        ends.remove(0)
    }

    /// Returns the kinds of the events in order: `start`, `mark`, `end`, `rejected`.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let kind = |event: &Arc<LifecycleEvent>| match **event {
            LifecycleEvent::Start(_) => "start",
            LifecycleEvent::Mark(_) => "mark",
            LifecycleEvent::End(_) => "end",
            LifecycleEvent::Rejected(_) => "rejected",
            _ => "unknown",
        };
        self.all().iter().map(kind).collect()
    }
}

/// Returns a record over text whose events go to `log`.
pub(crate) fn record(log: &Log) -> Lifecycle<String, Broken> {
    Lifecycle::new("call-1").subscriber(log.subscriber())
}

/// Returns the same record, with a collector that joins the text.
pub(crate) fn recorded(log: &Log) -> Lifecycle<String, Broken> {
    record(log).collect_with(TextCollector::default())
}

/// Returns a finalizer that records its call and returns the number of items.
pub(crate) fn counting(trace: &Trace) -> impl FnOnce(FinishInfo<'_>) -> Value + Send + 'static {
    let trace = trace.clone();
    move |finish| {
        trace.note("finalizer");
        json!({"items": finish.items, "ending": finish.ending.name()})
    }
}

/// A clock that the test advances.
#[derive(Debug, Clone, Default)]
pub(crate) struct HandClock(Arc<AtomicU64>);

impl HandClock {
    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + self.now())
    }
}
