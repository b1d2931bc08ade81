//! The event log: events of a block that wait until it is certain that the block is calls.
//!
//! ```text
//!   text of a body ─► reader ─► log ─┬─ commit:    the sink gets the events, in order
//!                                    └─ roll back: they are forgotten, the reader is restored
//! ```

use alloc::vec::Vec;

use jail_match::{
    CodeEnd, Diagnostic, DiagnosticKind, End, Event, Feed, OpenCode, Outcome, OwnedEvent,
    Refutation, Sink, Trace, Verdict,
};

use crate::{
    block_reader::{BlockReader, Snapshot},
    options::{BadPayload, BrokenBlock},
};

/// The verdict that a body is text that is not scanned again.
const LITERAL: Verdict = Verdict::Refuted(Refutation::Literal);

/// The place in a body where its events are committed, and what happens to a body that does not
/// reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitAt {
    /// At the end of the first call. If that call is malformed, the body is text. If the call is
    /// cut, it is emitted.
    FirstCall,
    /// At the end of the first call. If that call is malformed or cut, the body is text.
    WholeFirstCall,
    /// At the end of the body. If one of its calls is broken, the body is text.
    BlockEnd,
    /// At the end of the body. If one of its calls is broken, or the body is too long, it is
    /// dropped.
    BlockEndOrNothing,
    /// At the end of a message that leaves this code open. If the code is closed after the body,
    /// the body is text.
    CodeEnd(OpenCode),
}

impl CommitAt {
    /// Returns the place for a body under these policies, or `None` if events need not wait.
    /// `payload` states whether the body begins like a payload.
    pub(crate) fn under(payload: bool, bad: BadPayload, broken: BrokenBlock) -> Option<Self> {
        match (bad, broken) {
            (BadPayload::Reject, _) if payload => Some(Self::BlockEndOrNothing),
            (BadPayload::RecoverAsText, _) if payload => Some(Self::BlockEnd),
            (_, BrokenBlock::TextIfMalformed) => Some(Self::FirstCall),
            (_, BrokenBlock::Text) => Some(Self::WholeFirstCall),
            (_, BrokenBlock::Emit) => None,
        }
    }

    fn waits_for_all(self) -> bool {
        matches!(self, Self::BlockEnd | Self::BlockEndOrNothing)
    }
}

/// Events of one body, and a snapshot of the reader before them.
#[derive(Debug, Clone)]
pub(crate) struct EventLog {
    before: Snapshot,
    commit_at: CommitAt,
    entries: Vec<LoggedEvent>,
    outcome: Option<LoggedOutcome>,
    committed: bool,
    /// Stream offset after the opener.
    at: u64,
    /// Bytes of the body that the reader consumed.
    fed: usize,
    /// Bytes of the body that may be logged.
    room: usize,
    /// The body that has ended inside code, and waits for the end of the code.
    ended: Option<EndedInCode>,
}

/// A body that has ended inside code.
#[derive(Debug, Clone, Copy)]
struct EndedInCode {
    code: OpenCode,
    verdict: Verdict,
    /// Bytes after the body that were read.
    read: usize,
    /// Bytes of the text fed last that were read before.
    known: usize,
}

impl EndedInCode {
    /// Reads the text after the body, which begins after `used` bytes of `text`.
    fn read(&mut self, text: &str, used: usize) -> Option<Decision> {
        self.known = self.read;
        let more = text.get(used.saturating_add(self.read)..).unwrap_or_default();
        match self.code.read(more) {
            CodeEnd::Open => {
                self.read = self.read.saturating_add(more.len());
                None
            }
            CodeEnd::Never => Some(Decision::Commit(self.verdict.after(used))),
            CodeEnd::Closed(len) => {
                let to = used.saturating_add(self.read).saturating_add(len);
                Some(Decision::RollBack(LITERAL.after(to)))
            }
        }
    }
}

#[derive(Debug, Clone)]
enum LoggedEvent {
    Event(OwnedEvent),
    Trace(Trace),
}

/// The outcome that decides about a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoggedOutcome {
    Good,
    Malformed,
    Cut,
}

/// The state of a log after more text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The body is not decided. The reader consumed `used` more bytes.
    Wait { used: usize },
    /// The body is a call: [`EventLog::commit`] is next.
    Commit(Feed),
    /// The body has the outcome of `Feed`: [`EventLog::give_up`] is next.
    RollBack(Feed),
}

