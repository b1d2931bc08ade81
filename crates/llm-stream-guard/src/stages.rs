//! Output stages: the chain between the cursor and the caller's sink.
//!
//! A stage receives every event and forwards those that it does not handle. Stages form a chain of
//! [`Link`]s.

pub(crate) mod atomic;
pub(crate) mod withholding;

use jail_match::{Event, Sink, Span, Trace};

/// A stage that writes to `S`.
pub(crate) trait OutputStage<S: ?Sized> {
    /// Handles the event or forwards it.
    fn event(&mut self, event: Event<'_>, next: &mut S);

    /// Records a range that did not become text, and forwards it.
    #[inline]
    fn account(&mut self, span: Span, next: &mut S)
    where
        S: Sink,
    {
        next.account(span);
    }
}

/// An optional stage. If it is missing, everything is forwarded.
impl<T: OutputStage<S>, S: Sink + ?Sized> OutputStage<S> for Option<Box<T>> {
    #[inline]
    fn event(&mut self, event: Event<'_>, next: &mut S) {
        match self {
            Some(stage) => stage.event(event, next),
            None => next.event(event),
        }
    }

    #[inline]
    fn account(&mut self, span: Span, next: &mut S) {
        match self {
            Some(stage) => stage.account(span, next),
            None => next.account(span),
        }
    }
}

/// A stage before a sink. The pair is a sink.
pub(crate) struct Link<'a, T, S> {
    pub(crate) stage: &'a mut T,
    pub(crate) next: S,
}

impl<T: OutputStage<S>, S: Sink> Sink for Link<'_, T, S> {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        self.stage.event(event, &mut self.next);
    }

    #[inline]
    fn account(&mut self, span: Span) {
        self.stage.account(span, &mut self.next);
    }

    #[inline]
    fn trace(&mut self, trace: Trace) {
        self.next.trace(trace);
    }
}
