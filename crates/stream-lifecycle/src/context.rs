//! The context in which user code runs.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

use crate::unwind::{Payload, catch};

/// Surroundings that any thread can enter, such as a task-local scope or a tracing span.
pub trait Context: Send + Sync {
    /// Runs `f` once inside the context. If an implementation does not call `f`, the crate runs it
    /// outside.
    fn enter(&self, f: &mut dyn FnMut());
}

/// A shared, opaque context.
///
/// ```
/// use stream_lifecycle::{Context, ContextHandle};
/// struct Plain;
/// impl Context for Plain {
///     fn enter(&self, f: &mut dyn FnMut()) {
///         f();
///     }
/// }
/// assert_eq!(ContextHandle::new(Plain).run(|| 2 + 2), 4);
/// ```
#[derive(Clone)]
pub struct ContextHandle(Arc<dyn Context>);

impl ContextHandle {
    /// Creates a handle of `context`.
    pub fn new(context: impl Context + 'static) -> Self {
        Self(Arc::new(context))
    }

    /// Runs `f` inside the context, for work that shares the surroundings of the stream.
    ///
    /// # Panics
    /// Panics if `f` or the context does.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let (result, fault) = self.enter(f);
        if let Some(payload) = fault {
            payload.resume();
        }
        result.unwrap_or_else(|payload| payload.resume())
    }

    /// Runs `f` inside the context, or outside if the context does not run it. Returns the result
    /// of `f` and a panic of the context.
    fn enter<R>(&self, f: impl FnOnce() -> R) -> (Result<R, Payload>, Option<Payload>) {
        let (mut work, mut result) = (Some(f), None);
        let entered = catch(|| {
            self.0.enter(&mut || {
                if let Some(f) = work.take() {
                    result = Some(catch(f));
                }
            });
        });
        let result = match (result, work) {
            (None, Some(f)) => catch(f),
            (result, _) => {
                result.unwrap_or_else(|| Err(Payload::new("the context dropped its work")))
            }
        };
        (result, entered.err())
    }
}

impl fmt::Debug for ContextHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextHandle").finish_non_exhaustive()
    }
}

/// Runs `f` inside `context`, if there is one. Returns the result of `f` and a panic of the
/// context.
pub(crate) fn within<R>(
    context: Option<&ContextHandle>,
    f: impl FnOnce() -> R,
) -> (Result<R, Payload>, Option<Payload>) {
    match context {
        Some(context) => context.enter(f),
        None => (catch(f), None),
    }
}

pin_project_lite::pin_project! {
    /// A future that is polled and dropped inside a context. Its output is an error if it panicked.
    pub(crate) struct Within<F> {
        #[pin]
        future: Option<F>,
        context: Option<ContextHandle>,
    }

    impl<F> PinnedDrop for Within<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // A panic cannot be reported any more.
            let _ = within(this.context.as_ref(), || this.future.set(None));
            let _ = catch(|| *this.context = None);
        }
    }
}

impl<F> Within<F> {
    pub(crate) const fn new(future: F, context: Option<ContextHandle>) -> Self {
        Self { future: Some(future), context }
    }
}

impl<F: Future> Future for Within<F> {
    type Output = Result<F::Output, Payload>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let (polled, _) = within(this.context.as_ref(), || {
            let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Pending };
            let polled = future.poll(cx);
            if polled.is_ready() {
                this.future.set(None);
            }
            polled
        });
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(made)) => Poll::Ready(Ok(made)),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    }
}