/// Returns the length of the longest prefix of `text` with at most `most` bytes that ends between
/// characters.
fn within(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

impl EventLog {
    /// Creates a log for the body that `reader` has begun. A body of more than `room` bytes is
    /// decided before its end. Under [`CommitAt::BlockEnd`], the driver's limit decides instead.
    pub(crate) fn new(reader: &mut BlockReader, commit_at: CommitAt, room: usize) -> Self {
        Self {
            before: reader.snapshot(),
            commit_at,
            entries: Vec::new(),
            outcome: None,
            committed: false,
            at: reader.begun_at(),
            fed: 0,
            room: match commit_at {
                CommitAt::BlockEnd | CommitAt::CodeEnd(_) => usize::MAX,
                _ => room,
            },
            ended: None,
        }
    }

    /// Returns the bytes of the events in the log.
    pub(crate) fn buffered(&self) -> usize {
        let bytes = |entry: &LoggedEvent| match entry {
            LoggedEvent::Event(OwnedEvent::CallArguments { fragment, .. }) => fragment.len(),
            LoggedEvent::Event(OwnedEvent::CallStart { id, name, .. }) => {
                id.len().saturating_add(name.len())
            }
            LoggedEvent::Event(_) | LoggedEvent::Trace(_) => 0,
        };
        self.entries.iter().map(bytes).sum()
    }

    /// Bytes of the body that the reader consumed.
    pub(crate) fn fed(&self) -> usize {
        self.fed
    }

    /// Bytes of the text fed last that were read before.
    pub(crate) fn known(&self) -> Option<usize> {
        self.ended.map(|ended| ended.known)
    }

    /// Feeds the reader, with the log as its sink.
    pub(crate) fn feed(&mut self, reader: &mut BlockReader, text: &str) -> Decision {
        if let Some(ended) = &mut self.ended {
            return ended.read(text, 0).unwrap_or(Decision::Wait { used: 0 });
        }
        let head = within(text, self.room.saturating_sub(self.fed));
        let feed = match &text[..head] {
            "" => Verdict::Undecided.after(0),
            head => reader.feed(head, self),
        };
        self.committed |= feed.verdict == Verdict::Certain;
        let decision = match self.commit_at {
            CommitAt::FirstCall | CommitAt::WholeFirstCall => {
                self.at_first_call(reader, feed, head)
            }
            CommitAt::BlockEnd | CommitAt::BlockEndOrNothing => self.at_block_end(feed),
            CommitAt::CodeEnd(code) => self.at_code_end(code, feed, text),
        };
        if let Some(decision) = decision {
            return decision;
        }
        if feed.verdict.is_open() && head == text.len() {
            self.fed += feed.used;
            return Decision::Wait { used: feed.used };
        }
        // The body is longer than may be logged.
        match feed.verdict {
            _ if self.commit_at == CommitAt::BlockEndOrNothing => {
                Decision::RollBack(Verdict::RESCAN.after(feed.used))
            }
            Verdict::Undecided if self.committed => {
                Decision::Commit(Verdict::Certain.after(feed.used))
            }
            _ => Decision::Commit(feed),
        }
    }

    fn at_first_call(&self, reader: &BlockReader, feed: Feed, head: usize) -> Option<Decision> {
        match self.outcome {
            Some(LoggedOutcome::Malformed | LoggedOutcome::Cut) => {
                let from = self.at.saturating_add(self.fed as u64);
                let at = reader.decided_at().checked_sub(from);
                let at = at.and_then(|at| usize::try_from(at).ok());
                let used = at.map_or(head, |at| at.min(head));
                Some(Decision::RollBack(LITERAL.after(used)))
            }
            None if feed.verdict.is_open() => None,
            Some(LoggedOutcome::Good) | None => Some(Decision::Commit(feed)),
        }
    }

    fn at_block_end(&self, feed: Feed) -> Option<Decision> {
        let whole = self.outcome.is_none();
        let dropped = self.commit_at == CommitAt::BlockEndOrNothing;
        match feed.verdict {
            Verdict::Undecided | Verdict::Certain if whole || !dropped => None,
            Verdict::Complete(_) | Verdict::Empty(_) if whole => Some(Decision::Commit(feed)),
            _ => Some(Decision::RollBack(Verdict::RESCAN.after(feed.used))),
        }
    }

    fn at_code_end(&mut self, code: OpenCode, feed: Feed, text: &str) -> Option<Decision> {
        match feed.verdict {
            Verdict::Complete(_) => {
                let ended = EndedInCode { code, verdict: feed.verdict, read: 0, known: 0 };
                let ended = self.ended.insert(ended);
                Some(ended.read(text, feed.used).unwrap_or(Decision::Wait { used: feed.used }))
            }
            verdict => (!verdict.is_open()).then_some(Decision::Commit(feed)),
        }
    }

    /// Ends a stream inside code; `tail` was not consumed.
    fn finish_in_code(
        &mut self,
        reader: &mut BlockReader,
        (code, tail): (OpenCode, &str),
        end: End,
    ) -> Result<Feed, Feed> {
        let (feed, code) = match self.ended {
            Some(EndedInCode { code, verdict, .. }) => (verdict.after(0), code),
            None => {
                let feed = reader.finish(tail, end, self);
                let mut code = code;
                let rest = tail.get(feed.used..).unwrap_or_default();
                if matches!(code.read(rest), CodeEnd::Closed(_)) {
                    return Err(LITERAL.after(0));
                }
                (feed, code)
            }
        };
        if end == End::Stop && !code.is_closed() { Ok(feed) } else { Err(LITERAL.after(0)) }
    }

    /// Ends the stream; `tail` was not consumed. `Err` holds what happens to a body that is not a
    /// call.
    pub(crate) fn finish(
        &mut self,
        reader: &mut BlockReader,
        tail: &str,
        end: End,
    ) -> Result<Feed, Feed> {
        if let CommitAt::CodeEnd(code) = self.commit_at {
            return self.finish_in_code(reader, (code, tail), end);
        }
        let feed = reader.finish(tail, end, self);
        match (self.commit_at, self.outcome) {
            (CommitAt::FirstCall, Some(LoggedOutcome::Malformed))
            | (CommitAt::WholeFirstCall, Some(LoggedOutcome::Malformed | LoggedOutcome::Cut)) => {
                Err(LITERAL.after(0))
            }
            (CommitAt::FirstCall | CommitAt::WholeFirstCall, _) => Ok(feed),
            (_, None) if matches!(feed.verdict, Verdict::Complete(_)) => Ok(feed),
            _ => Err(Verdict::RESCAN.after(0)),
        }
    }

    /// Writes the events to `sink`.
    pub(crate) fn commit(self, sink: &mut dyn Sink) {
        for entry in self.entries {
            match entry {
                LoggedEvent::Event(event) => sink.event(event.as_event()),
                LoggedEvent::Trace(trace) => sink.trace(trace),
            }
        }
    }

    /// Drops the events and restores `reader`. If the block becomes text because of a call in it,
    /// that is reported.
    pub(crate) fn give_up(self, reader: &mut BlockReader, sink: &mut dyn Sink) {
        let reported = match self.commit_at {
            CommitAt::BlockEndOrNothing => None,
            CommitAt::CodeEnd(_) => Some(DiagnosticKind::CallInCode),
            _ => Some(DiagnosticKind::BrokenBlock),
        };
        if let Some(kind) = reported.filter(|_| self.outcome.is_some()) {
            sink.event(Diagnostic::new(kind, self.at, 0).into());
        }
        self.roll_back(reader);
    }

    /// Forgets the events and restores `reader`.
    pub(crate) fn roll_back(self, reader: &mut BlockReader) {
        reader.restore(self.before);
    }
}

impl Sink for EventLog {
    fn event(&mut self, event: Event<'_>) {
        let outcome = match event {
            Event::CallEnd { outcome, .. } => match outcome {
                Outcome::Complete => Some(LoggedOutcome::Good),
                Outcome::Repaired if !self.commit_at.waits_for_all() => Some(LoggedOutcome::Good),
                Outcome::Malformed => Some(LoggedOutcome::Malformed),
                _ => Some(LoggedOutcome::Cut),
            },
            Event::Diagnostic(it) if it.kind == DiagnosticKind::Skipped => {
                self.commit_at.waits_for_all().then_some(LoggedOutcome::Malformed)
            }
            _ => None,
        };
        // Where all calls count, only a broken call decides.
        let decides = |outcome: &LoggedOutcome| {
            *outcome != LoggedOutcome::Good || !self.commit_at.waits_for_all()
        };
        self.outcome = self.outcome.or(outcome.filter(decides));
        match (event, self.entries.last_mut()) {
            (
                Event::CallArguments { index, fragment },
                Some(LoggedEvent::Event(OwnedEvent::CallArguments { index: last, fragment: kept })),
            ) if *last == index => kept.push_str(fragment),
            _ => self.entries.push(LoggedEvent::Event(event.to_owned())),
        }
    }

    fn trace(&mut self, trace: Trace) {
        self.entries.push(LoggedEvent::Trace(trace));
    }
}
