//! Python calls.
use super::uncommitted;
use crate::{calls::Calls, event::CallSink, grammar::Certainty};
use jail_match::{End, Feed, Tail};
use serde::{Deserialize, Serialize};

/// The shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonShape {}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct PythonEngine {
    certainty: Certainty,
}

impl PythonEngine {
    pub(crate) fn new(certainty: Certainty) -> Self {
        Self { certainty }
    }
    pub(crate) fn held(&self) -> usize {
        0
    }
    pub(crate) fn feed<S: CallSink + ?Sized>(
        &mut self,
        _: &PythonShape,
        _: &str,
        _: &mut Calls,
        _: &mut S,
    ) -> Feed {
        Feed::NotMine { used: 0 }
    }
    pub(crate) fn finish<S: CallSink + ?Sized>(
        &mut self,
        _: &PythonShape,
        _: &str,
        _: End,
        _: &mut Calls,
        _: &mut S,
    ) -> Tail {
        uncommitted(self.certainty)
    }
}
