//! The end of the stream.

use jail_match::{AtEnd, End};

use super::{State, TaggedEngine, Written, shape::TaggedShape};
use crate::{
    calls::Calls,
    engine::uncommitted,
    event::{CallSink, DiagnosticKind, Outcome},
    options::Repair,
};

impl TaggedEngine {
    pub(crate) fn finish(
        &mut self,
        shape: &TaggedShape,
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
            self.cut(shape, tail, calls, sink);
            return AtEnd::Closed { used };
        }
        match self.state {
            // All calls are whole: what follows them is no part of one.
            State::Section => AtEnd::Closed { used: 0 },
            // Behind a fault, or in the header of a further call.
            _ => {
                let begun = if self.state == State::Call { self.head_bytes(shape) } else { 0 };
                let bytes = self.dropped + begun + used as u64;
                calls.diagnose(DiagnosticKind::Skipped, used, bytes, sink);
                AtEnd::Closed { used }
            }
        }
    }

    /// Bytes of the call header that is being read.
    fn head_bytes(&self, shape: &TaggedShape) -> u64 {
        let opened = if self.head.opened() { shape.call.open.first() } else { None };
        (opened.map_or(0, |literal| literal.len()) + self.head.consumed()) as u64
    }

    /// The stream ended inside a call.
    fn cut(&mut self, shape: &TaggedShape, tail: &str, calls: &mut Calls, sink: &mut dyn CallSink) {
        let at = tail.len();
        if self.state == State::Value && self.value.ends_here() {
            self.end_value(at, calls, sink);
        }
        let next = shape.parameter.open.first().is_some_and(|open| open.starts_with(tail));
        let closes = |literal: &str| literal.starts_with(tail);
        let ends = shape.call_close.iter().chain(shape.wrapper.iter().flat_map(|w| &w.close));
        let begun = !tail.is_empty() && next && !ends.map(|end| end.as_ref()).any(closes);
        if self.state == State::Between && self.evidence && !begun {
            calls.diagnose(DiagnosticKind::MissingCloser, at, 0, sink);
            self.close_arguments(calls, sink);
            calls.end(Outcome::Complete, sink);
            return;
        }
        if calls.options.repair == Repair::Off {
            calls.end(Outcome::Incomplete, sink);
            return;
        }
        if self.state == State::JsonBody {
            match self.body.closing() {
                Some(text) => calls.arguments(&text, sink),
                None => return calls.end(Outcome::Incomplete, sink),
            }
            self.written = Written::Whole;
        }
        if self.state == State::Value && self.value.repair(calls, sink) {
            self.written = Written::Members;
        }
        self.close_arguments(calls, sink);
        calls.end(Outcome::Repaired, sink);
    }
}
