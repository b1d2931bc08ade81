//! Reasoning in place of an answer that never comes.

use jail_match::{Channel, End, Notice, Sink, Span};
use think_filter::{Kept, Withheld};
use toolcall_parsers::{CallSink, Diagnostic, Outcome};

/// A sink in front of another that withholds reasoning.
pub(crate) struct Nonempty<'w, S: ?Sized> {
    pub(crate) withheld: &'w mut Withheld,
    pub(crate) sink: &'w mut S,
}

/// Where what was kept goes: spans of reasoning are no events here.
fn text<S: CallSink + ?Sized>(sink: &mut S) -> impl FnMut(Kept<'_>) + '_ {
    |kept| {
        if let Kept::Text(channel, text) = kept {
            sink.text(channel, text);
        }
    }
}

/// Every text comes out on the channel it was for, and nothing is kept any more.
pub(crate) fn release<S: CallSink + ?Sized>(withheld: &mut Withheld, sink: &mut S) {
    withheld.release(text(sink));
}

impl<S: CallSink + ?Sized> Nonempty<'_, S> {
    /// The message is over: text that was withheld is the answer, unless the stream was cut.
    pub(crate) fn finish(&mut self, end: End) {
        self.withheld.finish(end, text(self.sink));
    }
}

impl<S: CallSink + ?Sized> Sink for Nonempty<'_, S> {
    fn text(&mut self, channel: Channel, new: &str) {
        if !self.withheld.keeps(channel, new) {
            release(self.withheld, self.sink);
            self.sink.text(channel, new);
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }
}

impl<S: CallSink + ?Sized> CallSink for Nonempty<'_, S> {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        release(self.withheld, self.sink);
        self.sink.call_start(index, id, name);
    }

    fn call_arguments(&mut self, index: u32, fragment: &str) {
        self.sink.call_arguments(index, fragment);
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        self.sink.call_end(index, outcome);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.sink.diagnostic(diagnostic);
    }
}
