//! Applying an edge: what a matched marker does.

use super::{
    Driver, EdgeEvents,
    aside::Apart,
    scan::EdgeMatch,
    window::{Candidate, Cursor, Mode, Open, Window},
};
use crate::{
    body::{BodyParsers, Opener},
    channel::Channel,
    chars::ceil_char_boundary,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::{Anchor, Then, Uses},
    event::Event,
    sink::{Sink, SpanKind, Trace},
    whitespace::Boundary,
};

#[expect(
    clippy::indexing_slicing,
    reason = "an edge's number is its place in the table, and a match lies in the window's text"
)]
impl Driver {
    /// Applies the edge whose marker matched.
    pub(super) fn apply_edge<B: BodyParsers + ?Sized>(
        &mut self,
        matched: EdgeMatch,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) {
        let EdgeMatch { edge, at, len, bound } = matched;
        let channel = self.channel();
        let then = self.table.edges()[edge].then;
        self.flush_text(w, c, at, sink);
        if self.emitter.failed().is_some() {
            // Nothing is read behind a limit that ends the message.
            return;
        }
        let opens = matches!(then, Then::Enter(_));
        if opens && self.stack.len() >= self.settings.limits.depth {
            let kind = DiagnosticKind::DepthLimit;
            sink.event(Diagnostic::new(kind, w.base + at as u64, len as u64).into());
            c.pos = at + len;
            return;
        }
        if matches!(then, Then::Body(body, _) if !bodies.may_begin(body)) {
            c.pos = ceil_char_boundary(w.text, at + bound + 1);
            return;
        }
        if self.tracks() {
            // A line ends with its newline, whosoever that is.
            self.code.advance(&w.text.as_bytes()[at..at + bound]);
        }
        if let Then::Body(body, on_commit) = then {
            self.emitter.opener(channel, on_commit, sink);
            sink.trace(Trace::Opened { edge, at: w.base + at as u64, len: len as u64 });
            self.counters.candidates += 1;
            let suffix = self.suffix_in(edge, &w.text.as_bytes()[at + bound..at + len]);
            let suffix = suffix.or(self.suffix);
            let behind = w.base + (at + len) as u64;
            bodies.begin(Opener { body, channel, at: behind, len, suffix });
            let candidate = Candidate { opener: len, fed: len, bound, edge, on_commit };
            self.mode = Mode::Candidate(candidate);
            c.pos = at + len;
            return;
        }
        self.spend(edge, &w.text.as_bytes()[at + bound..at + len]);
        self.note(edge, w.base + at as u64, len as u64, sink);
        self.account(SpanKind::Markup, w, at, at + len, sink);
        sink.trace(Trace::Matched { edge, at: w.base + at as u64, len: len as u64 });
        *c = Cursor::at(at + len);
        self.swallow = self.table.edges()[edge].binds(self.binds_optional()).1;
        self.message_ended = self.table.edges()[edge].ends_message;
        match then {
            Then::Enter(to) => self.enter(to, self.table.edges()[edge].pair, sink),
            Then::Leave => self.leave(sink),
            Then::Switch(to) => self.switch(to, self.table.edges()[edge].pair, sink),
            Then::Erase | Then::Body(..) => {
                self.emitter.boundary(Boundary::Other, channel, sink);
            }
        }
        if self.settings.edge_events == EdgeEvents::Reported {
            sink.event(Event::EdgeMatched(edge));
        }
    }

    /// Opens a channel on top of the current one.
    pub(super) fn enter(&mut self, to: Channel, pair: u8, sink: &mut dyn Sink) {
        self.emitter.boundary(Boundary::Enter(to), self.channel(), sink);
        self.stack.push(Open { channel: to, pair });
        self.spent &= !self.table.per_entry(to);
        if to == Channel::REASONING {
            self.spent |= self.table.before_reasoning();
            self.spans = self.spans.saturating_add(1);
            self.ended_by_call = false;
        }
        if self.apart == Apart::Now {
            self.apart = Apart::Before;
        }
    }

    /// What is special about the closers that close nothing here: an orphan is reported, and the
    /// one that a call came before comes once.
    fn note(&mut self, edge: usize, at: u64, len: u64, sink: &mut dyn Sink) {
        let edge = &self.table.edges()[edge];
        if edge.uses == Uses::BeforeReasoning {
            sink.event(Diagnostic::new(DiagnosticKind::OrphanCloser, at, len).into());
        }
        self.ended_by_call &= edge.anchor != Anchor::Ended;
        self.block_opened &= edge.anchor != Anchor::Opened;
    }

    /// Closes the current channel; at the bottom content goes on.
    pub(super) fn leave(&mut self, sink: &mut dyn Sink) {
        self.emitter.boundary(Boundary::Leave, self.channel(), sink);
        self.stack.pop();
    }

    /// Closes every channel and opens this one.
    pub(super) fn switch(&mut self, to: Channel, pair: u8, sink: &mut dyn Sink) {
        self.leave(sink);
        while !self.stack.is_empty() {
            self.leave(sink);
        }
        self.enter(to, pair, sink);
    }
}
