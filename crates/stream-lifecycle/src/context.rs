//! The surroundings user code runs in, taken when the wrapper is built.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
};

use crate::unwind::{Payload, catch};

/// Surroundings that can be entered from any thread: a task-local scope, a tracing span.
pub trait Context: Send + Sync {
    /// Runs `f`, once, inside. A context that does not call `f` is done without.
    fn enter(&self, f: &mut dyn FnMut());
}

/// A context, shared and opaque.
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
    /// A handle on `context`.
    pub fn new(context: impl Context + 'static) -> Self {
        Self(Arc::new(context))
    }

    /// Runs `f` inside, for work that shall share the stream's surroundings.
    ///
    /// # Panics
    /// If `f` or the context does.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let (result, fault) = self.enter(f);
        if let Some(payload) = fault {
            payload.resume();
        }
        result.unwrap_or_else(|payload| payload.resume())
    }

    /// Runs `f` inside, whatever the context does; with the panic of `f`, and of the context.
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
            (result, _) => result.unwrap_or_else(|| Err(Payload::new("a context lost its work"))),
        };
        (result, entered.err())
    }
}

impl fmt::Debug for ContextHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextHandle").finish_non_exhaustive()
    }
}

/// Runs `f` inside `context`, if there is one; a panic of the context itself goes to `fault`.
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
    /// A future that is polled and dropped inside a context. Ready with the panic of one that
    /// panicked.
    pub(crate) struct Within<F> {
        #[pin]
        future: Option<F>,
        context: Option<ContextHandle>,
    }

    impl<F> PinnedDrop for Within<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // Nobody is left to report a panic to.
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
