//! The end of the stream.

use jail_match::{AtEnd, End};

use super::{BraceEngine, Kind, State, shape::BraceShape, value::Mode};
use crate::{
    calls::Calls,
    engine::uncommitted,
    event::{CallSink, DiagnosticKind, Outcome},
    options::Repair,
};

impl BraceEngine {
    pub(crate) fn finish(
        &mut self,
        _: &BraceShape,
        tail: &str,
        _: End,
        calls: &mut Calls,
        sink: &mut dyn CallSink,
    ) -> AtEnd {
        if !calls.committed() {
            return uncommitted(self.certainty);
        }
        if calls.is_open() {
            self.cut(calls, sink);
            return AtEnd::Closed { used: tail.len() };
        }
        if self.state == State::Broken {
            let bytes = self.dropped + tail.len() as u64;
            calls.diagnose(DiagnosticKind::Skipped, tail.len(), bytes, sink);
            return AtEnd::Closed { used: tail.len() };
        }
        // The call is whole: what follows it is no part of it.
        AtEnd::Closed { used: 0 }
    }

    /// The stream ended inside a call.
    fn cut(&mut self, calls: &mut Calls, sink: &mut dyn CallSink) {
        if calls.options.repair == Repair::Off {
            return calls.end(Outcome::Incomplete, sink);
        }
        // What is held of a value is not certain, and stays out.
        let in_text = matches!(self.state, State::Quoted | State::Bare);
        if in_text && self.mode == Mode::String {
            calls.arguments("\"", sink);
        }
        for frame in self.frames.iter().rev() {
            calls.arguments(if frame.kind == Kind::Object { "}" } else { "]" }, sink);
        }
        calls.end(Outcome::Repaired, sink);
    }
}
