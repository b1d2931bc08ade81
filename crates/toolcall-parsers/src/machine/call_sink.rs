//! The connection from the machine to the sink.

use jail_match::{CallPart, Trace};

use super::plan::Plan;
use crate::{
    calls::{BodyPlace, Calls},
    cursor::TextCursor,
    event::{DiagnosticKind, Outcome, Sink},
    family::CommitOn,
};

/// The context of a step: the compiled family, the text being fed, and where results go.
pub(crate) struct CallSink<'a> {
    pub(crate) plan: &'a Plan,
    /// The position in the text being fed.
    pub(crate) cursor: TextCursor<'a>,
    pub(crate) calls: &'a mut Calls,
    pub(crate) sink: &'a mut dyn Sink,
}

impl CallSink<'_> {
    /// Emits the next fragment of the open call's arguments.
    #[inline]
    pub(crate) fn arguments(&mut self, fragment: &str) {
        self.calls.arguments(fragment, self.sink);
    }

    /// Emits the next fragment of the open call's arguments, which are JSON on the wire. Strings in
    /// it may be decoded.
    #[inline]
    pub(crate) fn json(&mut self, fragment: &str) {
        self.calls.json(fragment, self.sink);
    }

    /// Reports a diagnostic at `offset` of the text being fed. `bytes` is the number of bytes
    /// skipped.
    pub(crate) fn diagnose(&mut self, kind: DiagnosticKind, offset: usize, bytes: u64) {
        self.calls.diagnose(kind, offset, bytes, self.sink);
    }

    /// Returns the stream offset of an index of the text being fed.
    #[inline]
    pub(crate) fn stream_offset(&self, index: usize) -> u64 {
        self.calls.at + index as u64
    }

    /// Traces an end tag of `len` bytes at `index` of the text being fed.
    pub(crate) fn end_tag(&mut self, index: usize, len: usize) {
        let at = self.stream_offset(index);
        self.sink.trace(Trace::EndTag { at, len: len as u64 });
    }

    /// Traces that a part of the call begins at `index` of the text being fed.
    pub(crate) fn part(&mut self, part: CallPart, index: usize) {
        let at = self.stream_offset(index);
        self.sink.trace(Trace::Part { part, call: self.calls.current(), at });
    }

    /// Returns whether only a declared name makes this a call, because no marker announced it or
    /// the call before it, or because a thought may mention calls.
    pub(crate) fn must_be_declared(&self, commit: CommitOn) -> bool {
        let unmarked = match commit {
            CommitOn::Marker => false,
            CommitOn::DeclaredName => !self.calls.announced,
            CommitOn::Foreign => true,
        };
        let mentioned = self.calls.place == BodyPlace::Thought && !self.calls.tools.is_empty();
        (unmarked || mentioned) && !self.calls.committed()
    }

    /// Returns whether the call begins only with its arguments, because a thought may mention its
    /// name.
    pub(crate) fn waits_for_arguments(&self) -> bool {
        self.calls.place == BodyPlace::Thought && !self.calls.committed()
    }

    /// Emits the start of a call, which makes the body certain.
    pub(crate) fn start(&mut self, name: &str, id: Option<&str>, offset: usize) {
        self.calls.start(name, id, offset, self.sink);
    }

    /// Opens a call that is parsed but not reported.
    pub(crate) fn mute(&mut self, kind: DiagnosticKind, offset: usize) {
        self.calls.mute(kind, offset, self.sink);
    }

    /// Emits the end of the open call.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.calls.decides_at(self.cursor.at);
        self.calls.end(outcome, self.sink);
    }
}
