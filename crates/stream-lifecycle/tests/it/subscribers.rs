//! Subscribers: fixed at the start, called inline or through a bounded queue, on many threads.

use std::{
    future::Future,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use futures_core::Stream;
use stream_lifecycle::{Inbox, Lifecycle, LifecycleEvent, Overflow, Queue, TextCollector};

use crate::support::{Broken, Log, Trace, drain, items, next};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();
const MANY: NonZeroUsize = NonZeroUsize::new(64).unwrap();

fn record_to(queue: &Queue, id: &str) -> Lifecycle<String, Broken> {
    Lifecycle::new(id).subscriber(Arc::new(queue.clone()))
}

/// Rejects calls with these ids. Each sends one event.
fn reject(queue: &Queue, ids: impl IntoIterator<Item = &'static str>) {
    ids.into_iter().for_each(|id| record_to(queue, id).reject("no"));
}

fn ids(inbox: &mut Inbox) -> Vec<String> {
    std::iter::from_fn(|| inbox.take()).map(|event| event.call().id.clone()).collect()
}

// Contract: S4.18.
#[test]
fn subscribers_receive_events_in_registration_order() {
    let trace = Trace::default();
    let named = |name: &'static str| {
        let trace = trace.clone();
        Arc::new(move |event: &Arc<LifecycleEvent>| {
            trace.note(format!("{name} {}", event.end().map_or("start", |_| "end")));
        })
    };
    let stream =
        Lifecycle::<String, Broken>::new("a").subscriber(named("one")).subscriber(named("two"));
    drain(stream.wrap(items([])));
    assert_eq!(trace.all(), ["one start", "two start", "one end", "two end"]);
}

// Contract: S4.18.
#[test]
fn full_queue_drops_events_by_policy_and_counts_them() {
    let (queue, mut inbox) = Queue::bounded(TWO, Overflow::DropOldest);
    reject(&queue, ["a", "b", "c", "d"]);
    assert_eq!((queue.lost(), ids(&mut inbox)), (2, vec!["c".to_owned(), "d".to_owned()]));

    let (queue, mut inbox) = Queue::bounded(TWO, Overflow::DropNewest);
    reject(&queue, ["a", "b", "c", "d"]);
    assert_eq!((queue.lost(), ids(&mut inbox)), (2, vec!["a".to_owned(), "b".to_owned()]));
    // The queue has room again, and the next event is kept.
    reject(&queue, ["e"]);
    assert_eq!((queue.lost(), ids(&mut inbox)), (2, vec!["e".to_owned()]));
}

// Contract: S4.18.
#[test]
fn blocking_queue_waits_and_drops_nothing() {
    let (queue, mut inbox) = Queue::bounded(NonZeroUsize::MIN, Overflow::Block);
    let sender = thread::spawn(move || {
        reject(&queue, ["a", "b", "c"]);
        queue.lost()
    });
    let mut seen = Vec::new();
    while let Some(event) = inbox.wait() {
        seen.push(event.call().id.clone());
    }
    assert_eq!((sender.join().unwrap(), seen.join("")), (0, "abc".to_owned()));
}

// Contract: S4.18.
#[test]
fn queue_without_a_receiver_does_not_block() {
    let (queue, inbox) = Queue::bounded(NonZeroUsize::MIN, Overflow::Block);
    reject(&queue, ["a"]);
    drop(inbox);
    reject(&queue, ["b", "c"]);
    queue.flush_blocking();
    assert_eq!(queue.lost(), 3);
}

// Contract: S4.18.
#[test]
fn receiver_is_a_stream_that_ends_with_its_senders() {
    struct Woken(AtomicUsize);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (queue, inbox) = Queue::bounded(MANY, Overflow::DropNewest);
    let mut inbox = Box::pin(inbox);
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&woken));
    let cx = &mut Context::from_waker(&waker);
    assert!(inbox.as_mut().poll_next(cx).is_pending());
    assert_eq!(woken.0.load(Ordering::SeqCst), 0, "nothing woke it yet");
    reject(&queue, ["a"]);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    let Poll::Ready(Some(event)) = inbox.as_mut().poll_next(cx) else { panic!("nothing") };
    assert_eq!(event.call().id, "a");
    assert!(inbox.as_mut().poll_next(cx).is_pending());
    drop(queue);
    assert_eq!(woken.0.load(Ordering::SeqCst), 2);
    assert!(matches!(inbox.as_mut().poll_next(cx), Poll::Ready(None)));
}

