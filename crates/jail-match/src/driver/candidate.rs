//! Candidates and committed bodies: from the opener to the commit or the refutation, and to the
//! end of the body.
//!
//! | text | decision |
//! |---|---|
//! | `<call>go</call>` | commits when its body is sure, here at `g`: the opener is markup, and the body emits the events of a call |
//! | `<call> is a tag` | is refuted at the blank: the bytes are text, and markers are searched for from the second byte on |

use super::{
    Driver,
    value_text::ValueText,
    window::{Candidate, Cursor, DriverState, Scan},
};
use crate::{
    body::{BodyParsers, Feed, Refutation, Resume, Verdict},
    channel::Channel,
    chars::ceil_char_boundary,
    diagnostic::{Diagnostic, DiagnosticKind},
    edge::OnCommit,
    limits::{LimitError, LimitPolicy, MAX_RESCANS},
    sink::{Sink, Span, SpanKind, Trace},
    whitespace::Boundary,
};

/// A count of refutations whose texts overlap.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rescans {
    /// Stream offset up to which text is scanned again.
    until: u64,
    /// The number of successive refutations that began before that offset.
    count: u32,
}

impl Driver {
    pub(super) fn feed_candidate<B: BodyParsers + ?Sized>(
        &mut self,
        mut candidate: Candidate,
        scan: &mut Scan<'_, B>,
    ) -> Result<bool, LimitError> {
        let text = scan.window.text;
        // Offering at most this much makes the limit fall on the same byte for every cut.
        let limit_end = self.settings.limits.candidate.max(candidate.opener);
        let limit_end = scan.cursor.out.saturating_add(limit_end);
        let limit = ceil_char_boundary(text, limit_end.min(text.len()));
        let offered = &text[scan.cursor.pos..limit];
        let feed = match offered {
            "" => Verdict::Undecided.after(0),
            _ => scan.bodies.feed(offered, scan.sink),
        };
        self.counters.examined += looked_at(feed, offered, scan.bodies);
        if feed.verdict == Verdict::RESCAN && scan.bodies.retry() {
            scan.cursor.pos = scan.cursor.out + candidate.opener;
            return Ok(true);
        }
        scan.cursor.pos += feed.used;
        if feed.verdict != Verdict::Undecided {
            self.decide(candidate, feed.verdict, scan);
            return Ok(true);
        }
        candidate.fed = scan.cursor.pos - scan.cursor.out;
        self.state = DriverState::Candidate(candidate);
        if text.len() >= limit_end {
            scan.cursor.pos = limit;
            return self.overrun(scan).map(|()| true);
        }
        Ok(self.end_candidate(candidate, scan))
    }

    /// Decides about a candidate if the stream ends with the window. Returns whether the stream
    /// ends.
    fn end_candidate<B: BodyParsers + ?Sized>(
        &mut self,
        candidate: Candidate,
        scan: &mut Scan<'_, B>,
    ) -> bool {
        let text = scan.window.text;
        let Some(end) = scan.window.ended() else { return false };
        let feed = scan.bodies.finish(&text[scan.cursor.pos..], end, scan.sink);
        let pos = scan.cursor.pos + feed.used;
        scan.cursor.pos =
            if matches!(feed.verdict, Verdict::Complete(_)) { pos } else { text.len() };
        if matches!(feed.verdict, Verdict::Empty(_)) {
            self.accept(candidate, scan);
            self.drop_candidate(scan, DiagnosticKind::CutOpener);
        } else {
            self.decide(candidate, feed.verdict, scan);
        }
        true
    }

    /// Carries out the verdict about a candidate. The cursor is after the byte that decided it.
    fn decide<B: BodyParsers + ?Sized>(
        &mut self,
        candidate: Candidate,
        verdict: Verdict,
        scan: &mut Scan<'_, B>,
    ) {
        match verdict {
            Verdict::Certain => self.commit(candidate, scan, scan.bodies.held()),
            Verdict::Complete(then) => {
                self.commit(candidate, scan, 0);
                self.body_done(then, scan.window.offset(scan.cursor.pos), scan.sink);
            }
            Verdict::Empty(then) => self.no_body(candidate, scan, then),
            Verdict::Refuted(Refutation::Markup { len }) => self.give_back(candidate, scan, len),
            Verdict::Refuted(Refutation::Literal) => self.keep_as_text(scan),
            // A body that is undecided at the end of the stream broke its contract.
            Verdict::RESCAN | Verdict::Undecided => {
                self.refute(candidate, scan);
            }
        }
    }

