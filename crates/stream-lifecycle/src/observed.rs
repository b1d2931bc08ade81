//! The wrapper, a stream that records the life of its inner stream.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, ready},
};

use futures_core::{FusedStream, Stream};

use crate::{
    close::{CloseError, Closer},
    context::{ContextHandle, within},
    ending::{Component, ErrorInfo, Progress},
    event::CallInfo,
    live::{Last, Live, Terminal},
    stream::TryItem,
    unwind::{Payload, catch},
};

type Probe<S> = Box<dyn Fn(&S) -> Progress + Send>;

pin_project_lite::pin_project! {
    /// A stream whose life is recorded.
    ///
    /// Yields the items of the inner stream that pass its guardrails, with the same error type and
    /// without a buffer. It is fused, and `Unpin` if the inner stream is.
    /// [`crate::Lifecycle::wrap`] creates it. The crate page describes the order of events.
    #[must_use = "streams do nothing unless polled"]
    #[project = Parts]
    pub struct Observed<S: TryItem> {
        #[pin]
        inner: Option<S>,
        // `None` after the end of the stream.
        live: Option<Box<Live<S::Ok, S::Error>>>,
        call: Arc<CallInfo>,
        context: Option<ContextHandle>,
        probe: Option<Probe<S>>,
        closer: Option<Closer<S>>,
        closing: Closing,
    }

    impl<S: TryItem> PinnedDrop for Observed<S> {
        fn drop(this: Pin<&mut Self>) {
            let mut parts = this.project();
            parts.give_up();
            let _ = catch(|| *parts.context = None);
        }
    }
}

/// Progress of a close.
///
/// Without a cleanup, `close` goes from `No` to `Done` at once. With a cleanup that waits, it is
/// `Begun` until the cleanup is ready.
enum Closing {
    No,
    Begun,
    Done(Result<(), CloseError>),
}

/// Time at which upstream is dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Now,
    /// Upstream is kept for its cleanup, if it has one.
    AtClose,
}

impl<S: TryItem> Observed<S> {
    pub(crate) fn new(
        inner: S,
        live: Option<Box<Live<S::Ok, S::Error>>>,
        context: Option<ContextHandle>,
    ) -> Self {
        Self {
            inner: Some(inner),
            call: live.as_ref().map(|live| Arc::clone(&live.reporter.call)).unwrap_or_default(),
            live,
            context,
            probe: None,
            closer: None,
            closing: Closing::No,
        }
    }

    /// Sets a function that reports the state of the inner stream when the stream ends: the data it
    /// withheld, and the limit or error that ended it.
    ///
    /// ```
    /// use stream_lifecycle::{Lifecycle, LimitHit, Progress, WithheldInfo};
    /// let items = tokio_stream::iter([Ok::<_, std::io::Error>("hello".to_owned())]);
    /// let stream = Lifecycle::new("call-1").wrap(items).probe(|_inner| {
    ///     Progress::new(WithheldInfo::bytes(3, "tag"), Some(LimitHit::new("output", 512)))
    /// });
    /// # drop(stream);
    /// ```
    pub fn probe(mut self, probe: impl Fn(&S) -> Progress + Send + 'static) -> Self {
        self.probe = Some(Box::new(probe));
        self
    }

