//! The way from the machine to the sink: the message's calls and whoever receives them.

use jail_match::{CallPart, Trace};

use crate::{
    calls::Calls,
    event::{DiagnosticKind, Outcome, Sink},
    family::CommitOn,
};

/// Where a machine writes: the calls of the message, and the sink.
pub(crate) struct Output<'a> {
    pub(crate) calls: &'a mut Calls,
    pub(crate) sink: &'a mut dyn Sink,
}

impl Output<'_> {
    /// The next piece of the open call's arguments.
    #[inline]
    pub(crate) fn arguments(&mut self, fragment: &str) {
        self.calls.arguments(fragment, self.sink);
    }

    /// The next piece of the open call's arguments, which come as JSON.
    #[inline]
    pub(crate) fn json(&mut self, fragment: &str) {
        self.calls.json(fragment, self.sink);
    }

    /// Reports something at `offset` in the text being fed; `bytes` of it were dropped.
    pub(crate) fn diagnose(&mut self, kind: DiagnosticKind, offset: usize, bytes: u64) {
        self.calls.diagnose(kind, offset, bytes, self.sink);
    }

    /// Where an index of the text being fed is in the stream.
    #[inline]
    pub(crate) fn place(&self, index: usize) -> u64 {
        self.calls.at + index as u64
    }

    /// Traces an end tag of `len` bytes at an index of the text being fed.
    pub(crate) fn end_tag(&mut self, index: usize, len: usize) {
        let at = self.place(index);
        self.sink.trace(Trace::EndTag { at, len: len as u64 });
    }

    /// Traces that a part of the call begins at an index of the text being fed.
    pub(crate) fn part(&mut self, part: CallPart, index: usize) {
        let at = self.place(index);
        self.sink.trace(Trace::Part { part, call: self.calls.current(), at });
    }

    /// Whether only the name of a declared tool makes this a call: no marker announces it, nor did one
    /// the call before.
    pub(crate) fn must_be_declared(&self, commit: CommitOn) -> bool {
        commit == CommitOn::DeclaredName && !self.calls.committed() && !self.calls.announced
    }

    /// Starts a call, which makes the body certain.
    pub(crate) fn start(&mut self, name: &str, id: Option<&str>, offset: usize) {
        self.calls.start(name, id, offset, self.sink);
    }

    /// Opens a call that is parsed but not reported.
    pub(crate) fn mute(&mut self, kind: DiagnosticKind, offset: usize) {
        self.calls.mute(kind, offset, self.sink);
    }

    /// Ends the open call with an outcome.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.calls.end(outcome, self.sink);
    }
}