    pub(super) fn feed_committed<B: BodyParsers + ?Sized>(
        &mut self,
        scan: &mut Scan<'_, B>,
    ) -> bool {
        let text = scan.window.text;
        let offered = &text[scan.cursor.pos..];
        if !offered.is_empty() {
            let feed = scan.bodies.feed(offered, scan.sink);
            self.counters.examined += looked_at(feed, offered, scan.bodies);
            let (used, then) = feed.of_committed();
            let held = if then.is_none() { scan.bodies.held() } else { 0 };
            self.consume_body(scan, used, held);
            if let Some(then) = then {
                self.body_done(then, scan.window.offset(scan.cursor.pos), scan.sink);
                return true;
            }
        }
        let Some(end) = scan.window.ended() else { return false };
        let tail = &text[scan.cursor.pos..];
        let feed = scan.bodies.finish(tail, end, scan.sink);
        if matches!(feed.verdict, Verdict::Complete(_)) {
            self.consume_body(scan, feed.used, 0);
        }
        self.body_done(Resume::SameChannel, scan.window.offset(scan.cursor.pos), scan.sink);
        true
    }

    /// Moves past the `used` bytes that the committed body consumed. The body keeps the last
    /// `held`.
    fn consume_body<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, used: usize, held: usize) {
        scan.cursor = Cursor::at(scan.cursor.pos + used);
        self.account_body(scan.window.offset(scan.cursor.pos), held, scan.sink);
    }

    /// Accounts for the committed body's bytes before stream offset `to`, except the last `held`.
    #[inline]
    pub(super) fn account_body(&mut self, to: u64, held: usize, sink: &mut dyn Sink) {
        let (at, to) = (self.accounted, to.saturating_sub(held as u64));
        if to > at {
            self.accounted = to;
            sink.account(Span { kind: SpanKind::Body, at, len: to - at });
        }
    }

    /// Commits the candidate with all bytes up to the cursor. The body keeps the last `held` of
    /// them.
    fn commit<B: ?Sized>(&mut self, candidate: Candidate, scan: &mut Scan<'_, B>, held: usize) {
        self.counters.committed += 1;
        self.accept(candidate, scan);
        let (at, len) = scan.unread();
        (self.state, self.accounted) = (DriverState::Committed, at);
        self.account_body(at + len, held, scan.sink);
        scan.sink.trace(Trace::Committed { at, len });
        scan.cursor = Cursor::at(scan.cursor.pos);
        let channel = self.channel();
        self.emitter.boundary(Boundary::Call, channel, scan.sink);
        if candidate.on_commit == OnCommit::Leave && channel != Channel::CONTENT {
            self.leave(scan.sink);
            self.message.ended_by_call = channel == Channel::REASONING;
        }
    }

    /// Ends a committed body. Text continues at stream offset `at`.
    pub(super) fn body_done(&mut self, then: Resume, at: u64, sink: &mut dyn Sink) {
        self.emitter.call_ended();
        self.resume(then, at, sink);
    }

    /// Continues with text at stream offset `at`.
    fn resume(&mut self, then: Resume, at: u64, sink: &mut dyn Sink) {
        self.state = DriverState::Text;
        self.message.swallow = 0;
        match then {
            Resume::SameChannel => {}
            Resume::Halt => self.state = DriverState::Halted(at),
            Resume::Enter(channel) => {
                if self.message.open.len() >= self.settings.limits.depth {
                    // The new channel replaces the innermost one.
                    sink.event(Diagnostic::new(DiagnosticKind::DepthLimit, at, 0).into());
                    self.leave(sink);
                }
                self.enter(channel, 0, sink);
            }
            Resume::Switch(channel) => self.switch(channel, 0, sink),
        }
    }

    /// Records that the candidate's opener acted as markup.
    fn accept<B: ?Sized>(&mut self, candidate: Candidate, scan: &Scan<'_, B>) {
        let out = scan.cursor.out;
        let opener = out + candidate.bound..out + candidate.opener;
        self.spend(candidate.edge, &scan.window.bytes()[opener]);
        self.message.ended = false;
    }

    /// Ends a candidate whose opener and the `markup` bytes after it are markup. The rest is text.
    /// The cursor is after the byte that decided it.
    fn give_back<B: ?Sized>(
        &mut self,
        candidate: Candidate,
        scan: &mut Scan<'_, B>,
        markup: usize,
    ) {
        if self.may_rescan(scan) {
            scan.cursor.pos = scan.cursor.out + candidate.opener + markup;
            self.expect_value(scan, scan.cursor.pos);
            self.no_body(candidate, scan, Resume::SameChannel);
            self.message.block_opened = true;
        } else {
            trace_refuted(scan);
        }
    }

    /// Ends a candidate that is markup up to the cursor and has no call.
    fn no_body<B: ?Sized>(&mut self, candidate: Candidate, scan: &mut Scan<'_, B>, then: Resume) {
        self.accept(candidate, scan);
        let end = scan.cursor.pos;
        let (at, len) = scan.unread();
        scan.account(SpanKind::Markup, scan.cursor.out..end);
        scan.sink.trace(Trace::Empty { at, len });
        self.emitter.boundary(Boundary::Other, self.channel(), scan.sink);
        scan.cursor = Cursor::at(end);
        self.resume(then, at + len, scan.sink);
    }

    /// Ends a candidate that is text. The cursor is after the byte that decided it.
    pub(super) fn refute<B: ?Sized>(&mut self, candidate: Candidate, scan: &mut Scan<'_, B>) {
        self.keep_as_text(scan);
        self.expect_value(scan, scan.cursor.out + candidate.opener);
        if self.may_rescan(scan) {
            // The opener must not match again, but a marker that begins inside it may.
            let second = scan.cursor.out + candidate.bound + 1;
            scan.cursor.pos = ceil_char_boundary(scan.window.text, second);
        }
    }

    /// Prepares for a value at index `from`, after an opener that began no call.
    fn expect_value<B: ?Sized>(&mut self, scan: &Scan<'_, B>, from: usize) {
        let text = scan.window.bytes().get(from..).unwrap_or_default();
        let value = ValueText::at_start(text, scan.window.offset(from));
        if let Some(value) = value.filter(|_| !self.message.preceding.is_quoted()) {
            self.message.value = value;
        }
    }

    /// Ends a candidate whose bytes up to the cursor are text that is not scanned again.
    fn keep_as_text<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>) {
        self.counters.refuted += 1;
        self.state = DriverState::Text;
        trace_refuted(scan);
        scan.cursor.seen = scan.cursor.out;
    }

    /// Returns whether a candidate's text up to the cursor may be scanned again. If not, it is
    /// text.
    fn may_rescan<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>) -> bool {
        let (at, bytes) = scan.unread();
        let Rescans { until, count } = &mut self.rescans;
        *count = if at < *until { *count + 1 } else { 1 };
        // The deciding byte may begin the next candidate, which is not a rescan of this one.
        *until = (*until).max(at + bytes - 1);
        let may = *count <= MAX_RESCANS;
        if !may {
            scan.sink.event(Diagnostic::new(DiagnosticKind::RescanLimit, at, bytes).into());
            self.state = DriverState::Text;
            scan.cursor.seen = scan.cursor.out;
        }
        may
    }

    /// Applies the limit of candidates, which falls at the cursor.
    fn overrun<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>) -> Result<(), LimitError> {
        let ((at, bytes), kind) = (scan.unread(), DiagnosticKind::CandidateLimit);
        let policy = self.settings.limits.policy;
        if policy == LimitPolicy::Drop {
            self.drop_candidate(scan, kind);
            return Ok(());
        }
        self.keep_as_text(scan);
        scan.sink.event(Diagnostic::new(kind, at, bytes).into());
        if policy == LimitPolicy::Error {
            let error = LimitError { kind, at, bytes };
            self.flush_text(scan, scan.cursor.pos);
            self.emitter.finish(scan.sink);
            self.state = DriverState::Failed(error);
            return Err(error);
        }
        Ok(())
    }

    /// Drops a candidate up to the cursor.
    fn drop_candidate<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, kind: DiagnosticKind) {
        self.counters.refuted += 1;
        self.state = DriverState::Text;
        self.drop_text(scan, kind);
    }

    /// Drops the text up to the cursor and reports it.
    pub(super) fn drop_text<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, kind: DiagnosticKind) {
        let (at, bytes) = scan.unread();
        let end = scan.cursor.pos;
        scan.sink.event(Diagnostic::new(kind, at, bytes).into());
        scan.account(SpanKind::Dropped, scan.cursor.out..end);
        self.message.interrupt(&self.table);
        self.emitter.boundary(Boundary::Other, self.channel(), scan.sink);
        scan.cursor = Cursor::at(end);
    }
}

/// Traces that the candidate up to the cursor is text.
fn trace_refuted<B: ?Sized>(scan: &mut Scan<'_, B>) {
    let (at, len) = scan.unread();
    scan.sink.trace(Trace::Refuted { at, len });
}

/// Returns the number of bytes that a body examined. A body stops where it decides.
pub(super) fn looked_at<B: BodyParsers + ?Sized>(feed: Feed, offered: &str, bodies: &B) -> u64 {
    let bytes = if feed.verdict.is_open() { offered.len() } else { feed.used };
    bodies.looked_at(bytes) as u64
}
