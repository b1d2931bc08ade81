//! The end of the stream.

use jail_match::{AtEnd, End};

use super::{State, TreeEngine, shape::TreeShape};
use crate::{
    calls::Calls,
    engine::uncommitted,
    event::{CallSink, DiagnosticKind, Outcome},
    options::Repair,
};

impl TreeEngine {
    pub(crate) fn finish(
        &mut self,
        shape: &TreeShape,
        tail: &str,
        _: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        let used = tail.len();
        if calls.is_open() {
            self.cut(shape, used, calls, sink);
            return AtEnd::Closed { used };
        }
        match self.state {
            // All calls are whole: what follows them is no part of one.
            State::Section => AtEnd::Closed { used: 0 },
            State::Text | State::Tag | State::Broken => {
                let broken = if self.state == State::Broken { self.dropped } else { 0 };
                let bytes = broken + self.tag_begun() + used as u64;
                calls.diagnose(DiagnosticKind::Skipped, used, bytes, sink);
                AtEnd::Closed { used }
            }
        }
    }

    /// The stream ended inside a call.
    fn cut(&mut self, shape: &TreeShape, at: usize, calls: &mut Calls, sink: &mut dyn CallSink) {
        if self.may_end_here(shape) {
            calls.diagnose(DiagnosticKind::MissingCloser, at, 0, sink);
            self.end_arguments(calls, sink);
            calls.end(Outcome::Complete, sink);
        } else if calls.options.repair == Repair::Close {
            self.close_all(calls, sink);
            calls.end(Outcome::Repaired, sink);
        } else {
            self.out.flush(calls, sink);
            calls.end(Outcome::Incomplete, sink);
        }
    }
}