// Contract: S4.19.
#[test]
fn flush_waits_for_the_end_of_a_dropped_stream() {
    let (queue, mut inbox) = Queue::bounded(MANY, Overflow::DropNewest);
    let log = Trace::default();
    let sink = log.clone();
    let (ready, started) = mpsc::channel();
    let worker = thread::spawn(move || {
        ready.send(()).unwrap();
        while let Some(event) = inbox.wait() {
            // Without the flush, the slow subscriber would miss the END below.
            thread::sleep(Duration::from_millis(20));
            sink.note(event.end().map_or("start", |end| end.ending.name()));
        }
    });
    started.recv().unwrap();
    let mut stream = Box::pin(record_to(&queue, "a").wrap(items(["x", "y"])));
    next(&mut stream);
    drop(stream);
    queue.flush_blocking();
    assert_eq!(log.all(), ["start", "dropped"]);
    drop(queue);
    worker.join().unwrap();
}

// Contract: S4.19.
#[test]
fn flush_is_ready_when_earlier_events_are_delivered() {
    let (queue, mut inbox) = Queue::bounded(TWO, Overflow::DropNewest);
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(Box::pin(queue.flush()).as_mut().poll(cx).is_ready(), "nothing to wait for");
    reject(&queue, ["a", "b"]);
    let mut flush = Box::pin(queue.flush());
    assert!(flush.as_mut().poll(cx).is_pending());
    // Events sent or dropped later do not count.
    reject(&queue, ["lost", "lost"]);
    assert!(flush.as_mut().poll(cx).is_pending());
    inbox.take();
    inbox.take();
    assert!(flush.as_mut().poll(cx).is_pending(), "the receiver still works on the second");
    reject(&queue, ["c"]);
    inbox.take();
    assert!(flush.as_mut().poll(cx).is_ready());
    let mut abandoned = Box::pin(queue.flush());
    assert!(abandoned.as_mut().poll(cx).is_pending());
    drop(inbox);
    assert!(abandoned.as_mut().poll(cx).is_ready());
}

// Contract: S4.18, S4.19.
#[test]
fn every_event_is_delivered_or_counted_under_every_policy() {
    const SENDERS: usize = 4;
    const EACH: usize = 200;
    for overflow in [Overflow::Block, Overflow::DropOldest, Overflow::DropNewest] {
        let (queue, mut inbox) = Queue::bounded(TWO, overflow);
        let worker = thread::spawn(move || std::iter::from_fn(|| inbox.wait()).count() as u64);
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || {
                    for n in 0..EACH {
                        reject(&queue, ["a"]);
                        // A flush among events of other threads returns too.
                        if n % 50 == 0 {
                            queue.flush_blocking();
                        }
                    }
                })
            })
            .collect();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        let probe = queue.lost();
        drop(queue);
        let delivered = worker.join().unwrap();
        assert_eq!(delivered + probe, (SENDERS * EACH) as u64, "{overflow:?}");
        assert!(overflow != Overflow::Block || probe == 0);
    }
}

