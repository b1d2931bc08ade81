//! Keep-alive items while all text is withheld.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::{FusedStream, Stream};

use crate::chat::guard::ChatGuard;

/// A guarded stream with time limits: [`super::ChatStream`] or [`super::SseStream`].
pub trait Ticking: FusedStream {
    /// Checks time limits when no item arrives; see [`ChatGuard::tick`]. Released text is the next
    /// item.
    fn tick(self: Pin<&mut Self>);

    /// Returns the guard, whose methods report held text.
    fn chat_guard(&self) -> &ChatGuard;

    /// Yields an item made by `item` whenever `ticks` yields, text is withheld and nothing was
    /// emitted since the tick before. A tick also ends jails that have been open for too long
    /// ([`crate::Jailer::time_limit`]). `ticks` is usually an interval of the caller's runtime.
    fn keep_alive<K, F>(self, ticks: K, item: F) -> KeepAlive<Self, K, F>
    where
        Self: Sized,
        K: Stream,
        F: FnMut() -> Self::Item,
    {
        KeepAlive { inner: self, ticks, item, silent: false, lively: false }
    }
}

pin_project_lite::pin_project! {
    /// A guarded stream that yields keep-alive items while text is withheld.
    ///
    /// Made by [`Ticking::keep_alive`]. Fused.
    #[must_use = "streams do nothing unless polled"]
    #[derive(Debug)]
    pub struct KeepAlive<C, K, F> {
        #[pin]
        inner: C,
        #[pin]
        ticks: K,
        item: F,
        // The ticks ended, and a stream that ended must not be polled again.
        silent: bool,
        // An item came since the last tick.
        lively: bool,
    }
}

impl<C, K, F> KeepAlive<C, K, F> {
    /// Returns the inner stream.
    pub fn get_ref(&self) -> &C {
        &self.inner
    }
}

impl<C, K, F> Stream for KeepAlive<C, K, F>
where
    C: Ticking,
    K: Stream,
    F: FnMut() -> C::Item,
{
    type Item = C::Item;

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
                if quiet && this.inner.chat_guard().is_withholding() {
                    return Poll::Ready(Some((this.item)()));
                }
                // The ticks are not polled again here, because ticks that are always ready would
                // block the task.
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<C, K, F> FusedStream for KeepAlive<C, K, F>
where
    C: Ticking,
    K: Stream,
    F: FnMut() -> C::Item,
{
    fn is_terminated(&self) -> bool {
        self.inner.is_terminated()
    }
}
