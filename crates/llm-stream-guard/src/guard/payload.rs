//! The bodies of a guard: what a guided payload, or a call, may have to be before any of it is emitted.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "bytes of one stream, counted with 64 bits, and of one payload in memory: `fed` of \
              its `text` were read, of which `before` came earlier; an opener is one piece of \
              text"
)]

use std::fmt;

use jail_match::{
    AtEnd, BodyId, BodyParsers, Diagnostic, DiagnosticKind, End, Event, Feed, Opener, Outcome, Sink,
};
use toolcall_parsers::{Grammar, Ids, Parallel, ToolCallParser, Wanted};

use super::{
    Guard,
    ahead::{Ahead, Read, Until, within},
    choice::BadPayload,
    cursor::Cursor,
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

/// What becomes of a block of calls whose first call breaks or is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BrokenBlock {
    /// The call comes out as far as it goes.
    #[default]
    Emit,
    /// What was read of the block is text, in its place. Nothing of a block comes out before its
    /// first call is whole, or the block is longer than [`jail_match::Limits::candidate`]: then it is
    /// what [`BrokenBlock::Emit`] says.
    Text,
}

impl Guard {
    /// As [`super::GuardBuilder::broken_block`], from the next block on. A response template knows of
    /// no blocks.
    pub(crate) fn set_broken_block(&mut self, broken: BrokenBlock) {
        if let Cursor::Family(family) = &mut self.cursor {
            family.bodies.broken = broken;
        }
    }
}

/// The bodies of a grammar whose first openers may begin a guided payload.
#[derive(Debug, Clone)]
pub(super) struct GuidedParser {
    inner: ToolCallParser,
    /// Bodies before this one are those of a payload.
    guided: u32,
    /// How long the active body's opener is.
    opener: u32,
    bad: BadPayload,
    broken: BrokenBlock,
    /// The most bytes of a payload that are kept before it is rejected, and of an opener and its
    /// block before its first call is whole.
    limit: usize,
    /// The active body is a payload.
    payload: bool,
    at: u64,
    reading: Option<Box<Reading>>,
    rejected: Option<Rejected>,
    dropped: u64,
}

/// How a body is read whose events wait.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "boxed, and rare")]
enum Reading {
    /// The driver keeps its bytes, as it may be text.
    Ahead(Ahead),
    /// It keeps its bytes itself.
    Own(Trial),
}

/// A payload that will never be text, being read ahead of its events.
#[derive(Debug, Clone)]
struct Trial {
    machine: ToolCallParser,
    verdict: Verdict,
    /// The payload so far.
    text: String,
    /// How much of it the machine is done with.
    fed: usize,
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
            broken,
            limit,
            payload: false,
            at: 0,
            reading: None,
            rejected: None,
            dropped: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.inner.reset();
        (self.payload, self.reading, self.rejected, self.dropped) = (false, None, None, 0);
    }

    pub(super) fn rejected(&self) -> Option<Rejected> {
        self.rejected
    }

    pub(super) fn grammar(&self) -> &Grammar {
        self.inner.grammar()
    }

    /// Where ids of calls come from.
    pub(super) fn ids(&self) -> &Ids {
        self.inner.ids()
    }

    /// Whether more than one call may come out.
    pub(super) fn parallel(&self) -> Parallel {
        self.inner.parallel()
    }

    /// Which calls may be emitted.
    pub(super) fn wanted(&self) -> &Wanted {
        self.inner.wanted()
    }

    pub(super) fn set_ids(&mut self, ids: Ids) {
        self.inner.set_ids(ids);
    }

    /// Live bytes beyond what the driver keeps for the active body.
    pub(super) fn buffered(&self) -> usize {
        match self.reading.as_deref() {
            None => self.inner.buffered(),
            Some(Reading::Ahead(ahead)) => ahead.buffered() + self.inner.buffered(),
            Some(Reading::Own(trial)) => trial.text.len(),
        }
    }

    /// Bytes nothing came of yet, beyond what the driver keeps for the active body.
    pub(super) fn held(&self) -> usize {
        match self.reading.as_deref() {
            None => self.inner.held(),
            Some(Reading::Ahead(_)) => 0,
            Some(Reading::Own(trial)) => trial.text.len(),
        }
    }

    /// Begins to read the body, as the policies say.
    fn read_anew(&mut self) {
        let until = match (self.payload, self.bad, self.broken) {
            (true, BadPayload::Reject, _) => {
                self.reading = Some(Box::new(Reading::Own(Trial::new(&self.inner, String::new()))));
                return;
            }
            (true, BadPayload::RecoverAsText, _) => Until::End,
            (_, _, BrokenBlock::Text) => Until::FirstCall,
            (_, _, BrokenBlock::Emit) => return,
        };
        self.reading = Some(Box::new(Reading::Ahead(Ahead::new(&self.inner, until, self.at))));
    }

    /// Reads on in a body whose events wait, or behind a payload that was rejected.
    fn read_on(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        match self.reading.as_deref_mut() {
            Some(Reading::Ahead(ahead)) => {
                // One byte before the driver would take it for text.
                let room = self.limit.saturating_sub(self.opener as usize + 1);
                let feed = match ahead.feed(&mut self.inner, text, room) {
                    Read::More { used } => return Feed::More { used },
                    Read::Acts(feed) => {
                        ahead.replay(sink);
                        feed
                    }
                    Read::NoCall(feed) => {
                        ahead.give_up(&mut self.inner, sink);
                        feed
                    }
                };
                self.reading = None;
                feed
            }
            Some(Reading::Own(trial)) => {
                let kept = trial.text.len();
                let feed = trial.feed(&mut self.inner, self.limit, text, sink);
                if !matches!(feed, Some(Feed::Committed { .. })) {
                    self.reading = None;
                }
                feed.unwrap_or_else(|| {
                    self.reject((kept + text.len()) as u64);
                    Feed::Committed { used: text.len() }
                })
            }
            None => {
                self.dropped += text.len() as u64;
                Feed::Committed { used: text.len() }
            }
        }
    }

    fn reject(&mut self, bytes: u64) {
        self.rejected = Some(Rejected { at: self.at });
        self.dropped = bytes;
    }
}

