//! Candidates and bodies: from the opener to the commit or the refutation, and to the end.

use super::{
    Driver,
    window::{Candidate, Cursor, Mode, Window},
};
use crate::{
    body::{AtEnd, BodyParsers, Feed, Resume},
    channel::Channel,
    chars::ceil_char_boundary,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::OnCommit,
    limits::{LimitError, LimitPolicy},
    sink::{Sink, Span, SpanKind, Trace},
    whitespace::Boundary,
};

/// How often a byte may be looked at again because the candidate it stood in was refuted.
const MAX_RESCANS: u32 = 16;

impl Driver {
    pub(super) fn feed_candidate<B: BodyParsers + ?Sized>(
        &mut self,
        mut candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<bool, LimitError> {
        // The limit must fall on the same byte whatever the chunks.
        let most = c.out.saturating_add(self.settings.limits.candidate.max(candidate.opener));
        let limit = ceil_char_boundary(w.text, most.min(w.text.len()));
        let offered = &w.text[c.pos..limit];
        let feed = match offered {
            "" => Feed::More { used: 0 },
            _ => bodies.feed(offered, sink),
        };
        self.counters.examined += looked_at(feed, offered, bodies);
        match feed {
            Feed::More { used } => {
                c.pos += used;
                candidate.fed = c.pos - c.out;
                self.mode = Mode::Candidate(candidate);
                if w.text.len() >= most {
                    return self.overrun(w, c, limit, sink).map(|()| true);
                }
                let Some(end) = w.ended else { return Ok(false) };
                let tail = bodies.finish(&w.text[c.pos..], end, sink);
                match tail {
                    AtEnd::Closed { used } => {
                        c.pos += used;
                        self.commit(candidate, w, c, 0, sink);
                        self.body_done(Resume::SameChannel, true, w.base + c.pos as u64, sink);
                    }
                    AtEnd::Markup => {
                        self.accept(candidate, w, c);
                        self.drop_candidate(w, c, w.text.len(), DiagnosticKind::CutOpener, sink);
                    }
                    AtEnd::Text { markup } => {
                        self.give_back(candidate, w, c, (markup, w.text.len()), sink);
                    }
                    AtEnd::Release => self.refute(candidate, w, c, w.text.len(), sink),
                    AtEnd::Literal => self.keep_as_text(w, c, w.text.len(), sink),
                }
            }
            Feed::Committed { used } => {
                c.pos += used;
                self.commit(candidate, w, c, bodies.held(), sink);
            }
            Feed::Done { used, then } => {
                c.pos += used;
                self.commit(candidate, w, c, 0, sink);
                self.body_done(then, true, w.base + c.pos as u64, sink);
            }
            Feed::Markup { used, then } => {
                c.pos += used;
                let end = c.pos;
                self.no_body(candidate, w, c, (end, then), sink);
            }
            Feed::Text { used, markup } => {
                let death = c.pos + used;
                self.give_back(candidate, w, c, (markup, death), sink);
            }
            Feed::Mismatch { used } => {
                if bodies.retry() {
                    c.pos = c.out + candidate.opener;
                    return Ok(true);
                }
                self.refute(candidate, w, c, c.pos + used, sink);
            }
            Feed::Literal { used } => self.keep_as_text(w, c, c.pos + used, sink),
        }
        Ok(true)
    }

    pub(super) fn feed_committed<B: BodyParsers + ?Sized>(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> bool {
        let offered = &w.text[c.pos..];
        if !offered.is_empty() {
            let feed = bodies.feed(offered, sink);
            self.counters.examined += looked_at(feed, offered, bodies);
            match feed {
                Feed::More { used } | Feed::Committed { used } => {
                    self.consume_body(w, c, used, bodies.held(), sink);
                }
                Feed::Done { used, then } | Feed::Markup { used, then } => {
                    self.consume_body(w, c, used, 0, sink);
                    self.body_done(then, true, w.base + c.pos as u64, sink);
                    return true;
                }
                // Against the contract; what was committed stays so.
                Feed::Text { .. } | Feed::Mismatch { .. } | Feed::Literal { .. } => {
                    self.consume_body(w, c, 0, 0, sink);
                    self.body_done(Resume::SameChannel, true, w.base + c.pos as u64, sink);
                    return true;
                }
            }
        }
        let Some(end) = w.ended else { return false };
        if let AtEnd::Closed { used } = bodies.finish(&w.text[c.pos..], end, sink) {
            self.consume_body(w, c, used, 0, sink);
        }
        self.body_done(Resume::SameChannel, true, w.base + c.pos as u64, sink);
        true
    }

    /// The committed body is done with `used` more bytes, the last `held` of which it holds.
    fn consume_body(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        used: usize,
        held: usize,
        sink: &mut dyn Sink,
    ) {
        *c = Cursor::at(c.pos + used);
        self.account_body(w.base + c.pos as u64, held, sink);
    }

    /// Accounts for the committed body's bytes before stream offset `to`, but for the last `held`.
    #[inline]
    pub(super) fn account_body(&mut self, to: u64, held: usize, sink: &mut dyn Sink) {
        let (at, to) = (self.body_from, to.saturating_sub(held as u64));
        if to > at {
            self.body_from = to;
            sink.account(Span { kind: SpanKind::Body, at, len: to - at });
        }
    }

    /// The active candidate is certain, with everything up to `c.pos` but what its body holds.
    fn commit(
        &mut self,
        candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        held: usize,
        sink: &mut dyn Sink,
    ) {
        self.counters.committed += 1;
        self.accept(candidate, w, c);
        self.body_from = w.base + c.out as u64;
        self.account_body(w.base + c.pos as u64, held, sink);
        let (at, len) = (w.base + c.out as u64, (c.pos - c.out) as u64);
        sink.trace(Trace::Committed { at, len });
        *c = Cursor::at(c.pos);
        let channel = self.channel();
        self.emitter.boundary(Boundary::Call, channel, sink);
        if candidate.on_commit == OnCommit::Leave && channel != Channel::CONTENT {
            self.leave(sink);
            self.ended_by_call = channel == Channel::REASONING;
        }
        self.mode = Mode::Committed;
    }

    /// The body is done; text goes on at stream offset `at`.
    pub(super) fn body_done(
        &mut self,
        then: Resume,
        committed: bool,
        at: u64,
        sink: &mut dyn Sink,
    ) {
        self.mode = Mode::Text;
        self.swallow = 0;
        if committed {
            self.emitter.call_ended();
        }
        match then {
            Resume::SameChannel => {}
            Resume::Halt => self.mode = Mode::Halted(at),
            Resume::Enter(channel) => {
                if self.stack.len() >= self.settings.limits.depth {
                    // The text after is the new channel's: it takes the place of the top one.
                    sink.event(Diagnostic::new(DiagnosticKind::DepthLimit, at, 0).into());
                    self.leave(sink);
                }
                self.enter(channel, 0, sink);
            }
            Resume::Switch(channel) => self.switch(channel, 0, sink),
        }
    }

    /// The opener of the candidate, whose first byte is at `c.out`, is markup.
    #[expect(
        clippy::indexing_slicing,
        reason = "the opener lies in the window's text from `out` on"
    )]
    fn accept(&mut self, candidate: Candidate, w: &Window<'_>, c: &Cursor) {
        let opener = c.out + candidate.bound..c.out + candidate.opener;
        self.spend(candidate.edge, &w.text.as_bytes()[opener]);
        self.message_ended = false;
    }

