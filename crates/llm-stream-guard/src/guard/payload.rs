//! Bodies under a tool choice: a guided payload may have to be whole before any of it is emitted.

use std::fmt;

use jail_match::{
    AtEnd, BodyId, BodyParsers, Diagnostic, DiagnosticKind, End, Event, Feed, Opener, Outcome, Sink,
};
use toolcall_parsers::{Grammar, Ids, Parallel, ToolCallParser, Wanted};

use super::choice::BadPayload;

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

/// The bodies of a grammar whose first openers may begin a guided payload.
#[derive(Debug, Clone)]
pub(super) struct GuidedParser {
    inner: ToolCallParser,
    /// Bodies before this one are those of a payload.
    guided: usize,
    bad: BadPayload,
    /// The most bytes of a payload that are kept before it is rejected.
    limit: usize,
    /// The active body is a payload.
    payload: bool,
    at: u64,
    trial: Option<Box<Trial>>,
    rejected: Option<Rejected>,
    dropped: u64,
}

/// A payload being read ahead of its events.
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
    pub(super) fn new(inner: ToolCallParser, guided: usize, bad: BadPayload, limit: usize) -> Self {
        Self {
            inner,
            guided,
            bad,
            limit,
            payload: false,
            at: 0,
            trial: None,
            rejected: None,
            dropped: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        self.inner.reset();
        (self.payload, self.trial, self.rejected, self.dropped) = (false, None, None, 0);
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
        self.kept_by_trial().unwrap_or_else(|| self.inner.buffered())
    }

    /// Bytes nothing came of yet, beyond what the driver keeps for the active body.
    pub(super) fn held(&self) -> usize {
        self.kept_by_trial().unwrap_or_else(|| self.inner.held())
    }

    fn kept_by_trial(&self) -> Option<usize> {
        let trial = self.trial.as_ref()?;
        Some(if self.bad == BadPayload::Reject { trial.text.len() } else { 0 })
    }

    /// A reading of the payload whose events are only looked at.
    fn trial(&self, text: String) -> Box<Trial> {
        let machine = self.inner.clone();
        Box::new(Trial { machine, verdict: Verdict::default(), text, fed: 0 })
    }

    /// The payload is whole, up to `end`: its events are emitted.
    fn release(&mut self, trial: &Trial, end: usize, sink: &mut dyn Sink) {
        self.inner.feed(&trial.text[..end], sink);
    }

    /// Reads on in a payload whose bytes the driver keeps.
    fn read_kept(&mut self, mut trial: Box<Trial>, text: &str, sink: &mut dyn Sink) -> Feed {
        // What was left over the driver brings again.
        trial.text.truncate(trial.fed);
        trial.text.push_str(text);
        let before = trial.fed;
        match trial.read() {
            feed @ (Feed::Done { used, .. } | Feed::Markup { used, .. }) if trial.verdict.good => {
                self.release(&trial, before + used, sink);
                feed
            }
            Feed::Done { used, .. }
            | Feed::Markup { used, .. }
            | Feed::Text { used, .. }
            | Feed::Mismatch { used } => {
                self.trial = Some(trial);
                Feed::Mismatch { used }
            }
            Feed::More { used } | Feed::Committed { used } => {
                self.trial = Some(trial);
                Feed::More { used }
            }
        }
    }

    /// Reads on in a payload that will never be text.
    fn read_own(&mut self, mut trial: Box<Trial>, text: &str, sink: &mut dyn Sink) -> Feed {
        let room = self.limit.saturating_sub(trial.text.len()).min(text.len());
        let room = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let before = trial.text.len();
        trial.text.push_str(&text[..room]);
        loop {
            let fed = trial.fed;
            match trial.read() {
                Feed::Done { used, then } | Feed::Markup { used, then } if trial.verdict.good => {
                    let end = fed + used;
                    self.release(&trial, end, sink);
                    return Feed::Done { used: end.saturating_sub(before), then };
                }
                Feed::More { .. } | Feed::Committed { .. } if trial.verdict.good => {
                    if room < text.len() {
                        break;
                    }
                    // What may be text behind the payload the driver brings again.
                    let used = trial.fed.saturating_sub(before);
                    trial.text.truncate(before + used);
                    self.trial = Some(trial);
                    return Feed::Committed { used };
                }
                _ if self.inner.retry() => {
                    trial = self.trial(std::mem::take(&mut trial.text));
                }
                _ => break,
            }
        }
        self.reject((before + text.len()) as u64);
        Feed::Committed { used: text.len() }
    }

    /// Reads on in a payload that must be whole, or drops what follows one that was rejected.
    fn read_guided(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        match self.trial.take() {
            Some(trial) if self.bad == BadPayload::Reject => self.read_own(trial, text, sink),
            Some(trial) => self.read_kept(trial, text, sink),
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
        self.payload = usize::from(opener.body) < self.guided;
        self.at = opener.at;
        if self.payload && self.bad != BadPayload::BestEffort {
            self.trial = Some(self.trial(String::new()));
        }
    }

    #[inline]
    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        if self.trial.is_some() || self.rejected.is_some() {
            return self.read_guided(text, sink);
        }
        self.inner.feed(text, sink)
    }

    fn retry(&mut self) -> bool {
        let more = self.inner.retry();
        match self.trial {
            Some(_) if more => self.trial = Some(self.trial(String::new())),
            _ => self.trial = None,
        }
        more
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd {
        let own = self.bad == BadPayload::Reject;
        if let Some(mut trial) = self.trial.take() {
            let closed = trial.machine.finish(tail, end, &mut trial.verdict);
            if matches!(closed, AtEnd::Closed { .. }) && trial.verdict.good {
                self.release(&trial, trial.fed, sink);
                return self.inner.finish(tail, end, sink);
            }
            if !own {
                return AtEnd::Release;
            }
            self.reject(trial.text.len() as u64);
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
        self.trial = None;
        self.inner.end();
    }

    fn rest(&mut self) {
        self.inner.rest();
    }

    fn held(&self) -> usize {
        Self::held(self)
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
