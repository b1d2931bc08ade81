//! A bounded queue between streams and a slow subscriber.

use std::{
    collections::VecDeque,
    fmt,
    future::Future,
    num::NonZeroUsize,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;

use crate::{event::LifecycleEvent, subscribe::Subscriber};

/// Treatment of an event when the queue is full.
///
/// Marks are dropped before other events, so that a mark never replaces an END.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The thread that polls or drops the stream waits for room. Only for receivers on another
    /// thread.
    Block,
    /// The oldest mark in the queue is dropped. If the queue has none, the oldest event is dropped,
    /// or the new event if it is a mark.
    DropOldest,
    /// The new event is dropped if it is a mark. Otherwise the newest mark in the queue is dropped,
    /// or the new event if the queue has none.
    DropNewest,
}

/// The sending end of a queue of events: a [`Subscriber`] for any number of streams.
///
/// Locks are held for one push or pop, never while user code runs.
///
/// ```
/// use std::{num::NonZeroUsize, sync::Arc};
/// use stream_lifecycle::{Lifecycle, Overflow, Queue};
/// let (queue, mut inbox) = Queue::bounded(NonZeroUsize::MIN, Overflow::DropOldest);
/// let worker = std::thread::spawn(move || {
///     let mut seen = 0;
///     while let Some(event) = inbox.wait() {
///         seen += usize::from(event.call().id == "call-1");
///     }
///     seen
/// });
/// Lifecycle::<String, std::io::Error>::new("call-1")
///     .subscriber(Arc::new(queue.clone()))
///     .reject("not today");
/// queue.flush_blocking();
/// drop(queue);
/// assert_eq!(worker.join().ok(), Some(1));
/// ```
pub struct Queue {
    shared: Arc<Shared>,
}

/// The receiving end of a queue, which can wait for events and is a stream of them.
///
/// An event counts as delivered when its receiver requests the next one, or is dropped.
pub struct Inbox {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    capacity: usize,
    overflow: Overflow,
}

type Numbered = VecDeque<(u64, Arc<LifecycleEvent>)>;

#[derive(Default)]
struct State {
    /// Waiting marks, numbered by arrival.
    marks: Numbered,
    others: Numbered,
    /// Number of the next event.
    next: u64,
    /// Number of the event that the receiver works on.
    out: Option<u64>,
    lost: u64,
    senders: usize,
    closed: bool,
    receiver: Option<Waker>,
    flushers: Vec<Waker>,
}

impl State {
    /// Returns the lowest number of an event that is neither delivered nor dropped.
    fn settled(&self) -> u64 {
        let first = |events: &Numbered| events.front().map(|(number, _)| *number);
        let waiting = first(&self.marks).into_iter().chain(first(&self.others)).min();
        self.out.or(waiting).unwrap_or(self.next)
    }

    fn waiting(&self) -> usize {
        self.marks.len() + self.others.len()
    }

    /// Takes the oldest event.
    fn pop(&mut self) -> Option<(u64, Arc<LifecycleEvent>)> {
        let mark = match (self.marks.front(), self.others.front()) {
            (Some((mark, _)), Some((other, _))) => mark < other,
            (mark, _) => mark.is_some(),
        };
        if mark { self.marks.pop_front() } else { self.others.pop_front() }
    }

    /// Drops an event to make room. Returns `false` if the new event must be dropped.
    fn make_room(&mut self, is_mark: bool, overflow: Overflow) -> bool {
        let lost = match overflow {
            Overflow::DropOldest if is_mark || !self.marks.is_empty() => self.marks.pop_front(),
            Overflow::DropOldest => self.others.pop_front(),
            _ if is_mark => None,
            _ => self.marks.pop_back(),
        };
        self.lost += 1;
        lost.is_some()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the receiver after an event arrived, or after the last sender was dropped.
    fn wake_receiver(&self, mut state: MutexGuard<'_, State>) {
        let receiver = state.receiver.take();
        drop(state);
        self.changed.notify_all();
        receiver.into_iter().for_each(Waker::wake);
    }

    /// Wakes flushers and waiting senders after an event was delivered or dropped.
    fn wake_senders(&self, mut state: MutexGuard<'_, State>) {
        let flushers = std::mem::take(&mut state.flushers);
        drop(state);
        self.changed.notify_all();
        flushers.into_iter().for_each(Waker::wake);
    }
}

impl Queue {
    /// Creates a queue of at most `capacity` events.
    #[must_use]
    pub fn bounded(capacity: NonZeroUsize, overflow: Overflow) -> (Self, Inbox) {
        let state = Mutex::new(State { senders: 1, ..State::default() });
        let capacity = capacity.get();
        let shared = Arc::new(Shared { state, changed: Condvar::new(), capacity, overflow });
        (Self { shared: Arc::clone(&shared) }, Inbox { shared })
    }

