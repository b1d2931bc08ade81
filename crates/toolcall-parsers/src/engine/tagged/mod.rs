//! Tagged calls.
use super::uncommitted;
use crate::{calls::Calls, event::CallSink, grammar::Certainty};
use jail_match::{End, Feed, Tail};
use serde::{Deserialize, Serialize};

/// The shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaggedShape {}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct TaggedEngine {
    certainty: Certainty,
}

impl TaggedEngine {
    pub(crate) fn new(_: &TaggedShape, certainty: Certainty, _: &str) -> Self {
        Self { certainty }
    }
    pub(crate) fn held(&self) -> usize {
        0
    }
    pub(crate) fn feed<S: CallSink + ?Sized>(
        &mut self,
        _: &TaggedShape,
        _: &str,
        _: &mut Calls,
        _: &mut S,
    ) -> Feed {
        Feed::NotMine { used: 0 }
    }
    pub(crate) fn finish<S: CallSink + ?Sized>(
        &mut self,
        _: &TaggedShape,
        _: &str,
        _: End,
        _: &mut Calls,
        _: &mut S,
    ) -> Tail {
        uncommitted(self.certainty)
    }
}
