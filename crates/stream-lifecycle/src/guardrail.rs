//! Item guardrails: what the consumer itself may see.

use std::{borrow::Cow, collections::VecDeque};

use crate::ending::{UpstreamEnd, Withheld};

/// A stage in the live stream, between upstream and the collector: it may replace items, hold
/// them, or end the stream. The collector sees what passed, so the record is guarded, too.
pub trait Guardrail<T>: Send {
    /// Takes the next item, and lets out what may pass.
    fn push(&mut self, item: T, out: &mut Output<T>) -> Decision;

    /// Upstream is over: what is held comes out now, or never.
    fn finish(&mut self, end: UpstreamEnd, out: &mut Output<T>) -> Decision;

    /// What is held.
    fn held(&self) -> Withheld {
        Withheld::NOTHING
    }
}

/// Whether the stream goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Decision {
    /// It does.
    Continue,
    /// It ends, for this reason, behind what was let out.
    End(Cow<'static, str>),
}

/// Where a guardrail lets items out.
#[derive(Debug)]
pub struct Output<T>(pub(crate) VecDeque<T>);

impl<T> Output<T> {
    /// Lets an item pass, behind those before.
    pub fn put(&mut self, item: T) {
        self.0.push_back(item);
    }
}

impl<T> Default for Output<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
