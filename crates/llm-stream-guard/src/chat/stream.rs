//! A chat guard around a stream.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use jail_match::End;

use crate::chat::{
    annotate::{Annotations, Annotator},
    annotated::{ChatItem, FailureItem, Opened},
    error::{ChatError, Failures},
    guard::ChatGuard,
    keep_alive::Ticking,
    model::chunk::Chunk,
    note::{ChatNote, ChatSink, OnNote},
    step::ChatStep,
};

/// Guards a stream of chat-completion chunks with `guard`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{Guard, chat::{ChatGuard, ChatOptions, guard_chunks}, profile};
/// use serde_json::{Value, json};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let chunks = ["<think>hm</thi", "nk>Hi."].map(|text| {
///     json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]})
/// });
/// let guard = ChatGuard::new(guard, ChatOptions::default());
/// let clean: Vec<Value> = guard_chunks(tokio_stream::iter(chunks), guard).collect().await;
/// assert_eq!(clean[0]["choices"][0]["delta"]["reasoning_content"], "hm");
/// assert_eq!(clean[1]["choices"][0]["delta"]["content"], "Hi.");
/// # Ok(())
/// # })
/// # }
/// ```
pub fn guard_chunks<S>(inner: S, guard: ChatGuard) -> ChatStream<S>
where
    S: Stream<Item: ChatItem>,
{
    ChatStream {
        inner: Some(inner),
        guard,
        annotator: Annotator::default(),
        queue: VecDeque::new(),
        error: None,
        failure: None,
        on_note: OnNote::default(),
    }
}

pin_project_lite::pin_project! {
    /// A guarded stream of chat-completion chunks.
    ///
    /// Created by [`guard_chunks`]. All chunks made of an item are yielded before upstream is
    /// polled again. Items without a chunk are forwarded at once. After an upstream error the
    /// stream yields held text, then the error, then ends; no call begins and no finish reason is
    /// added. An upstream that ends without a finish reason was cut: held text is yielded, and
    /// [`ChatStream::error`] returns [`ChatError::Unfinished`]. Upstream is dropped as soon as the
    /// stream is over. No item is lost if the future of a poll is dropped. The stream is fused, and
    /// `Unpin` if the inner stream is.
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct ChatStream<S: Stream> {
        #[pin]
        inner: Option<S>,
        guard: ChatGuard,
        annotator: Annotator,
        queue: VecDeque<S::Item>,
        error: Option<ChatError>,
        failure: Option<fn(&str) -> S::Item>,
        on_note: OnNote,
    }
}

struct CollectItems<'c> {
    out: &'c mut Vec<(Chunk, u64)>,
    on_note: &'c mut OnNote,
}

impl ChatSink for CollectItems<'_> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, origin| self.out.push((chunk, origin)));
    }

    fn note(&mut self, note: ChatNote) {
        self.on_note.call(note);
    }
}

impl<S: Stream> ChatStream<S> {
    /// Sets the policy for annotations of withheld chunks.
    pub fn annotations(mut self, mode: Annotations) -> Self {
        self.annotator.mode = mode;
        self
    }

    /// Calls `on_note` with every note.
    pub fn on_note(mut self, on_note: impl FnMut(ChatNote) + Send + 'static) -> Self {
        self.on_note = OnNote(Some(Box::new(on_note)));
        self
    }

    /// Sets the policy for limits and cuts that end the stream early. Errors of upstream are always
    /// separate items.
    pub fn failures(mut self, failures: Failures) -> Self
    where
        S::Item: FailureItem,
    {
        self.failure = (failures == Failures::Written).then_some(S::Item::failure);
        self
    }

    /// Returns the guard, whose methods report held text.
    pub fn guard(&self) -> &ChatGuard {
        &self.guard
    }

    /// Returns the error that ended the stream early: a limit was hit, or upstream was cut.
    pub fn error(&self) -> Option<ChatError> {
        self.error
    }

    /// Returns the number of items that are ready to be read.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Returns the inner stream, unless this one has ended and dropped it.
    pub fn into_inner(self) -> Option<S> {
        self.inner
    }
}

/// Returns the item that reports the error which ended the stream, if errors are written.
fn told<I>(error: Option<ChatError>, failure: Option<fn(&str) -> I>) -> Option<I> {
    Some(failure?(&error?.to_string()))
}

impl<S> Stream for ChatStream<S>
where
    S: Stream<Item: ChatItem>,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(item) = this.queue.pop_front() {
                return Poll::Ready(Some(item));
            }
            let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
            let sink = &mut CollectItems { out: &mut this.annotator.out, on_note: this.on_note };
            let (result, last) = match ready!(inner.poll_next(cx)).map(ChatItem::open) {
                Some(Opened::Pass(item)) => return Poll::Ready(Some(item)),
                Some(Opened::Chunk(chunk, annotation)) => {
                    let result = this.guard.push(chunk, sink);
                    this.annotator.deliver(annotation, this.guard, this.queue);
                    if result.is_ok() {
                        continue;
                    }
                    (result, None)
                }
                Some(Opened::Error(item)) => (this.guard.finish(End::Aborted, sink), Some(item)),
                None => (this.guard.end(sink), None),
            };
            this.inner.set(None);
            *this.error = result.err();
            this.annotator.last(this.queue);
            this.queue.extend(last.or_else(|| told(*this.error, *this.failure)));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let queued = self.queue.len();
        (queued, self.inner.is_none().then_some(queued))
    }
}

impl<S> FusedStream for ChatStream<S>
where
    S: Stream<Item: ChatItem>,
{
    fn is_terminated(&self) -> bool {
        self.inner.is_none() && self.queue.is_empty()
    }
}

impl<S> Ticking for ChatStream<S>
where
    S: Stream<Item: ChatItem>,
{
    fn tick(self: Pin<&mut Self>) {
        let mut this = self.project();
        if this.inner.is_none() {
            return;
        }
        let sink = &mut CollectItems { out: &mut this.annotator.out, on_note: this.on_note };
        if let Err(error) = this.guard.tick(sink) {
            this.inner.set(None);
            *this.error = Some(error);
        }
        this.annotator.release(this.queue);
        this.queue.extend(told(*this.error, *this.failure));
    }

    fn chat_guard(&self) -> &ChatGuard {
        &self.guard
    }
}
