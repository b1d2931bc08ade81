//! [`ToolCallParser`]: the parser of calls as [`BodyParsers`] of a driver. It decides what happens to
//! blocks that are not calls.
//!
//! ```text
//! BadPayload::Reject, answer [{"name": "f", "parameters": {}}]   events of f after the last `]`
//! BadPayload::Reject, answer [{"name": "f"}, oops                dropped: `Rejected`
//! BrokenBlock::Text,  answer <tool_call>{oops}</tool_call>       the block is emitted as text
//! CallsInCode::Text,  answer `<tool_call>{..}</tool_call>` is    text, after the second backtick
//! ```

use alloc::boxed::Box;
use core::{fmt, num::NonZeroU64};

use jail_match::{
    BodyId, BodyParsers, Diagnostic, DiagnosticKind, End, Feed, OpenCode, Opener, Resume, Sink,
    Verdict,
};

use crate::{
    block_reader::BlockReader,
    calls::Calls,
    compiled::Grammar,
    event_log::{CommitAt, Decision, EventLog},
    ids::Ids,
    options::{BadPayload, BrokenBlock, CallsInCode, Options},
    tools::Tools,
};

/// A guided payload that was dropped because it was not calls; see [`BadPayload::Reject`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Offset after the payload's first byte.
    pub at: u64,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: expected nothing but calls in JSON; the payload was dropped", self.at)
    }
}

impl core::error::Error for Rejected {}

/// The body parsers of one message's calls. Body `n` is read after the grammar's opener `n`.
#[derive(Debug, Clone)]
pub struct ToolCallParser {
    reader: BlockReader,
    /// The policy for broken blocks. A block that is rolled back does not restore it.
    broken_block: BrokenBlock,
    /// Events of the active body that wait for a decision.
    log: Option<Box<EventLog>>,
    /// Whether the message ends inside the code that contains a call.
    code_stays_open: bool,
    /// Maximum bytes of the active body that are kept while it is undecided.
    room: u32,
    /// The code around the active body, if calls in code are text.
    code: Option<Box<OpenCode>>,
    /// One more than the bytes of a payload that is dropped with all text after it, if the active
    /// body is one.
    dropped: Option<NonZeroU64>,
}

impl ToolCallParser {
    /// Creates the body parsers for the openers of `grammar`.
    #[must_use]
    pub fn new(grammar: Grammar, tools: Tools, options: Options) -> Self {
        Self {
            broken_block: options.broken_block,
            reader: BlockReader::new(grammar, tools, options),
            log: None,
            code_stays_open: false,
            room: 0,
            code: None,
            dropped: None,
        }
    }

    /// Returns the grammar of the calls.
    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        self.reader.grammar()
    }

    /// Returns the calls of the message, with the declared tools and the options.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        self.reader.calls()
    }

    /// Generates the ids of later calls with `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.reader.set_ids(ids);
    }

    /// Applies `policy` to later blocks.
    pub fn set_broken_block(&mut self, policy: BrokenBlock) {
        self.broken_block = policy;
    }

    /// Returns the policy for broken blocks.
    #[must_use]
    pub fn broken_block(&self) -> BrokenBlock {
        self.broken_block
    }

    /// Prepares the parser for a new message.
    pub fn reset(&mut self) {
        self.reader.reset();
        (self.log, self.dropped) = (None, None);
        (self.code, self.code_stays_open) = (None, false);
    }

    /// Returns the payload that was dropped because it was not calls, if the active body is one.
    #[must_use]
    pub fn rejected(&self) -> Option<Rejected> {
        self.dropped.map(|_| Rejected { at: self.reader.begun_at() })
    }

    /// Returns the bytes in buffers of the active body, beyond those in the driver.
    #[must_use]
    pub fn buffered(&self) -> usize {
        let logged = self.log.as_ref().map_or(0, |log| log.buffered());
        logged.saturating_add(self.reader.buffered())
    }

    /// Returns the number of bytes of a block of calls that were read but not emitted yet, beyond
    /// those in the driver.
    #[must_use]
    pub fn held(&self) -> usize {
        // The driver keeps the text of a body whose events wait.
        if self.log.is_some() { 0 } else { self.reader.held() }
    }

    fn bad_payload(&self) -> BadPayload {
        self.reader.calls().options().bad_payload
    }

    /// Returns whether the active body is dropped if it is not calls.
    fn rejects(&self) -> bool {
        self.reader.is_payload() && self.bad_payload() == BadPayload::Reject
    }

    /// Opens a log for the active body, if the policies ask for one.
    fn open_log(&mut self) {
        let payload = self.reader.is_payload();
        let commit_at = match self.code.as_deref() {
            Some(&code) => Some(CommitAt::CodeEnd(code)),
            None => CommitAt::under(payload, self.bad_payload(), self.broken_block),
        };
        self.log = commit_at.map(|commit_at| {
            // One byte before the driver would take the body for text.
            let room = self.room.saturating_sub(1) as usize;
            Box::new(EventLog::new(&mut self.reader, commit_at, room))
        });
    }

    /// Reads more of a body whose events wait, or text after a rejected payload.
    fn feed_log(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if let Some(dropped) = &mut self.dropped {
            *dropped = dropped.saturating_add(text.len() as u64);
            return Verdict::Certain.after(text.len());
        }
        let Some(mut log) = self.log.take() else { return self.reader.feed(text, sink) };
        match log.feed(&mut self.reader, text) {
            Decision::Wait { used } => {
                self.log = Some(log);
                Verdict::Undecided.after(used)
            }
            Decision::Commit(feed) => {
                log.commit(sink);
                feed
            }
            Decision::RollBack(feed) => {
                log.give_up(&mut self.reader, sink);
                feed
            }
        }
    }
}