    /// Sets the function that stops the producer when the stream is closed. It is polled until
    /// ready.
    ///
    /// Upstream is then kept until [`Observed::close`] or the drop, even after an error. Without
    /// this function, closing drops upstream.
    ///
    /// ```
    /// use std::{pin::pin, task::Poll};
    /// use stream_lifecycle::{CloseError, Lifecycle};
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let items = tokio_stream::iter([Ok::<_, std::io::Error>("hello".to_owned())]);
    /// let stream = Lifecycle::new("call-1")
    ///     .wrap(items)
    ///     .on_close(|_inner, _cx| Poll::Ready(Err(CloseError::new("connection reset"))));
    /// let mut stream = pin!(stream);
    /// let error = stream.as_mut().close().await.expect_err("the cleanup failed");
    /// assert_eq!(error.to_string(), "connection reset");
    /// # });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_close<F>(mut self, closer: F) -> Self
    where
        F: FnMut(Pin<&mut S>, &mut task::Context<'_>) -> Poll<Result<(), CloseError>>
            + Send
            + 'static,
    {
        self.closer = Some(Closer(Box::new(closer)));
        self
    }

    /// Returns the call whose answer is this stream.
    #[must_use]
    pub fn call(&self) -> &CallInfo {
        &self.call
    }

    /// Returns the context of user code.
    #[must_use]
    pub fn context(&self) -> Option<&ContextHandle> {
        self.context.as_ref()
    }

    /// Ends the stream before upstream does.
    ///
    /// Stops the producer, waits for its cleanup, then ends as [`crate::Ending::Closed`]. The
    /// stream yields no item after the first call. Later calls return the same result. If this
    /// future is dropped, another call continues the close.
    ///
    /// # Errors
    /// Returns the error of the producer's cleanup.
    pub async fn close(mut self: Pin<&mut Self>) -> Result<(), CloseError> {
        poll_fn(|cx| self.as_mut().poll_close(cx)).await
    }

    /// Closes the stream like [`Observed::close`], for callers that poll.
    ///
    /// # Errors
    /// Returns the error of the producer's cleanup.
    pub fn poll_close(
        self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<(), CloseError>> {
        let mut parts = self.project();
        if let Closing::Done(result) = parts.closing {
            return Poll::Ready(result.clone());
        }
        *parts.closing = Closing::Begun;
        let result = match parts.within(|parts| parts.poll_cleanup(cx)) {
            Ok(polled) => ready!(polled),
            Err(payload) => Err(CloseError::panicked(&payload)),
        };
        *parts.closing = Closing::Done(result.clone());
        let _ = parts.within(|parts| *parts.closer = None);
        Poll::Ready(result)
    }
}

impl<S: TryItem> Parts<'_, S> {
    /// Runs `f` inside the context, and records a panic of the context.
    fn within<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> Result<R, Payload> {
        let context = self.context.take();
        let (result, fault) = within(context.as_ref(), || f(self));
        *self.context = context;
        if let (Some(payload), Some(live)) = (fault, self.live.as_deref_mut()) {
            live.fault(Component::Context, &payload);
        }
        result
    }

    /// Ends the stream: drops upstream, then reports. Returns the last value for the consumer.
    fn conclude(&mut self, terminal: Terminal<S::Error>, release: Release) -> Last<S::Error> {
        let Some(mut live) = self.live.take() else { return Last::Nothing };
        live.note_end();
        let progress = match self.progress() {
            Ok(progress) => progress,
            Err(payload) => {
                live.fault(Component::Upstream, &payload);
                Progress::default()
            }
        };
        if (release == Release::Now || self.closer.is_none())
            && let Err(payload) = self.release()
        {
            live.fault(Component::Upstream, &payload);
        }
        live.conclude(progress, terminal)
    }

    fn progress(&self) -> Result<Progress, Payload> {
        let inner = self.inner.as_ref().get_ref().as_ref();
        let (Some(probe), Some(inner)) = (&self.probe, inner) else {
            return Ok(Progress::default());
        };
        catch(|| probe(inner))
    }

    fn release(&mut self) -> Result<(), Payload> {
        catch(|| self.inner.set(None))
    }

    /// Ends the stream because the wrapper is dropped. Panics are caught, because two at once would
    /// abort the process.
    fn give_up(&mut self) {
        let used_up = self.live.is_none() && self.inner.is_none();
        if used_up && self.probe.is_none() && self.closer.is_none() {
            return;
        }
        let _ = self.within(|parts| {
            let _ = catch(|| parts.end_dropped());
            let _ = catch(|| *parts.probe = None);
            let _ = catch(|| *parts.closer = None);
            let _ = catch(|| *parts.closing = Closing::No);
        });
    }

    /// Ends the stream because the wrapper is dropped, unless it ended before.
    fn end_dropped(&mut self) {
        let Some(live) = self.live.as_deref_mut() else {
            // Upstream was kept for a close that did not happen.
            let _ = self.release();
            return;
        };
        if matches!(self.closing, Closing::Begun) {
            live.close_error = Some(ErrorInfo::class("cleanup was cut off"));
        }
        let terminal = live.given_up();
        self.conclude(terminal, Release::Now);
    }

    /// Stops the producer, then ends the stream unless it ended before.
    fn poll_cleanup(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), CloseError>> {
        if let Some(live) = self.live.as_deref_mut() {
            live.begin_close();
        }
        let result = match (self.closer.as_mut(), self.inner.as_mut().as_pin_mut()) {
            (Some(Closer(poll)), Some(inner)) => match catch(|| poll(inner, cx)) {
                Ok(polled) => ready!(polled),
                Err(payload) => Err(CloseError::panicked(&payload)),
            },
            _ => Ok(()),
        };
        match self.live.as_deref_mut() {
            Some(live) => {
                live.close_error = result.as_ref().err().map(CloseError::info);
                let terminal = live.given_up();
                self.conclude(terminal, Release::Now);
            }
            None => {
                // END was sent, so a panic cannot be reported any more.
                let _ = self.release();
            }
        }
        Poll::Ready(result)
    }
}

/// Result of one poll of the wrapper.
enum Step<T, E> {
    Pending,
    Item(T),
    Last(Last<E>),
}

impl<S, T, E> Parts<'_, S>
where
    S: Stream<Item = Result<T, E>>,
{
    fn step(&mut self, cx: &mut task::Context<'_>) -> Step<T, E> {
        loop {
            let Some(live) = self.live.as_deref_mut() else { return Step::Last(Last::Nothing) };
            if live.is_over() {
                let terminal = live.terminal();
                return Step::Last(self.conclude(terminal, Release::AtClose));
            }
            let passed = match live.next_out() {
                Some(item) => live.deliver(item),
                None => match self.advance(cx) {
                    Poll::Ready(passed) => passed,
                    Poll::Pending => return Step::Pending,
                },
            };
            if let Some(item) = passed {
                return Step::Item(item);
            }
        }
    }

    /// Polls the timer, the guardrails and upstream. Returns an item the consumer may have.
    fn advance(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<T>> {
        let Some(live) = self.live.as_deref_mut() else { return Poll::Ready(None) };
        live.poll_timer(cx);
        if live.is_over() || !ready!(live.poll_rails(cx)) {
            return Poll::Ready(None);
        }
        let inner = self.inner.as_mut().as_pin_mut();
        let polled = catch(|| inner.map_or(Poll::Ready(None), |inner| inner.poll_next(cx)));
        let polled = match polled {
            Ok(polled) => ready!(polled),
            Err(payload) => {
                live.stop(Terminal::panicked(Component::Upstream, payload));
                return Poll::Ready(None);
            }
        };
        match polled {
            Some(Ok(item)) => return Poll::Ready(live.arrived(item)),
            Some(Err(error)) => live.upstream_ended(Some(error), None),
            None => {
                let ending = self.progress().ok().and_then(Progress::ending);
                if let Some(live) = self.live.as_deref_mut() {
                    live.upstream_ended(None, ending);
                }
            }
        }
        Poll::Ready(None)
    }
}

impl<S, T, E> Stream for Observed<S>
where
    S: Stream<Item = Result<T, E>>,
{
    type Item = Result<T, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_terminated() {
            return Poll::Ready(None);
        }
        match self.project().within(|parts| parts.step(cx)) {
            Ok(Step::Pending) => Poll::Pending,
            Ok(Step::Item(item)) => Poll::Ready(Some(Ok(item))),
            Ok(Step::Last(Last::Error(error))) => Poll::Ready(Some(Err(error))),
            Ok(Step::Last(Last::Nothing)) => Poll::Ready(None),
            // The panic continues after END, so the consumer cannot mistake a cut stream for a
            // complete one.
            Ok(Step::Last(Last::Panic(payload))) | Err(payload) => payload.resume(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_terminated() {
            return (0, Some(0));
        }
        (0, self.live.as_ref().and_then(|live| live.at_most()))
    }
}

impl<S, T, E> FusedStream for Observed<S>
where
    S: Stream<Item = Result<T, E>>,
{
    fn is_terminated(&self) -> bool {
        self.live.is_none() || !matches!(self.closing, Closing::No)
    }
}

impl<S: TryItem> fmt::Debug for Observed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed")
            .field("call", &self.call)
            .field("ended", &self.live.is_none())
            .finish_non_exhaustive()
    }
}
