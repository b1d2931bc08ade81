//! The effect of a marker that matched.

use super::{
    Driver, EdgeEvents,
    message::{Separated, few},
    scan::EdgeMatch,
    value_text::ValueText,
    window::{Candidate, Cursor, DriverState, OpenChannel, Scan},
};
use crate::{
    body::{BodyParsers, Opener},
    channel::Channel,
    chars::ceil_char_boundary,
    code::OpenCode,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::{Anchor, InCode, Then, Uses},
    event::Event,
    sink::{Sink, SpanKind, Trace},
    whitespace::Boundary,
};

impl Driver {
    /// Applies the edge whose marker matched.
    ///
    /// At `</think>` in `"<think>why</think>so"`: emits `why`, accounts for the eight bytes of the
    /// marker, leaves the reasoning channel and continues at `so`.
    pub(super) fn apply_edge<B: BodyParsers + ?Sized>(
        &mut self,
        matched: EdgeMatch,
        scan: &mut Scan<'_, B>,
    ) {
        let EdgeMatch { edge, at, len, bound } = matched;
        let channel = self.channel();
        let then = self.table.edges()[edge].then;
        self.flush_text(scan, at);
        if self.emitter.failed().is_some() {
            // A limit ended the message: the marker does not act.
            return;
        }
        let (place, text) = (scan.window.offset(at), scan.window.bytes());
        if matches!(then, Then::Enter(_)) && self.message.open.len() >= self.settings.limits.depth {
            let kind = DiagnosticKind::DepthLimit;
            scan.sink.event(Diagnostic::new(kind, place, len as u64).into());
            scan.cursor.pos = at + len;
            return;
        }
        if matches!(then, Then::Body(body, _) if !scan.bodies.may_begin(body)) {
            scan.cursor.pos = ceil_char_boundary(scan.window.text, at + bound + 1);
            return;
        }
        if self.tracks() {
            // The newline ends the line even if it belongs to the marker.
            self.message.code.advance(&text[at..at + bound]);
        }
        if let Then::Body(body, on_commit) = then {
            self.emitter.opener(channel, on_commit, scan.sink);
            scan.sink.trace(Trace::Opened { edge, at: place, len: len as u64 });
            self.counters.candidates += 1;
            let suffix = self.suffix_in(edge, &text[at + bound..at + len]).or(self.suffix);
            let room = self.settings.limits.candidate.saturating_sub(len);
            let after = place + len as u64;
            let told = self.table.edges()[edge].in_code == InCode::Told;
            let told = told && channel == Channel::CONTENT;
            let code = if told { OpenCode::around(self.message.code) } else { None };
            let quoted = told && self.message.preceding.is_quoted();
            scan.bodies.begin(Opener { body, channel, at: after, len, room, suffix, code, quoted });
            let candidate = Candidate { opener: len, fed: len, bound, edge, on_commit };
            self.state = DriverState::Candidate(candidate);
            scan.cursor.pos = at + len;
            return;
        }
        self.spend(edge, &text[at + bound..at + len]);
        self.note_closer(&matched, scan);
        scan.account(SpanKind::Markup, at..at + len);
        scan.sink.trace(Trace::Matched { edge, at: place, len: len as u64 });
        scan.cursor = Cursor::at(at + len);
        let edge_pair = self.table.edges()[edge].pair;
        self.message.swallow = few(self.table.edges()[edge].binds(self.binds_optional()).1);
        self.message.ended = self.table.edges()[edge].ends_message;
        match then {
            Then::Enter(to) => self.enter(to, edge_pair, scan.sink),
            Then::Leave => self.leave(scan.sink),
            Then::Switch(to) => self.switch(to, edge_pair, scan.sink),
            Then::Erase | Then::Body(..) => {
                self.emitter.boundary(Boundary::Other, channel, scan.sink);
            }
        }
        if self.settings.edge_events == EdgeEvents::Reported {
            scan.sink.event(Event::EdgeMatched(edge));
        }
    }

    /// Opens a channel inside the current one.
    pub(super) fn enter(&mut self, to: Channel, pair: u8, sink: &mut dyn Sink) {
        self.emitter.boundary(Boundary::Enter(to), self.channel(), sink);
        let message = &mut self.message;
        message.value = ValueText::default();
        message.open.push(OpenChannel { channel: to, pair });
        message.spent &= !self.table.per_entry(to);
        if to == Channel::REASONING {
            message.mentions.forget();
            message.spent |= self.table.before_reasoning();
            message.spans = message.spans.saturating_add(1);
            message.ended_by_call = false;
        }
        if message.separated == Separated::Now {
            message.separated = Separated::Before;
        }
    }

    /// Reports a closer without an opener, and uses up closers that act once.
    fn note_closer<B: ?Sized>(&mut self, matched: &EdgeMatch, scan: &mut Scan<'_, B>) {
        let edge = &self.table.edges()[matched.edge];
        if edge.uses == Uses::BeforeReasoning {
            let (at, len) = (scan.window.offset(matched.at), matched.len as u64);
            scan.sink.event(Diagnostic::new(DiagnosticKind::OrphanCloser, at, len).into());
        }
        self.message.ended_by_call &= edge.anchor != Anchor::Ended;
        self.message.block_opened &= edge.anchor != Anchor::Opened;
    }

    /// Closes the current channel, if one is open.
    pub(super) fn leave(&mut self, sink: &mut dyn Sink) {
        self.emitter.boundary(Boundary::Leave, self.channel(), sink);
        self.message.value = ValueText::default();
        self.message.open.pop();
    }

    /// Closes every channel and opens this one.
    pub(super) fn switch(&mut self, to: Channel, pair: u8, sink: &mut dyn Sink) {
        self.leave(sink);
        while !self.message.open.is_empty() {
            self.leave(sink);
        }
        self.enter(to, pair, sink);
    }
}
