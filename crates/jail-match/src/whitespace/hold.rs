//! Holding whitespace until it is certain what becomes of it.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "the run is longer than its limit because of the text that came last, so the excess \
              is a part of that; places of the stream have 64 bits"
)]

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

    /// Emits text that begins and ends visibly. Runs of whitespace in it that would have outgrown
    /// the limit, had they come apart, are reported where they begin.
    pub(super) fn put_runs(&mut self, channel: Channel, text: &str, at: u64, sink: &mut dyn Sink) {
        let limit = self.limit;
        if text.len() <= limit {
            return self.put(channel, text, at, sink);
        }
        let (mut from, mut done) = (0, 0);
        for run in text.split(|c| !is_space(c)) {
            if run.len() > limit {
                self.put(channel, &text[done..from], at + done as u64, sink);
                done = from;
                let (kind, bytes) = (DiagnosticKind::WhitespaceLimit, limit as u64);
                sink.event(Diagnostic::new(kind, at + from as u64 + bytes, bytes).into());
            }
            from += run.len();
            from += text[from..].chars().next().map_or(0, char::len_utf8);
        }
        self.put(channel, &text[done..], at + done as u64, sink);
    }
}
