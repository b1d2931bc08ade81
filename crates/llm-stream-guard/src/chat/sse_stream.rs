//! An event stream of chat chunks around a stream of bytes.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use jail_match::End;
use stream_lifecycle::TryItem;

use super::sse::{ChatSse, ChatSseError};
/// Puts `machine` around the bytes of an event stream, as an HTTP body gives them.
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
    SseStream { inner, machine, ended: false, last: None, error: None }
}

pin_project_lite::pin_project! {
    /// A guarded event stream: yields bytes, whole events at a time.
    ///
    /// Made by [`guard_sse`]. Behind an upstream error comes what was held, then the error, then
    /// nothing. Fused. `Unpin` if the inner stream is.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct SseStream<S: TryItem> {
        #[pin]
        inner: S,
        machine: ChatSse,
        ended: bool,
        last: Option<S::Error>,
        error: Option<ChatSseError>,
    }
}

impl<S: TryItem> SseStream<S> {
    /// The machine, for what it holds.
    pub fn machine(&self) -> &ChatSse {
        &self.machine
    }

    /// The error that ended the stream early, if a limit was hit.
    pub fn error(&self) -> Option<ChatSseError> {
        self.error
    }

    /// The inner stream.
    pub fn into_inner(self) -> S {
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
        let mut out = Vec::new();
        while out.is_empty() {
            if *this.ended {
                return Poll::Ready(this.last.take().map(Err));
            }
            let result = match ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(bytes)) => {
                    let result = this.machine.push(bytes.as_ref(), &mut out);
                    *this.ended = result.is_err();
                    result
                }
                end => {
                    *this.ended = true;
                    *this.last = end.and_then(Result::err);
                    let how = if this.last.is_some() { End::Aborted } else { End::Stop };
                    this.machine.finish(how, &mut out)
                }
            };
            *this.error = result.err();
        }
        Poll::Ready(Some(Ok(out)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.last.is_some());
        (left, self.ended.then_some(left))
    }
}

impl<S, B, E> FusedStream for SseStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn is_terminated(&self) -> bool {
        self.ended && self.last.is_none()
    }
}
