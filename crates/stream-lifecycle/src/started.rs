//! A stream between START and its producer.

use std::fmt;

use futures_core::Stream;

use crate::{
    context::{ContextHandle, within},
    ending::{Component, Ending},
    live::Live,
    observed::Observed,
    unwind::{Payload, catch},
};

/// A stream between START and the creation of its producer. Dropping it sends END without output.
#[must_use = "dropping it ends the stream"]
pub struct Started<T, E> {
    live: Option<Box<Live<T, E>>>,
    context: Option<ContextHandle>,
}

impl<T, E> Started<T, E> {
    pub(crate) const fn new(live: Box<Live<T, E>>, context: Option<ContextHandle>) -> Self {
        Self { live: Some(live), context }
    }

    /// Sends START to the subscribers.
    pub(crate) fn begun(mut self) -> Self {
        if let Some(live) = &mut self.live {
            let (_, fault) = within(self.context.as_ref(), || live.reporter.start());
            if let Some(payload) = fault {
                live.fault(Component::Context, &payload);
            }
        }
        self
    }

    /// Reports that there will be no stream.
    pub(crate) fn reject(mut self, reason: String) {
        if let Some(live) = self.live.take() {
            let _ = within(self.context.as_ref(), || live.reject(reason));
        }
    }

    /// Wraps the stream that `make` creates.
    pub(crate) fn make<S: Stream<Item = Result<T, E>>>(
        self,
        make: impl FnOnce() -> Result<S, E>,
    ) -> Result<Observed<S>, E> {
        let (made, _) = within(self.context.as_ref(), make);
        self.settle(made)
    }

    /// Wraps the created stream.
    pub fn wrap<S: Stream<Item = Result<T, E>>>(mut self, inner: S) -> Observed<S> {
        Observed::new(inner, self.live.take(), self.context.take())
    }

    /// Sends END without output, because the stream could not be created.
    pub fn fail(mut self, error: &E) {
        if let Some(live) = &mut self.live {
            let error = live.info(error);
            self.end(Ending::Failed { who: Component::Producer, error });
        }
    }

    /// Wraps the created stream, or sends END without output.
    pub(crate) fn settle<S: Stream<Item = Result<T, E>>>(
        mut self,
        made: Result<Result<S, E>, Payload>,
    ) -> Result<Observed<S>, E> {
        match made {
            Ok(Ok(inner)) => Ok(self.wrap(inner)),
            Ok(Err(error)) => {
                self.fail(&error);
                Err(error)
            }
            Err(payload) => {
                self.end(Ending::panicked(Component::Producer, &payload));
                payload.resume()
            }
        }
    }

    fn end(&mut self, ending: Ending) {
        if let Some(live) = self.live.take() {
            let _ = within(self.context.as_ref(), || live.fail_start(ending));
        }
    }
}

impl<T, E> Drop for Started<T, E> {
    fn drop(&mut self) {
        self.end(Ending::Dropped);
        let _ = catch(|| self.context = None);
    }
}

impl<T, E> fmt::Debug for Started<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").finish_non_exhaustive()
    }
}
