//! Reading ahead: a body that is read before it is known whether it may act.

use jail_match::{
    AtEnd, BodyParsers, Diagnostic, DiagnosticKind, End, Event, Feed, Outcome, OwnedEvent, Sink,
    Trace,
};
use toolcall_parsers::ToolCallParser;

/// What must be whole before any of it is emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The first call: those behind it answer for themselves.
    FirstCall,
    /// All of the body.
    End,
}

/// What a body told while it was read ahead, and the parser as it was before.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    before: ToolCallParser,
    until: Until,
    told: Vec<Told>,
    verdict: Option<Verdict>,
    committed: bool,
    /// Stream offset behind the opener.
    at: u64,
    /// How much of the body the parser is done with.
    fed: usize,
}

#[derive(Debug, Clone)]
enum Told {
    Event(OwnedEvent),
    Trace(Trace),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Broken,
}

/// What becomes of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// It is not known yet.
    More { used: usize },
    /// It acts: what it told is to be replayed.
    Acts(Feed),
    /// It is no call, as `Feed` says; the parser is to be what it was before.
    NoCall(Feed),
}

impl Ahead {
    /// Begins behind the opener that ends at stream offset `at`.
    pub(super) fn new(parser: &ToolCallParser, until: Until, at: u64) -> Self {
        let before = parser.clone();
        Self { before, until, told: Vec::new(), verdict: None, committed: false, at, fed: 0 }
    }

    /// Bytes of the events that are kept.
    pub(super) fn buffered(&self) -> usize {
        let bytes = |told: &Told| match told {
            Told::Event(OwnedEvent::CallArguments { fragment, .. }) => fragment.len(),
            Told::Event(OwnedEvent::CallStart { id, name, .. }) => id.len() + name.len(),
            Told::Event(_) | Told::Trace(_) => 0,
        };
        self.told.iter().map(bytes).sum()
    }

    /// The parser reads on. Behind the first `most` bytes of the body what was read acts: it is too
    /// long to be kept.
    pub(super) fn feed(&mut self, parser: &mut ToolCallParser, text: &str, most: usize) -> Read {
        let most = if self.until == Until::End { usize::MAX } else { most };
        let room = most.saturating_sub(self.fed).min(text.len());
        let head = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let feed = match &text[..head] {
            "" => Feed::More { used: 0 },
            head => parser.feed(head, self),
        };
        self.committed |= matches!(feed, Feed::Committed { .. });
        match (self.until, self.verdict, feed) {
            (Until::FirstCall, Some(Verdict::Good), feed) => Read::Acts(feed),
            (Until::FirstCall, Some(Verdict::Broken), _) => {
                let from = self.at + self.fed as u64;
                let broke =
                    parser.broke_at().checked_sub(from).and_then(|at| usize::try_from(at).ok());
                Read::NoCall(Feed::Literal { used: broke.map_or(head, |at| at.min(head)) })
            }
            (_, _, Feed::More { used } | Feed::Committed { used }) if head == text.len() => {
                self.fed += used;
                Read::More { used }
            }
            (
                Until::End,
                Some(Verdict::Broken),
                Feed::Done { used, .. } | Feed::Markup { used, .. },
            )
            | (Until::End, _, Feed::Text { used, .. } | Feed::Mismatch { used }) => {
                Read::NoCall(Feed::Mismatch { used })
            }
            (_, _, Feed::More { used }) if self.committed => Read::Acts(Feed::Committed { used }),
            (_, _, feed) => Read::Acts(feed),
        }
    }

    /// The stream ended; `tail` is what was not consumed.
    pub(super) fn finish(
        &mut self,
        parser: &mut ToolCallParser,
        tail: &str,
        end: End,
    ) -> Option<AtEnd> {
        let at_end = parser.finish(tail, end, self);
        let acts = self.until == Until::FirstCall || matches!(at_end, AtEnd::Closed { .. });
        (acts && self.verdict != Some(Verdict::Broken)).then_some(at_end)
    }

    /// The body acts.
    pub(super) fn replay(self, sink: &mut dyn Sink) {
        for told in self.told {
            match told {
                Told::Event(event) => sink.event(event.as_event()),
                Told::Trace(trace) => sink.trace(trace),
            }
        }
    }

    /// Whether the first call broke: nothing of what was read is to be anything but text.
    pub(super) fn is_broken_block(&self) -> bool {
        self.until == Until::FirstCall && self.verdict == Some(Verdict::Broken)
    }

    /// The parser as it was before the body, which is text: that is told if a call of it broke.
    pub(super) fn give_up(self, sink: &mut dyn Sink) -> ToolCallParser {
        if self.verdict == Some(Verdict::Broken) {
            sink.event(Diagnostic::new(DiagnosticKind::BrokenBlock, self.at, 0).into());
        }
        self.before
    }
}

impl Sink for Ahead {
    fn event(&mut self, event: Event<'_>) {
        let verdict = match (self.until, event) {
            (Until::FirstCall, Event::CallEnd { outcome, .. }) => Some(match outcome {
                Outcome::Complete | Outcome::Repaired => Verdict::Good,
                _ => Verdict::Broken,
            }),
            (Until::End, Event::CallEnd { outcome, .. }) if outcome != Outcome::Complete => {
                Some(Verdict::Broken)
            }
            (Until::End, Event::Diagnostic(it)) if it.kind == DiagnosticKind::Skipped => {
                Some(Verdict::Broken)
            }
            _ => None,
        };
        self.verdict = self.verdict.or(verdict);
        match (event, self.told.last_mut()) {
            (
                Event::CallArguments { index, fragment },
                Some(Told::Event(OwnedEvent::CallArguments { index: last, fragment: kept })),
            ) if *last == index => kept.push_str(fragment),
            _ => self.told.push(Told::Event(event.to_owned())),
        }
    }

    fn trace(&mut self, trace: Trace) {
        self.told.push(Told::Trace(trace));
    }
}