impl BodyParsers for ToolCallParser {
    fn may_begin(&self, body: BodyId) -> bool {
        self.reader.may_begin(body)
    }

    fn begin(&mut self, opener: Opener) {
        self.room = u32::try_from(opener.room).unwrap_or(u32::MAX);
        let policy = self.reader.calls().options().in_code;
        let is_text = policy == CallsInCode::Text && !self.code_stays_open;
        self.code = opener.code.filter(|_| is_text).map(Box::new);
        self.reader.begin(&opener);
        self.open_log();
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if self.log.is_none() && self.dropped.is_none() {
            return self.reader.feed(text, sink);
        }
        self.feed_log(text, sink)
    }

    fn retry(&mut self) -> bool {
        if self.reader.retry() {
            self.open_log();
            return true;
        }
        // No other reading of the payload is left, so that all of it is dropped.
        if self.rejects() {
            self.dropped.get_or_insert(NonZeroU64::MIN);
        }
        self.dropped.is_some()
    }

    fn keeps_call(&self) -> bool {
        self.log.is_some() && self.reader.has_begun_call()
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> Feed {
        if let Some(mut log) = self.log.take() {
            match log.finish(&mut self.reader, tail, end) {
                Ok(feed) => {
                    // The code stays open to the end, so that later calls in it run, too.
                    if self.code.is_some() {
                        self.code_stays_open = true;
                    }
                    log.commit(sink);
                    return feed;
                }
                Err(feed) => {
                    let fed = log.fed() as u64;
                    log.give_up(&mut self.reader, sink);
                    if !self.rejects() {
                        return feed;
                    }
                    self.dropped = Some(NonZeroU64::MIN.saturating_add(fed));
                }
            }
        }
        if let Some(dropped) = self.dropped {
            let bytes = dropped.get().saturating_sub(1).saturating_add(tail.len() as u64);
            let at = self.reader.begun_at();
            sink.event(Diagnostic::new(DiagnosticKind::BadPayload, at, bytes).into());
            return Verdict::Complete(Resume::SameChannel).after(tail.len());
        }
        let feed = self.reader.finish(tail, end, sink);
        if feed.verdict == Verdict::RESCAN && self.reader.is_payload() {
            // The beginning of a payload is not text.
            return Verdict::Empty(Resume::SameChannel).after(feed.used);
        }
        feed
    }

    fn end(&mut self) {
        // The driver gave up an uncertain body because of a limit, or because a server separated an
        // item inside it.
        if let Some(log) = self.log.take() {
            log.roll_back(&mut self.reader);
        }
        self.reader.end();
    }

    fn rest(&mut self) {
        self.reader.rest();
    }

    fn held(&self) -> usize {
        Self::held(self)
    }

    fn looked_at(&self, offered: usize) -> usize {
        match self.log.as_ref().and_then(|log| log.known()) {
            _ if self.dropped.is_some() => offered,
            Some(known) => offered.saturating_sub(known),
            None => self.reader.looked_at(offered),
        }
    }
}