// Contract: S4.25.
#[test]
fn streams_on_many_threads_end_once_each() {
    let log = Log::default();
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let record = Lifecycle::<String, Broken>::new(format!("call-{n}"))
                .subscriber(log.subscriber())
                .collect_with(TextCollector::default());
            // Streams are built and polled on different threads, and every second one is dropped on
            // a third.
            let stream = record.wrap(items(["a", "b", "c"]));
            thread::spawn(move || {
                let mut stream = Box::pin(stream);
                next(&mut stream);
                if n % 2 == 0 {
                    drain(stream);
                } else {
                    thread::spawn(move || drop(stream)).join().unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let mut ends: Vec<_> = log
        .ends()
        .into_iter()
        .map(|end| (end.call.id.clone(), end.ending.name(), end.data.unwrap()))
        .collect();
    ends.sort_by(|a, b| a.0.cmp(&b.0));
    let expected: Vec<_> = (0..8)
        .map(|n| match n % 2 {
            0 => (format!("call-{n}"), "complete", "abc".into()),
            _ => (format!("call-{n}"), "dropped", "a".into()),
        })
        .collect();
    assert_eq!(ends, expected);
}

// Contract: S4.19.
#[test]
fn flush_is_woken_when_its_events_are_dropped() {
    struct Woken(AtomicUsize);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (queue, _inbox) = Queue::bounded(NonZeroUsize::MIN, Overflow::DropOldest);
    reject(&queue, ["a"]);
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut flush = Box::pin(queue.flush());
    assert!(flush.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // The new event replaces the only event the flush waits for.
    reject(&queue, ["b"]);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(flush.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    assert_eq!(queue.lost(), 1);
}

/// Returns the waiting events: a mark as its index, any other as `None`.
fn waiting(inbox: &mut Inbox) -> Vec<Option<u64>> {
    let index = |event: Arc<LifecycleEvent>| match &*event {
        LifecycleEvent::Mark(mark) => Some(mark.index),
        _ => None,
    };
    std::iter::from_fn(|| inbox.take()).map(index).collect()
}

#[test]
fn marks_are_received_in_order() {
    let (queue, mut inbox) = Queue::bounded(MANY, Overflow::DropNewest);
    let record =
        record_to(&queue, "a").marks(stream_lifecycle::Marks::Every(1.try_into().unwrap()));
    drain(record.wrap(items(["x", "y"])));
    assert_eq!(waiting(&mut inbox), [None, Some(0), Some(1), None]);
}

#[test]
fn newest_or_oldest_mark_is_dropped_by_policy() {
    for (overflow, kept) in [(Overflow::DropNewest, 0), (Overflow::DropOldest, 1)] {
        let (queue, mut inbox) = Queue::bounded(TWO, overflow);
        let record =
            record_to(&queue, "a").marks(stream_lifecycle::Marks::Every(1.try_into().unwrap()));
        let mut stream = Box::pin(record.wrap(items(["x", "y"])));
        next(&mut stream);
        next(&mut stream);
        assert_eq!(waiting(&mut inbox), [None, Some(kept)], "{overflow:?}");
    }
}

// Contract: S4.18.
#[test]
fn marks_are_dropped_first_and_never_replace_an_end() {
    let run = |overflow| {
        let (queue, mut inbox) = Queue::bounded(TWO, overflow);
        let record =
            record_to(&queue, "a").marks(stream_lifecycle::Marks::Every(1.try_into().unwrap()));
        drain(record.wrap(items(["x"; 5])));
        // The queue is full of START and END: a mark is dropped, another event is not.
        let other =
            record_to(&queue, "b").marks(stream_lifecycle::Marks::Every(1.try_into().unwrap()));
        let kinds: Vec<_> = std::iter::from_fn(|| inbox.take())
            .map(|event| match *event {
                LifecycleEvent::Start(_) => "start",
                LifecycleEvent::Mark(_) => "mark",
                LifecycleEvent::End(_) => "end",
                _ => "other",
            })
            .collect();
        let mut stream = Box::pin(other.wrap(items(["x"; 5])));
        reject(&queue, ["c"]);
        next(&mut stream);
        let left: Vec<_> = std::iter::from_fn(|| inbox.take())
            .map(|event| (event.call().id.clone(), matches!(*event, LifecycleEvent::Mark(_))))
            .collect();
        (kinds, left, queue.lost())
    };
    for overflow in [Overflow::DropOldest, Overflow::DropNewest] {
        let (kinds, left, lost) = run(overflow);
        assert_eq!(kinds, ["start", "end"], "{overflow:?}");
        assert_eq!(left, [("b".to_owned(), false), ("c".to_owned(), false)], "{overflow:?}");
        assert_eq!(lost, 6, "{overflow:?}");
    }
}
