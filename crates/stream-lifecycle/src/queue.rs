//! A bounded queue between streams and a subscriber that takes its time.

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

/// What happens to an event that finds the queue full.
///
/// Marks make room for every other event, so that none pushes out an END: where something must
/// be lost, it is a mark as long as one is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// It waits, and the thread that polls or drops the stream with it. Only for receivers on
    /// a thread of their own.
    Block,
    /// The oldest event in the queue is lost, and counted: the oldest mark, if there is one. A
    /// mark that finds none is lost itself.
    DropOldest,
    /// It is lost, and counted; if it is no mark, the newest mark in the queue is lost in its
    /// place.
    DropNewest,
}

/// The streams' end of a queue of events: a [`Subscriber`], for any number of streams.
///
/// Locks are held for a push or a pop, never while anybody's code runs.
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

/// The subscriber's end of a queue: waits for events, or is a stream of them.
///
/// An event counts as delivered when its receiver comes back for the next one, or is dropped.
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
    /// What waits, numbered as it came, marks apart.
    marks: Numbered,
    others: Numbered,
    /// The number of the next one.
    next: u64,
    /// The one the receiver works on.
    out: Option<u64>,
    lost: u64,
    senders: usize,
    closed: bool,
    receiver: Option<Waker>,
    flushers: Vec<Waker>,
}

impl State {
    /// The number below which every event is delivered or lost.
    fn settled(&self) -> u64 {
        let first = |events: &Numbered| events.front().map(|(number, _)| *number);
        let waiting = first(&self.marks).into_iter().chain(first(&self.others)).min();
        self.out.or(waiting).unwrap_or(self.next)
    }

    fn waiting(&self) -> usize {
        self.marks.len() + self.others.len()
    }

    /// Takes the oldest.
    fn pop(&mut self) -> Option<(u64, Arc<LifecycleEvent>)> {
        let mark = match (self.marks.front(), self.others.front()) {
            (Some((mark, _)), Some((other, _))) => mark < other,
            (mark, _) => mark.is_some(),
        };
        if mark { self.marks.pop_front() } else { self.others.pop_front() }
    }

    /// Loses an event to make room, unless that would have to be the new one.
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

    /// Something came, or nothing will: tells the receiver.
    fn tell_receiver(&self, mut state: MutexGuard<'_, State>) {
        let receiver = state.receiver.take();
        drop(state);
        self.changed.notify_all();
        receiver.into_iter().for_each(Waker::wake);
    }

    /// Something was delivered or lost: tells who flushes, and who waits for room.
    fn tell_senders(&self, mut state: MutexGuard<'_, State>) {
        let flushers = std::mem::take(&mut state.flushers);
        drop(state);
        self.changed.notify_all();
        flushers.into_iter().for_each(Waker::wake);
    }
}

impl Queue {
    /// A queue that holds at most `capacity` events.
    #[must_use]
    pub fn bounded(capacity: NonZeroUsize, overflow: Overflow) -> (Self, Inbox) {
        let state = Mutex::new(State { senders: 1, ..State::default() });
        let capacity = capacity.get();
        let shared = Arc::new(Shared { state, changed: Condvar::new(), capacity, overflow });
        (Self { shared: Arc::clone(&shared) }, Inbox { shared })
    }

    /// How many events were lost: to the policy, or because the receiver is gone.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.shared.lock().lost
    }

    /// Waits until every event that was sent before this call is delivered or lost; that
    /// includes the END of streams dropped before.
    #[must_use = "futures do nothing unless polled"]
    pub fn flush(&self) -> Flush {
        let shared = Arc::clone(&self.shared);
        let upto = shared.lock().next;
        Flush { shared, upto }
    }

    /// As [`Queue::flush`], holding up the thread. Only for receivers on another one.
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
        // Somebody may be waiting for what was lost.
        let flushers = if lost { std::mem::take(&mut state.flushers) } else { Vec::new() };
        self.shared.tell_receiver(state);
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
            self.shared.tell_receiver(state);
        }
    }
}

impl Inbox {
    /// The next event, if there is one already.
    pub fn take(&mut self) -> Option<Arc<LifecycleEvent>> {
        self.pop(self.shared.lock())
    }

    /// Waits for the next event; `None` when every [`Queue`] of it is gone.
    pub fn wait(&mut self) -> Option<Arc<LifecycleEvent>> {
        // Whoever flushes must hear that the one before is done before this waits.
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
        self.shared.tell_senders(state);
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
        self.shared.tell_senders(state);
        drop(left);
    }
}

/// Waits for a [`Queue`] to deliver what it has.
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
