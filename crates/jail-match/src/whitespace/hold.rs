//! Holding whitespace until it is certain whether it frames markup.

use super::{Emitter, Rule, TextPiece, is_space};
use crate::{
    channel::Channel,
    diagnostic::{Diagnostic, DiagnosticKind},
    sink::{Sink, Span, SpanKind, Trace},
};

impl Emitter {
    /// Drops or emits the held whitespace of `channel`, because visible text follows it.
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

    /// Returns whether text may overtake held whitespace of `channel`.
    pub(super) fn moves(&self, channel: Channel) -> bool {
        matches!(self.policy.rule(channel), Rule::Trim | Rule::TrimEnd)
    }

    /// Holds a piece of whitespace. A run that outgrows the limit is text. After the error of a limit
    /// nothing is held, as no text is emitted.
    pub(super) fn hold(&mut self, piece: TextPiece<'_>, sink: &mut dyn Sink) {
        if self.budget.failed().is_some() {
            return;
        }
        let TextPiece { channel, text, at } = piece;
        let (limit, moves) = (self.limit, self.moves(channel));
        let run = self.run(channel);
        if run.eat {
            sink.account(Span { kind: SpanKind::Framing, at, len: text.len() as u64 });
            return;
        }
        if run.overflow {
            self.put(piece, sink);
            return;
        }
        run.hold(text, at);
        if moves {
            sink.trace(Trace::Held { at, len: text.len() as u64 });
        }
        if run.text.len() > limit {
            let bytes = run.text.len() as u64;
            // The diagnostic is at the limit's byte, wherever the chunk that crossed it ended.
            let excess = (run.text.len() - limit) as u64;
            let (kind, at) = (DiagnosticKind::WhitespaceLimit, at + text.len() as u64 - excess);
            sink.event(Diagnostic::new(kind, at, bytes - excess).into());
            run.overflow = true;
            self.release(channel, sink);
        }
    }

    /// Emits text that begins and ends with visible characters.
    ///
    /// Reports each run of whitespace in it that is longer than the limit, as [`Emitter::hold`]
    /// does for a run that arrives in several chunks.
    pub(super) fn put_runs(&mut self, piece: TextPiece<'_>, sink: &mut dyn Sink) {
        let limit = self.limit;
        if piece.len() <= limit {
            return self.put(piece, sink);
        }
        let (text, at) = (piece.text, piece.at);
        let (mut from, mut rest) = (0, piece);
        for run in text.split(|c| !is_space(c)) {
            if run.len() > limit {
                let (head, tail) = rest.split_at(from - (text.len() - rest.len()));
                self.put(head, sink);
                rest = tail;
                let (kind, bytes) = (DiagnosticKind::WhitespaceLimit, limit as u64);
                sink.event(Diagnostic::new(kind, at + from as u64 + bytes, bytes).into());
            }
            from += run.len();
            from += text[from..].chars().next().map_or(0, char::len_utf8);
        }
        self.put(rest, sink);
    }
}
