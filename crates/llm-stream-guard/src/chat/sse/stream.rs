//! A guarded event stream around a stream of bytes.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use jail_match::End;
use stream_lifecycle::TryItem;

use crate::chat::{
    guard::ChatGuard,
    keep_alive::Ticking,
    note::{ChatNote, OnNote},
    sse::{ChatSse, ChatSseError, SseSink},
};

/// Guards the bytes of an event stream, such as an HTTP body, with `machine`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{Guard, chat::{ChatGuard, ChatOptions, ChatSse, guard_sse}, profile};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let sse = ChatSse::new(ChatGuard::new(guard, ChatOptions::default()));
/// let body = [": ping\n", "\ndata: [DO", "NE]\n\n"].map(Ok::<_, std::io::Error>);
/// let clean: Vec<_> = guard_sse(tokio_stream::iter(body), sse).collect().await;
/// let clean: Result<Vec<_>, _> = clean.into_iter().collect();
/// assert_eq!(clean?.concat(), b": ping\n\ndata: [DONE]\n\n");
/// # Ok(())
/// # })
/// # }
/// ```
pub fn guard_sse<S, B, E>(inner: S, machine: ChatSse) -> SseStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    SseStream {
        inner: Some(inner),
        machine,
        out: Vec::new(),
        last: None,
        upstream: None,
        error: None,
        on_note: OnNote::default(),
    }
}

/// The error text for clients after an error of upstream. Upstream's own error may contain details
/// that clients should not see.
const BROKE: &str = "the upstream stream broke";

pin_project_lite::pin_project! {
    /// A guarded event stream of bytes, whole events at a time.
    ///
    /// Created by [`guard_sse`]. After an upstream error the stream yields held text, then the
    /// error, then ends. Bytes that end without a finish reason, `[DONE]` or an error were cut
    /// ([`SseStream::error`]). If errors are written ([`crate::chat::Failures::Written`]), the bytes
    /// report the error, and the stream keeps it. Upstream is dropped as soon as the stream is
    /// over. The stream is fused, and `Unpin` if the inner stream is.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct SseStream<S: TryItem> {
        #[pin]
        inner: Option<S>,
        machine: ChatSse,
        out: Vec<u8>,
        last: Option<S::Error>,
        upstream: Option<S::Error>,
        error: Option<ChatSseError>,
        on_note: OnNote,
    }
}

struct Out<'o> {
    bytes: &'o mut Vec<u8>,
    on_note: &'o mut OnNote,
}

impl SseSink for Out<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn note(&mut self, note: ChatNote) {
        self.on_note.call(note);
    }
}

impl<S: TryItem> SseStream<S> {
    /// Calls `on_note` with every note.
    pub fn on_note(mut self, on_note: impl FnMut(ChatNote) + Send + 'static) -> Self {
        self.on_note = OnNote(Some(Box::new(on_note)));
        self
    }

    /// Returns the machine, whose methods report held text.
    pub fn machine(&self) -> &ChatSse {
        &self.machine
    }

    /// Returns the error that ended the stream early: a limit was hit, or upstream was cut.
    pub fn error(&self) -> Option<ChatSseError> {
        self.error
    }

    /// Returns upstream's error if the bytes reported it.
    pub fn upstream_error(&self) -> Option<&S::Error> {
        self.upstream.as_ref()
    }

    /// Whether bytes are ready to be read.
    pub(in crate::chat) fn has_bytes(&self) -> bool {
        !self.out.is_empty()
    }

    /// Returns the inner stream, unless this one has ended and dropped it.
    pub fn into_inner(self) -> Option<S> {
        self.inner
    }
}

impl<S, B, E> Stream for SseStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Vec<u8>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if !this.out.is_empty() {
                return Poll::Ready(Some(Ok(std::mem::take(this.out))));
            }
            let Some(inner) = this.inner.as_mut().as_pin_mut() else {
                return Poll::Ready(this.last.take().map(Err));
            };
            let item = ready!(inner.poll_next(cx));
            let sink = &mut Out { bytes: this.out, on_note: this.on_note };
            let ended = !matches!(item, Some(Ok(_)));
            let result = match item {
                Some(Ok(bytes)) => this.machine.push(bytes.as_ref(), sink),
                Some(Err(error)) => {
                    match this.machine.writes_failures() {
                        true => *this.upstream = Some(error),
                        false => *this.last = Some(error),
                    }
                    this.machine.fail(BROKE, sink)
                }
                None => this.machine.finish(End::Stop, sink),
            };
            if ended || result.is_err() {
                this.inner.set(None);
            }
            *this.error = result.err();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = [self.last.is_some(), !self.out.is_empty()].map(usize::from).iter().sum();
        (left, self.inner.is_none().then_some(left))
    }
}

impl<S, B, E> Ticking for SseStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn tick(self: Pin<&mut Self>) {
        let mut this = self.project();
        if this.inner.is_none() {
            return;
        }
        if let Err(error) = this.machine.tick(&mut Out { bytes: this.out, on_note: this.on_note }) {
            *this.error = Some(error);
            this.inner.set(None);
        }
    }

    fn chat_guard(&self) -> &ChatGuard {
        self.machine.guard()
    }
}

impl<S, B, E> FusedStream for SseStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        self.inner.is_none() && self.out.is_empty() && self.last.is_none()
    }
}
