//! The parsers of a guard's blocks. A call's events are withheld until the guided payload, or the
//! first call of the block, is known to be whole.
//!
//! ```text
//! BadPayload::Reject, answer [{"name": "f", "parameters": {}}]   events of f after the last `]`
//! BadPayload::Reject, answer [{"name": "f"}, oops                dropped: `Rejected`
//! BrokenBlock::Text,  answer <tool_call>{oops}</tool_call>       the block is emitted as text
//! ```

use std::fmt;

use jail_match::{AtEnd, BodyId, BodyParsers, Diagnostic, DiagnosticKind, End, Feed, Opener, Sink};
use toolcall_parsers::{Grammar, Ids, Parallel, ToolCallParser, Wanted};

use super::{
    Guard,
    choice::BadPayload,
    cursor::Cursor,
    event_log::{CommitAt, Decision, EventLog},
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

impl std::error::Error for Rejected {}

/// Policy for a block of calls whose first call is malformed or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BrokenBlock {
    /// Emits the part of the call that was read.
    #[default]
    Emit,
    /// Emits the text of the block in its place. Nothing of a block is emitted before its first
    /// call is whole. A block longer than [`jail_match::Limits::candidate`] is emitted as under
    /// [`BrokenBlock::Emit`].
    Text,
}

/// The blocks that become text because of their first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextBlocks {
    None,
    /// Blocks whose first call is malformed. Of a call that was cut, the part that was read is
    /// emitted.
    Malformed,
    /// Blocks whose first call is malformed or was cut.
    Broken,
}

impl From<BrokenBlock> for TextBlocks {
    fn from(broken: BrokenBlock) -> Self {
        match broken {
            BrokenBlock::Emit => Self::None,
            BrokenBlock::Text => Self::Broken,
        }
    }
}

impl Guard {
    /// Makes at least these blocks text, beginning with the next block. Response templates have no
    /// blocks.
    pub(crate) fn add_text_blocks(&mut self, blocks: TextBlocks) {
        if let Cursor::Family(family) = &mut self.cursor {
            family.bodies.text_blocks = family.bodies.text_blocks.max(blocks);
        }
    }
}

/// The parser of a grammar whose first openers may begin a guided payload.
#[derive(Debug, Clone)]
pub(super) struct GuidedParser {
    inner: ToolCallParser,
    /// Number of body ids, from 0, that belong to guided payloads.
    guided: u32,
    /// Length of the active body's opener.
    opener: u32,
    bad: BadPayload,
    text_blocks: TextBlocks,
    /// Maximum bytes of an opener and its body that are kept while the body is undecided.
    limit: u32,
    /// Whether the active body is a guided payload.
    payload: bool,
    at: u64,
    /// Events of the active body that wait for a decision.
    log: Option<Box<EventLog>>,
    /// Whether the active body is a payload that is dropped, with all text after it.
    rejected: bool,
    dropped: u64,
}

