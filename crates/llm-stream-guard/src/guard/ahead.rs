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

/// How many bytes of `text` are among its first `most`, less a part of a scalar.
pub(super) fn within(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
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
            Told::Event(OwnedEvent::CallStart { id, name, .. }) => {
                id.len().saturating_add(name.len())
            }
            Told::Event(_) | Told::Trace(_) => 0,
        };
        self.told.iter().map(bytes).sum()
    }

    /// The parser reads on. Behind the first `most` bytes of the body what was read acts: it is too
    /// long to be kept.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`fed` counts bytes of one body in memory, and places of the stream have 64 bits"
    )]
    pub(super) fn feed(&mut self, parser: &mut ToolCallParser, text: &str, most: usize) -> Read {
        let most = if self.until == Until::End { usize::MAX } else { most };
        let head = within(text, most.saturating_sub(self.fed));
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

    /// The stream ended; `tail` is what was not consumed. An error is what it is as text.
    pub(super) fn finish(
        &mut self,
        parser: &mut ToolCallParser,
        tail: &str,
        end: End,
    ) -> Result<AtEnd, AtEnd> {
        let at_end = parser.finish(tail, end, self);
        match (self.until, self.verdict) {
            (Until::FirstCall, Some(Verdict::Broken)) => Err(AtEnd::Literal),
            (Until::FirstCall, _) => Ok(at_end),
            (Until::End, None) if matches!(at_end, AtEnd::Closed { .. }) => Ok(at_end),
            (Until::End, _) => Err(AtEnd::Release),
        }
    }

    /// The body acts.
    pub(super) fn replay(&mut self, sink: &mut dyn Sink) {
        for told in self.told.drain(..) {
            match told {
                Told::Event(event) => sink.event(event.as_event()),
                Told::Trace(trace) => sink.trace(trace),
            }
        }
    }

    /// The body is text: undoes what was read of it, and reports a call of it that broke.
    pub(super) fn give_up(&mut self, parser: &mut ToolCallParser, sink: &mut dyn Sink) {
        if self.verdict == Some(Verdict::Broken) {
            sink.event(Diagnostic::new(DiagnosticKind::BrokenBlock, self.at, 0).into());
        }
        self.undo(parser);
    }

    /// Makes `parser` what it was before the body: none of its calls came out.
    pub(super) fn undo(&mut self, parser: &mut ToolCallParser) {
        std::mem::swap(parser, &mut self.before);
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
