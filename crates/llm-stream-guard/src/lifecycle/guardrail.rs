//! Item guardrails: what the consumer itself may see.

use std::{borrow::Cow, collections::VecDeque};

use jail_match::End;

use super::ending::Withheld;

/// A stage in the live stream, between upstream and the collector: it may replace items, hold
/// them, or end the stream. The collector sees what passed, so the record is guarded, too.
pub trait Guardrail<T>: Send {
    /// Takes the next item, and lets out what may pass.
    fn push(&mut self, item: T, out: &mut Outlet<T>) -> Flow;

    /// Upstream is over: what is held comes out now, or never.
    fn finish(&mut self, end: End, out: &mut Outlet<T>) -> Flow;

    /// What is held.
    fn held(&self) -> Withheld {
        Withheld::NOTHING
    }
}

/// Whether the stream goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// It does.
    Continue,
    /// It ends, for this reason, behind what was let out.
    End(Cow<'static, str>),
}

/// Where a guardrail lets items out.
#[derive(Debug)]
pub struct Outlet<T>(pub(super) VecDeque<T>);

impl<T> Outlet<T> {
    /// Lets an item pass, behind those before.
    pub fn put(&mut self, item: T) {
        self.0.push_back(item);
    }
}

impl<T> Default for Outlet<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