impl Trial {
    fn new(parser: &ToolCallParser, text: String) -> Self {
        Self { machine: parser.clone(), verdict: Verdict::default(), text, fed: 0 }
    }

    /// Reads on, `limit` bytes of the payload at most. Its events are emitted by `parser` when it is
    /// whole; nothing: it is rejected.
    fn feed(
        &mut self,
        parser: &mut ToolCallParser,
        limit: usize,
        text: &str,
        sink: &mut dyn Sink,
    ) -> Option<Feed> {
        let before = self.text.len();
        let room = within(text, limit.saturating_sub(before));
        self.text.push_str(&text[..room]);
        loop {
            let fed = self.fed;
            match self.read() {
                Feed::Done { used, then } | Feed::Markup { used, then } if self.verdict.good => {
                    let end = fed + used;
                    parser.feed(&self.text[..end], sink);
                    return Some(Feed::Done { used: end.saturating_sub(before), then });
                }
                Feed::More { .. } | Feed::Committed { .. }
                    if self.verdict.good && room == text.len() =>
                {
                    // What may be text behind the payload the driver brings again.
                    let used = self.fed.saturating_sub(before);
                    self.text.truncate(before + used);
                    return Some(Feed::Committed { used });
                }
                Feed::More { .. } | Feed::Committed { .. } if self.verdict.good => return None,
                _ if parser.retry() => *self = Self::new(parser, std::mem::take(&mut self.text)),
                _ => return None,
            }
        }
    }

    fn read(&mut self) -> Feed {
        let feed = self.machine.feed(&self.text[self.fed..], &mut self.verdict);
        if let Feed::More { used } | Feed::Committed { used } = feed {
            self.fed += used;
        }
        feed
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
        self.read_anew();
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if self.reading.is_none() && self.rejected.is_none() {
            return self.inner.feed(text, sink);
        }
        self.read_on(text, sink)
    }

    fn retry(&mut self) -> bool {
        let more = self.inner.retry();
        self.reading = None;
        if more {
            self.read_anew();
        }
        more
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd {
        match self.reading.take().map(|reading| *reading) {
            Some(Reading::Ahead(mut ahead)) => {
                let at_end = ahead.finish(&mut self.inner, tail, end);
                match at_end {
                    Ok(_) => ahead.replay(sink),
                    Err(_) => ahead.give_up(&mut self.inner, sink),
                }
                return at_end.unwrap_or_else(|text| text);
            }
            Some(Reading::Own(mut trial)) => {
                let closed = trial.machine.finish(tail, end, &mut trial.verdict);
                if matches!(closed, AtEnd::Closed { .. }) && trial.verdict.good {
                    self.inner.feed(&trial.text[..trial.fed], sink);
                    return self.inner.finish(tail, end, sink);
                }
                self.reject(trial.text.len() as u64);
            }
            None => {}
        }
        if let Some(Rejected { at, .. }) = self.rejected {
            let (kind, bytes) = (DiagnosticKind::BadPayload, self.dropped + tail.len() as u64);
            sink.event(Diagnostic::new(kind, at, bytes).into());
            return AtEnd::Closed { used: tail.len() };
        }
        match self.inner.finish(tail, end, sink) {
            // The beginning of a payload is nobody's text.
            AtEnd::Release if self.payload => AtEnd::Markup,
            tail => tail,
        }
    }

    fn end(&mut self) {
        // The driver gave up a body that was still uncertain: a limit, or a server that told
        // something apart in the middle of it.
        if let Some(Reading::Ahead(ahead)) = self.reading.as_deref_mut() {
            ahead.undo(&mut self.inner);
        }
        self.reading = None;
        self.inner.end();
    }

    fn rest(&mut self) {
        self.inner.rest();
    }

    fn held(&self) -> usize {
        Self::held(self)
    }

    fn passed_over(&self) -> usize {
        if self.reading.is_none() { self.inner.passed_over() } else { 0 }
    }
}

/// What a payload turned out to hold.
#[derive(Debug, Clone)]
struct Verdict {
    good: bool,
}

impl Default for Verdict {
    fn default() -> Self {
        Self { good: true }
    }
}

impl Sink for Verdict {
    fn event(&mut self, event: Event<'_>) {
        self.good &= match event {
            Event::CallEnd { outcome, .. } => outcome == Outcome::Complete,
            Event::Diagnostic(diagnostic) => diagnostic.kind != DiagnosticKind::Skipped,
            _ => true,
        };
    }
}