impl GuidedParser {
    pub(super) fn new(
        inner: ToolCallParser,
        guided: usize,
        (bad, broken): (BadPayload, BrokenBlock),
        limit: usize,
    ) -> Self {
        Self {
            inner,
            guided: u32::try_from(guided).unwrap_or(u32::MAX),
            opener: 0,
            bad,
            text_blocks: broken.into(),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            payload: false,
            at: 0,
            log: None,
            rejected: false,
            dropped: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.inner.reset();
        (self.payload, self.log, self.rejected, self.dropped) = (false, None, false, 0);
    }

    pub(super) fn rejected(&self) -> Option<Rejected> {
        self.rejected.then_some(Rejected { at: self.at })
    }

    pub(super) fn grammar(&self) -> &Grammar {
        self.inner.grammar()
    }

    /// Returns the source of ids of calls.
    pub(super) fn ids(&self) -> &Ids {
        self.inner.ids()
    }

    /// Returns whether more than one call may be emitted.
    pub(super) fn parallel(&self) -> Parallel {
        self.inner.parallel()
    }

    /// Returns the calls that may be emitted.
    pub(super) fn wanted(&self) -> &Wanted {
        self.inner.wanted()
    }

    pub(super) fn set_ids(&mut self, ids: Ids) {
        self.inner.set_ids(ids);
    }

    /// Returns the live bytes in addition to those that the driver keeps for the active body.
    pub(super) fn buffered(&self) -> usize {
        let logged = self.log.as_ref().map_or(0, |log| log.buffered());
        logged + self.inner.buffered()
    }

    /// Returns the held bytes in addition to those that the driver keeps for the active body.
    pub(super) fn held(&self) -> usize {
        if self.log.is_some() { 0 } else { self.inner.held() }
    }

    /// Whether the active body is dropped if it is not calls.
    fn rejects(&self) -> bool {
        self.payload && self.bad == BadPayload::Reject
    }

    /// Opens a log for the active body, if the policies ask for one.
    fn open_log(&mut self) {
        let commit_at = match (self.payload, self.bad, self.text_blocks) {
            (true, BadPayload::Reject, _) => CommitAt::BlockEndOrNothing,
            (true, BadPayload::RecoverAsText, _) => CommitAt::BlockEnd,
            (_, _, TextBlocks::Malformed) => CommitAt::FirstCall,
            (_, _, TextBlocks::Broken) => CommitAt::WholeFirstCall,
            (_, _, TextBlocks::None) => return,
        };
        // One byte before the driver would take the body for text.
        let room = self.limit.saturating_sub(self.opener.saturating_add(1)) as usize;
        self.log = Some(Box::new(EventLog::new(&mut self.inner, commit_at, self.at, room)));
    }

    /// Reads more of a body whose events wait, or text after a rejected payload.
    fn feed_log(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        let Some(log) = &mut self.log else {
            self.dropped += text.len() as u64;
            return Feed::Committed { used: text.len() };
        };
        let decision = log.feed(&mut self.inner, text);
        let log = match decision {
            Decision::Wait { .. } => None,
            Decision::Commit(_) | Decision::RollBack(_) => self.log.take(),
        };
        match (decision, log) {
            (Decision::Wait { used }, _) => Feed::More { used },
            (Decision::Commit(feed), log) => {
                if let Some(log) = log {
                    log.commit(sink);
                }
                feed
            }
            (Decision::RollBack(feed), log) => {
                if let Some(log) = log {
                    log.give_up(&mut self.inner, sink);
                }
                feed
            }
        }
    }
}

impl BodyParsers for GuidedParser {
    fn may_begin(&self, body: BodyId) -> bool {
        self.inner.may_begin(body)
    }

    fn begin(&mut self, opener: Opener) {
        self.inner.begin(opener);
        self.payload = u32::from(opener.body) < self.guided;
        self.at = opener.at;
        self.opener = u32::try_from(opener.len).unwrap_or(u32::MAX);
        self.open_log();
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if self.log.is_none() && !self.rejected {
            return self.inner.feed(text, sink);
        }
        self.feed_log(text, sink)
    }

    fn retry(&mut self) -> bool {
        if self.inner.retry() {
            self.open_log();
            return true;
        }
        // No other reading of the payload is left, so that all of it is dropped.
        self.rejected = self.rejects();
        self.rejected
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd {
        if let Some(mut log) = self.log.take() {
            let finished = log.finish(&mut self.inner, tail, end);
            if let Ok(at_end) = finished {
                log.commit(sink);
                return at_end;
            }
            if self.rejects() {
                (self.rejected, self.dropped) = (true, log.fed() as u64);
            }
            log.give_up(&mut self.inner, sink);
            if let (Err(at_end), false) = (finished, self.rejected) {
                return at_end;
            }
        }
        if self.rejected {
            let (kind, bytes) = (DiagnosticKind::BadPayload, self.dropped + tail.len() as u64);
            sink.event(Diagnostic::new(kind, self.at, bytes).into());
            return AtEnd::Closed { used: tail.len() };
        }
        match self.inner.finish(tail, end, sink) {
            // The beginning of a payload is not text.
            AtEnd::Release if self.payload => AtEnd::Markup,
            tail => tail,
        }
    }

    fn end(&mut self) {
        // The driver gave up an uncertain body because of a limit, or because a server separated an
        // item inside it.
        if let Some(log) = self.log.take() {
            log.roll_back(&mut self.inner);
        }
        self.inner.end();
    }

    fn rest(&mut self) {
        self.inner.rest();
    }

    fn held(&self) -> usize {
        Self::held(self)
    }

    fn looked_at(&self, offered: usize) -> usize {
        if self.rejected { offered } else { self.inner.looked_at(offered) }
    }
}
