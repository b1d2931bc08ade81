//! Signs of life while everything is withheld.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use super::{annotated::ChatItem, stream::ChatStream};

pin_project_lite::pin_project! {
    /// A guarded stream that gives signs of life.
    ///
    /// Made by [`ChatStream::keep_alive`]. Fused.
    #[must_use = "streams do nothing unless polled"]
    pub struct KeepAlive<S: Stream, K, F> {
        #[pin]
        inner: ChatStream<S>,
        #[pin]
        ticks: K,
        item: F,
        // The ticks ended: a stream that did must not be polled again.
        silent: bool,
        // An item came since the last tick.
        lively: bool,
    }
}

impl<S> ChatStream<S>
where
    S: Stream<Item: ChatItem>,
{
    /// Yields an item made by `item` whenever `ticks` yields, text is withheld and nothing came
    /// out since the tick before. Jails that have been open for too long end with a tick, too
    /// ([`crate::Jailer::time_limit`]). The clock is the caller's: an interval of some runtime.
    pub fn keep_alive<K, F>(self, ticks: K, item: F) -> KeepAlive<S, K, F>
    where
        K: Stream,
        F: FnMut() -> S::Item,
    {
        KeepAlive { inner: self, ticks, item, silent: false, lively: false }
    }
}

impl<S, K, F> Stream for KeepAlive<S, K, F>
where
    S: Stream<Item: ChatItem>,
    K: Stream,
    F: FnMut() -> S::Item,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if let Poll::Ready(item) = this.inner.as_mut().poll_next(cx) {
            *this.lively = true;
            return Poll::Ready(item);
        }
        if *this.silent {
            return Poll::Pending;
        }
        match this.ticks.as_mut().poll_next(cx) {
            Poll::Pending => {}
            Poll::Ready(None) => *this.silent = true,
            Poll::Ready(Some(_)) => {
                this.inner.as_mut().tick();
                let quiet = !std::mem::replace(this.lively, false);
                if quiet && this.inner.guard().is_withholding() {
                    return Poll::Ready(Some((this.item)()));
                }
                // Not polled again here: ticks that are always ready must not block the task.
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<S, K, F> FusedStream for KeepAlive<S, K, F>
where
    S: Stream<Item: ChatItem>,
    K: Stream,
    F: FnMut() -> S::Item,
{
    fn is_terminated(&self) -> bool {
        self.inner.is_terminated()
    }
}
