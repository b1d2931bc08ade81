//! Holding whitespace until it is certain what becomes of it.

use super::{Emitter, Rule, is_space};
use crate::{
    channel::Channel,
    diagnostic::{Diagnostic, DiagnosticKind},
    sink::{Sink, Span, SpanKind},
};

impl Emitter {
    /// A visible byte follows: what was held is dropped or is emitted before it.
    pub(super) fn settle(&mut self, channel: Channel, rule: Rule, sink: &mut dyn Sink) {
        let markup_first = self.called || self.marked;
        let run = self.run(channel);
        let drop =
            rule == Rule::Trim && !run.visible && (channel == Channel::REASONING || markup_first);
        if drop {
            run.drop_held(sink);
        } else {
            self.release(channel, sink);
        }
        let run = self.run(channel);
        (run.eat, run.visible, run.overflow) = (false, true, false);
    }

    pub(super) fn hold(&mut self, channel: Channel, text: &str, at: u64, sink: &mut dyn Sink) {
        let limit = self.limit;
        let run = self.run(channel);
        if run.eat {
            sink.account(Span { kind: SpanKind::Framing, at, len: text.len() as u64 });
            return;
        }
        if run.overflow {
            self.put(channel, text, at, sink);
            return;
        }
        run.hold(text, at);
        if run.text.len() > limit {
            let bytes = run.text.len() as u64;
            // Reported where the limit lies, whatever the chunk that crossed it.
            let excess = (run.text.len() - limit) as u64;
            let (kind, at) = (DiagnosticKind::WhitespaceLimit, at + text.len() as u64 - excess);
            sink.event(Diagnostic::new(kind, at, bytes - excess).into());
            run.overflow = true;
            self.release(channel, sink);
        }
    }

    /// Reports runs between visible text that would have outgrown the limit, had they come apart.
    pub(super) fn report_runs(&self, text: &str, at: u64, sink: &mut dyn Sink) {
        if text.len() <= self.limit {
            return;
        }
        let mut from = 0;
        for run in text.split(|c| !is_space(c)) {
            if run.len() > self.limit {
                let (kind, bytes) = (DiagnosticKind::WhitespaceLimit, self.limit as u64);
                sink.event(Diagnostic::new(kind, at + from as u64 + bytes, bytes).into());
            }
            from += run.len();
            from += text[from..].chars().next().map_or(0, char::len_utf8);
        }
    }
}