    /// The opener is markup with `markup` bytes behind it, and the rest is text again; `death` is
    /// the index after the deciding byte.
    fn give_back(
        &mut self,
        candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        (markup, death): (usize, usize),
        sink: &mut dyn Sink,
    ) {
        if self.may_rescan(w, c, death, sink) {
            let end = c.out + candidate.opener + markup;
            self.no_body(candidate, w, c, (end, Resume::SameChannel), sink);
            self.block_opened = true;
        } else {
            refuted(w, c, death, sink);
        }
    }

    /// The candidate is markup up to `end`, and nothing else.
    fn no_body(
        &mut self,
        candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        (end, then): (usize, Resume),
        sink: &mut dyn Sink,
    ) {
        self.accept(candidate, w, c);
        self.account(SpanKind::Markup, w, c.out, end, sink);
        sink.trace(Trace::Empty { at: w.base + c.out as u64, len: (end - c.out) as u64 });
        self.emitter.boundary(Boundary::Other, self.channel(), sink);
        *c = Cursor::at(end);
        self.body_done(then, false, w.base + end as u64, sink);
    }

    /// The candidate is text after all; `death` is the index after the deciding byte.
    pub(super) fn refute(
        &mut self,
        candidate: Candidate,
        w: &Window<'_>,
        c: &mut Cursor,
        death: usize,
        sink: &mut dyn Sink,
    ) {
        self.keep_as_text(w, c, death, sink);
        if self.may_rescan(w, c, death, sink) {
            // The opener may not match again; whatever begins after its first scalar may.
            c.pos = ceil_char_boundary(w.text, c.out + candidate.bound + 1);
        }
    }

