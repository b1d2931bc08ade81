//! Watching for a model that repeats its opener without end.

use jail_match::{End, LimitError, NoticeKind};
use toolcall_parsers::CallSink;
use wire_remap::{Collapse, CollapseDetector, CollapseLimits, RemapTable, Verdict};

use super::Guard;

/// The detector in front of a guard, over the text as it came.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    detector: CollapseDetector,
    /// Offset behind the text seen.
    at: u64,
    first: Option<Collapse>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Watching,
    /// The message is over: what comes is ignored.
    Ended,
    /// As before, and every push says why.
    Failed(LimitError),
}

impl Watch {
    pub(super) fn new(table: &RemapTable, limits: CollapseLimits) -> Self {
        let detector = CollapseDetector::new(table, limits);
        Self { detector, at: 0, first: None, state: State::Watching }
    }

    pub(super) fn reset(&mut self) {
        self.detector.reset();
        (self.at, self.first, self.state) = (0, None, State::Watching);
    }

    /// Looks at the next piece; returns how much of it counts.
    fn see(&mut self, chunk: &str) -> usize {
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
        self.state = match verdict {
            Verdict::EndStream(_) => State::Ended,
            Verdict::Error(Collapse { start: at, end, .. }) => {
                State::Failed(LimitError { kind: NoticeKind::Collapse, at, bytes: end - at })
            }
            _ => return chunk.len(),
        };
        until.min(chunk.len())
    }

    /// What a push or the end comes to once the message is over.
    fn over(&self) -> Option<Result<(), LimitError>> {
        match self.state {
            State::Watching => None,
            State::Ended => Some(Ok(())),
            State::Failed(error) => Some(Err(error)),
        }
    }
}

impl Guard {
    /// The collapse that was seen first, if [`super::GuardBuilder::collapse`] asked to look for
    /// one.
    #[must_use]
    pub fn collapse(&self) -> Option<Collapse> {
        self.watch.as_ref().and_then(|watch| watch.first)
    }

    /// Whether a collapse ended the message: more text is ignored, and the stream may be closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over().is_some()
    }

    pub(super) fn over(&self) -> Option<Result<(), LimitError>> {
        self.watch.as_ref().and_then(|watch| watch.over())
    }

    /// Feeds the next piece as far as it goes before a collapse that ends the message.
    pub(super) fn push_watched<S: CallSink + ?Sized>(
        &mut self,
        chunk: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if let Some(over) = self.over() {
            return over;
        }
        let counts = self.watch.as_mut().map_or(chunk.len(), |watch| watch.see(chunk));
        self.push_unwatched(&chunk[..counts], sink)?;
        match self.over() {
            None => Ok(()),
            Some(over) => {
                // Nothing of the garbage becomes an answer or a whole call.
                self.finish_unwatched(End::Aborted, sink)?;
                over
            }
        }
    }
}
