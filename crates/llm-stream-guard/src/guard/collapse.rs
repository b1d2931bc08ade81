//! Watching for a model that repeats its opener without end.

use jail_match::{DiagnosticKind, LimitError};
use wire_remap::{
    Collapse, CollapseDetector, CollapseLimits, CollapseVerdict as Verdict, RemapTable,
};

/// The detector in front of a guard, over the text as it came.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    detector: CollapseDetector,
    /// Offset after the text seen.
    at: u64,
    first: Option<Collapse>,
    state: CollapseState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CollapseState {
    Watching,
    /// The message is over, for this reason: what comes is ignored.
    Ended(LimitError),
    /// As `Ended`, and every push returns this error.
    Failed(LimitError),
}

impl Watch {
    /// Looks for the openers of `remap`, of the Hermes format if there is none.
    pub(super) fn new(remap: Option<&RemapTable>, limits: CollapseLimits) -> Self {
        let detector = match remap {
            Some(table) => CollapseDetector::new(table, limits),
            None => CollapseDetector::new(&RemapTable::hermes(), limits),
        };
        Self { detector, at: 0, first: None, state: CollapseState::Watching }
    }

    /// The collapse that was seen first.
    pub(super) fn first(&self) -> Option<Collapse> {
        self.first
    }

    pub(super) fn reset(&mut self) {
        self.detector.reset();
        (self.at, self.first, self.state) = (0, None, CollapseState::Watching);
    }

    /// Looks at the next piece; returns how much of it counts.
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

    /// Why the message is over, if it is.
    pub(super) fn reason(&self) -> Option<LimitError> {
        match self.state {
            CollapseState::Watching => None,
            CollapseState::Ended(error) | CollapseState::Failed(error) => Some(error),
        }
    }
}