    /// The active candidate is text up to the index `end`, and nothing else.
    pub(super) fn keep_as_text(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        end: usize,
        sink: &mut dyn Sink,
    ) {
        self.counters.refuted += 1;
        self.mode = Mode::Text;
        refuted(w, c, end, sink);
        (c.pos, c.seen) = (end, c.out);
    }

    /// Whether the text of a candidate may be looked at again, up to `death`. If not, it is text.
    fn may_rescan(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        death: usize,
        sink: &mut dyn Sink,
    ) -> bool {
        let (opened, died) = (w.base + c.out as u64, w.base + death as u64);
        self.rescans = if opened < self.rescan_until { self.rescans + 1 } else { 1 };
        // The deciding byte may well begin the next candidate: that is no second look.
        self.rescan_until = self.rescan_until.max(died - 1);
        let may = self.rescans <= MAX_RESCANS;
        if !may {
            let bytes = died - opened;
            sink.event(Diagnostic::new(DiagnosticKind::RescanLimit, opened, bytes).into());
            self.mode = Mode::Text;
            (c.pos, c.seen) = (death, c.out);
        }
        may
    }

    /// The candidate outgrew its limit at `limit`.
    pub(super) fn overrun(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        limit: usize,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        let (at, bytes) = (w.base + c.out as u64, (limit - c.out) as u64);
        let kind = DiagnosticKind::CandidateLimit;
        if self.settings.limits.policy == LimitPolicy::Drop {
            self.drop_candidate(w, c, limit, kind, sink);
            return Ok(());
        }
        self.counters.refuted += 1;
        refuted(w, c, limit, sink);
        sink.event(Diagnostic::new(kind, at, bytes).into());
        self.mode = Mode::Text;
        (c.pos, c.seen) = (limit, c.out);
        if self.settings.limits.policy == LimitPolicy::Error {
            let error = LimitError { kind, at, bytes };
            self.flush_text(w, c, limit, sink);
            self.emitter.finish(sink);
            self.mode = Mode::Failed(error);
            return Err(error);
        }
        Ok(())
    }

    pub(super) fn drop_candidate(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
        kind: DiagnosticKind,
        sink: &mut dyn Sink,
    ) {
        self.counters.refuted += 1;
        self.mode = Mode::Text;
        self.drop_text(w, c, to, kind, sink);
    }

    /// Drops the text up to `to` and reports it.
    pub(super) fn drop_text(
        &mut self,
        w: &Window<'_>,
        c: &mut Cursor,
        to: usize,
        kind: DiagnosticKind,
        sink: &mut dyn Sink,
    ) {
        let (at, bytes) = (w.base + c.out as u64, (to - c.out) as u64);
        sink.event(Diagnostic::new(kind, at, bytes).into());
        self.account(SpanKind::Dropped, w, c.out, to, sink);
        self.emitter.boundary(Boundary::Other, self.channel(), sink);
        *c = Cursor::at(to);
    }
}

/// Tells that the candidate, whose first byte is at `c.out`, is text, which was seen at `death`.
fn refuted(w: &Window<'_>, c: &Cursor, death: usize, sink: &mut dyn Sink) {
    sink.trace(Trace::Refuted { at: w.base + c.out as u64, len: (death - c.out) as u64 });
}

/// How much of what it was offered a body looked at: it stops at what it decided.
pub(super) fn looked_at<B: BodyParsers + ?Sized>(feed: Feed, offered: &str, bodies: &B) -> u64 {
    let bytes = match feed {
        Feed::More { .. } | Feed::Committed { .. } => offered.len(),
        Feed::Done { used, .. }
        | Feed::Markup { used, .. }
        | Feed::Text { used, .. }
        | Feed::Mismatch { used }
        | Feed::Literal { used } => used,
    };
    bytes.saturating_sub(bodies.passed_over()) as u64
}