    /// Returns the number of events dropped by the policy, or because the receiver was dropped.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lock().lost
    }

    /// Waits until every event sent before this call is delivered or dropped. This includes END
    /// events of streams that were dropped before.
    #[must_use = "futures do nothing unless polled"]
    pub fn flush(&self) -> Flush {
        let shared = Arc::clone(&self.shared);
        let upto = shared.lock().next;
        Flush { shared, upto }
    }

    /// Blocks the thread until the events are delivered: see [`Queue::flush`]. Only for receivers
    /// on another thread.
    pub fn flush_blocking(&self) {
        let mut state = self.shared.lock();
        let upto = state.next;
        while state.settled() < upto && !state.closed {
            state = self.shared.wait(state);
        }
    }
}

impl Subscriber for Queue {
    fn receive(&self, event: &Arc<LifecycleEvent>) {
        let is_mark = matches!(**event, LifecycleEvent::Mark(_));
        let overflow = self.shared.overflow;
        let mut state = self.shared.lock();
        let mut lost = false;
        while state.waiting() >= self.shared.capacity && !state.closed {
            if overflow == Overflow::Block {
                state = self.shared.wait(state);
            } else if state.make_room(is_mark, overflow) {
                lost = true;
            } else {
                return;
            }
        }
        if state.closed {
            state.lost += 1;
            return;
        }
        let number = state.next;
        state.next += 1;
        let events = if is_mark { &mut state.marks } else { &mut state.others };
        events.push_back((number, Arc::clone(event)));
        // A flush may wait for the dropped event.
        let flushers = if lost { std::mem::take(&mut state.flushers) } else { Vec::new() };
        self.shared.wake_receiver(state);
        flushers.into_iter().for_each(Waker::wake);
    }
}

impl Clone for Queue {
    fn clone(&self) -> Self {
        self.shared.lock().senders += 1;
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.shared.wake_receiver(state);
        }
    }
}

impl Inbox {
    /// Returns the next event, if one waits.
    pub fn take(&mut self) -> Option<Arc<LifecycleEvent>> {
        self.pop(self.shared.lock())
    }

    /// Waits for the next event. Returns `None` after every sending [`Queue`] was dropped.
    pub fn wait(&mut self) -> Option<Arc<LifecycleEvent>> {
        // `take` reports the last event as delivered before this waits.
        self.take().or_else(|| {
            let mut state = self.shared.lock();
            while state.waiting() == 0 && state.senders > 0 {
                state = self.shared.wait(state);
            }
            self.pop(state)
        })
    }

    fn pop(&self, mut state: MutexGuard<'_, State>) -> Option<Arc<LifecycleEvent>> {
        let (number, event) = state.pop().unzip();
        state.out = number;
        self.shared.wake_senders(state);
        event
    }
}

impl Stream for Inbox {
    type Item = Arc<LifecycleEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.take() {
            return Poll::Ready(Some(event));
        }
        let mut state = self.shared.lock();
        if state.waiting() == 0 && state.senders > 0 {
            state.receiver = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(self.pop(state))
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.out = None;
        state.lost += state.waiting() as u64;
        let left = (std::mem::take(&mut state.marks), std::mem::take(&mut state.others));
        self.shared.wake_senders(state);
        drop(left);
    }
}

/// A future that waits for a [`Queue`] to deliver its events.
pub struct Flush {
    shared: Arc<Shared>,
    upto: u64,
}

impl Future for Flush {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        if state.settled() >= self.upto || state.closed {
            return Poll::Ready(());
        }
        if !state.flushers.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.flushers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { capacity, overflow, .. } = &*self.shared;
        f.debug_struct("Queue")
            .field("capacity", capacity)
            .field("overflow", overflow)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}

impl fmt::Debug for Flush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flush").field("upto", &self.upto).finish_non_exhaustive()
    }
}
