//! Atomic delivery: a call's events come out together, at its end.

use jail_match::{Channel, Notice, Sink, Span};
use toolcall_parsers::{CallSink, Diagnostic, Outcome};

/// What of an open call is being kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    call: Option<Started>,
    arguments: String,
    /// The most bytes of arguments that are kept; a longer call streams from there on.
    limit: usize,
}

#[derive(Debug, Clone)]
struct Started {
    index: u32,
    id: String,
    name: String,
}

impl Pending {
    pub(crate) fn new(limit: usize) -> Self {
        Self { call: None, arguments: String::new(), limit }
    }

    pub(crate) fn reset(&mut self) {
        self.call = None;
        self.arguments.clear();
    }

    /// Whether a call that began has not come out.
    pub(crate) fn is_open(&self) -> bool {
        self.call.is_some()
    }

    pub(crate) fn held(&self) -> usize {
        self.arguments.len()
    }

    fn release<S: CallSink + ?Sized>(&mut self, sink: &mut S) {
        let Some(Started { index, id, name }) = self.call.take() else { return };
        sink.call_start(index, &id, &name);
        if !self.arguments.is_empty() {
            sink.call_arguments(index, &self.arguments);
            self.arguments.clear();
        }
    }
}

/// A sink in front of another that keeps calls whole.
pub(crate) struct Atomic<'p, S: ?Sized> {
    pub(crate) pending: &'p mut Pending,
    pub(crate) sink: &'p mut S,
}

impl<S: CallSink + ?Sized> Sink for Atomic<'_, S> {
    fn text(&mut self, channel: Channel, text: &str) {
        self.sink.text(channel, text);
    }

    fn notice(&mut self, notice: Notice) {
        self.sink.notice(notice);
    }

    fn account(&mut self, span: Span) {
        self.sink.account(span);
    }
}

impl<S: CallSink + ?Sized> CallSink for Atomic<'_, S> {
    fn call_start(&mut self, index: u32, id: &str, name: &str) {
        self.pending.call = Some(Started { index, id: id.to_owned(), name: name.to_owned() });
    }

    fn call_arguments(&mut self, index: u32, fragment: &str) {
        if self.pending.call.is_none() {
            self.sink.call_arguments(index, fragment);
            return;
        }
        self.pending.arguments.push_str(fragment);
        if self.pending.arguments.len() > self.pending.limit {
            self.pending.release(self.sink);
        }
    }

    fn call_end(&mut self, index: u32, outcome: Outcome) {
        self.pending.release(self.sink);
        self.sink.call_end(index, outcome);
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) {
        self.sink.diagnostic(diagnostic);
    }
}
