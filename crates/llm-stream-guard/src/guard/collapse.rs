//! Detection of a model that repeats its opener without end.
//!
//! ```text
//! <tool_call>\n<tool_call>\n<tool_call>\n...   the repetition that reaches the limit is a collapse
//! ```

use jail_match::{DiagnosticKind, LimitError};
use wire_remap::{
    Collapse, CollapseDetector, CollapseLimits, CollapseVerdict as Verdict, RemapTable,
};

/// A collapse detector before the other stages of a guard, which examines the raw text.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    detector: CollapseDetector,
    /// Offset after the examined text.
    at: u64,
    first: Option<Collapse>,
    state: CollapseState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CollapseState {
    Watching,
    /// The message ended for this reason. Further text is ignored.
    Ended(LimitError),
    /// The message ended, and every push returns this error.
    Failed(LimitError),
}

impl Watch {
    /// Creates a watch for the openers of `remap`, or of the Hermes format without a table.
    pub(super) fn new(remap: Option<&RemapTable>, limits: CollapseLimits) -> Self {
        let detector = match remap {
            Some(table) => CollapseDetector::new(table, limits),
            None => CollapseDetector::new(&RemapTable::hermes(), limits),
        };
        Self { detector, at: 0, first: None, state: CollapseState::Watching }
    }

    /// Returns the first collapse.
    pub(super) fn first(&self) -> Option<Collapse> {
        self.first
    }

    pub(super) fn reset(&mut self) {
        self.detector.reset();
        (self.at, self.first, self.state) = (0, None, CollapseState::Watching);
    }

    /// Examines the next piece. Returns the number of its bytes before the message's end.
    pub(super) fn see(&mut self, chunk: &str) -> usize {
        let verdict = self.detector.observe(chunk);
        let (Verdict::Observed(collapse) | Verdict::EndStream(collapse) | Verdict::Error(collapse)) =
            verdict
        else {
            self.at += chunk.len() as u64;
            return chunk.len();
        };
        self.first = self.first.or(Some(collapse));
        let until = collapse.end.saturating_sub(self.at) as usize;
        self.at += chunk.len() as u64;
        let Collapse { start: at, end, .. } = collapse;
        let error = LimitError { kind: DiagnosticKind::Collapse, at, bytes: end - at };
        self.state = match verdict {
            Verdict::EndStream(_) => CollapseState::Ended(error),
            Verdict::Error(_) => CollapseState::Failed(error),
            _ => return chunk.len(),
        };
        until.min(chunk.len())
    }

    /// Returns the result of a push or finish after the message is over.
    pub(super) fn over(&self) -> Option<Result<(), LimitError>> {
        match self.state {
            CollapseState::Watching => None,
            CollapseState::Ended(_) => Some(Ok(())),
            CollapseState::Failed(error) => Some(Err(error)),
        }
    }

    /// Returns why the message ended, if it has.
    pub(super) fn reason(&self) -> Option<LimitError> {
        match self.state {
            CollapseState::Watching => None,
            CollapseState::Ended(error) | CollapseState::Failed(error) => Some(error),
        }
    }
}
