//! Guards around streams of text.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use jail_match::{End, Held, LimitError};
use stream_lifecycle::{Progress, TryItem};
use toolcall_parsers::{Event, OwnedEvent};

use crate::{
    guard::Guard,
    record::{limit_hit, withheld},
};

/// Guards a stream of text with `guard`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{Guard, OwnedEvent, guard_text, profile};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let chunks = ["<think>hm</thi", "nk>Hi."].map(Ok::<_, std::io::Error>);
/// let events: Vec<_> = guard_text(tokio_stream::iter(chunks), guard).collect().await;
/// assert!(matches!(&events[0], Ok(OwnedEvent::Reasoning(text)) if text == "hm"));
/// assert!(matches!(&events[1], Ok(OwnedEvent::Content(text)) if text == "Hi."));
/// # Ok(())
/// # })
/// # }
/// ```
pub fn guard_text<S, T, E>(inner: S, guard: Guard) -> Guarded<S>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<str>,
{
    Guarded::new(inner, guard)
}

/// A machine that a stream adapter can drive: it reads text and reports events.
pub trait Stage {
    /// Feeds the next piece.
    ///
    /// # Errors
    /// Only if a limit with the error policy is hit.
    fn push(&mut self, chunk: &str, on: impl FnMut(Event<'_>)) -> Result<(), LimitError>;

    /// Ends the message.
    ///
    /// # Errors
    /// As [`Stage::push`].
    fn finish(&mut self, end: End, on: impl FnMut(Event<'_>)) -> Result<(), LimitError>;

    /// Returns the held bytes and the reason why they are held.
    fn held(&self) -> Held;

    /// Whether the message is over, so that further text is ignored.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns the limit that ended the message without an error.
    fn ended_by(&self) -> Option<LimitError> {
        None
    }
}

impl Stage for Guard {
    fn push(&mut self, chunk: &str, mut on: impl FnMut(Event<'_>)) -> Result<(), LimitError> {
        self.push(chunk, &mut on)
    }

    fn finish(&mut self, end: End, mut on: impl FnMut(Event<'_>)) -> Result<(), LimitError> {
        self.finish(end, &mut on)
    }

    fn held(&self) -> Held {
        self.held()
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn ended_by(&self) -> Option<LimitError> {
        self.ended_by()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Open,
    /// Upstream has ended. The queue may still hold events.
    Ended,
}

pin_project_lite::pin_project! {
    /// A guarded stream of text, which yields typed events.
    ///
    /// Created by [`guard_text`]. Every event of a chunk is yielded before upstream is polled
    /// again. After an upstream error the stream yields held text (an open call ends as
    /// incomplete), then the error, then ends. The stream is fused, and `Unpin` if the inner stream
    /// is.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Guarded<S: TryItem, M = Guard> {
        #[pin]
        inner: S,
        machine: M,
        queue: VecDeque<Result<OwnedEvent, S::Error>>,
        state: StreamState,
        limit: Option<LimitError>,
    }
}

impl<S: TryItem, M> Guarded<S, M> {
    pub(crate) fn new(inner: S, machine: M) -> Self {
        Self { inner, machine, queue: VecDeque::new(), state: StreamState::Open, limit: None }
    }

    /// Returns the machine, which has counters and reports held text.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the limit that ended the stream early, if one with the error policy was hit.
    pub fn limit_hit(&self) -> Option<LimitError> {
        self.limit
    }

    /// Returns the progress of the stream: held bytes, events waiting to be fetched, and the limit
    /// that ended the stream, if any.
    pub fn progress(&self) -> Progress
    where
        M: Stage,
    {
        let withheld = withheld(self.machine.held()).items(self.queue.len());
        let limit = self.limit.or_else(|| self.machine.ended_by());
        Progress::new(withheld, limit.map(limit_hit))
    }

    /// Returns the inner stream.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, T, E, M> Stream for Guarded<S, M>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<str>,
    M: Stage,
{
    type Item = Result<OwnedEvent, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(event) = this.queue.pop_front() {
                return Poll::Ready(Some(event));
            }
            if *this.state == StreamState::Ended {
                return Poll::Ready(None);
            }
            let queue = &mut *this.queue;
            let on = |event: Event<'_>| enqueue(queue, event);
            match ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => {
                    *this.limit = this.machine.push(chunk.as_ref(), on).err();
                    if this.limit.is_some() || this.machine.is_over() {
                        *this.state = StreamState::Ended;
                    }
                }
                Some(Err(error)) => {
                    *this.limit = this.machine.finish(End::Aborted, on).err();
                    this.queue.push_back(Err(error));
                    *this.state = StreamState::Ended;
                }
                None => {
                    *this.limit = this.machine.finish(End::Stop, on).err();
                    *this.state = StreamState::Ended;
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let queued = self.queue.len();
        (queued, (self.state == StreamState::Ended).then_some(queued))
    }
}

impl<S, T, E, M> FusedStream for Guarded<S, M>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<str>,
    M: Stage,
{
    fn is_terminated(&self) -> bool {
        self.state == StreamState::Ended && self.queue.is_empty()
    }
}

/// Queues an event, or appends it to the previous event if both are pieces of one text.
fn enqueue<E>(queue: &mut VecDeque<Result<OwnedEvent, E>>, event: Event<'_>) {
    match (queue.back_mut(), event) {
        (Some(Ok(OwnedEvent::Content(text))), Event::Content(more))
        | (Some(Ok(OwnedEvent::Reasoning(text))), Event::Reasoning(more)) => text.push_str(more),
        (
            Some(Ok(OwnedEvent::CallArguments { index, fragment })),
            Event::CallArguments { index: same, fragment: more },
        ) if *index == same => fragment.push_str(more),
        (_, event) => queue.push_back(Ok(event.to_owned())),
    }
}
