//! Detects a model that repeats openers instead of making a call.
//!
//! The failure that remapping avoids: a model that meets its reserved token where it never stood
//! in training answers `<tool_call>\n<tool_call>\n...` without end, mixed with fragments such as
//! `_call>`. A *run* is a sequence of openers (canonical or wire) and fragments with nothing but
//! whitespace between; closers and any other text end it.

use alloc::{string::String, vec::Vec};
use core::fmt;

use jail_match::{Found, Matcher};

use crate::{
    table::{RemapTable, Role},
    words::WordKind,
};

/// What the caller wants done about a collapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CollapseAction {
    /// Take note.
    #[default]
    Observe,
    /// End the stream.
    EndStream,
    /// Fail the stream.
    Error,
}

/// When a run is a collapse, and what then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CollapseLimits {
    /// Length of the run, in openers and fragments, at which it is a collapse; 4 unless set. A
    /// doubled opener is common and harmless. 0 counts as 1.
    pub run: u32,
    /// What is to be done.
    pub action: CollapseAction,
}

impl Default for CollapseLimits {
    fn default() -> Self {
        Self { run: 4, action: CollapseAction::default() }
    }
}

/// A run of openers that reached the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collapse {
    /// Byte offset in the stream at which the run begins.
    pub start: u64,
    /// Byte offset behind the opener that made it a collapse.
    pub end: u64,
    /// Openers and fragments in the run up to there.
    pub run: u32,
}

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, end, run } = self;
        write!(
            f,
            "model collapsed: byte {start}: {run} tool-call openers in a row up to byte {end}"
        )
    }
}

impl core::error::Error for Collapse {}

/// What [`CollapseDetector::observe`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing.
    Fine,
    /// A collapse, under [`CollapseAction::Observe`].
    Observed(Collapse),
    /// A collapse: end the stream.
    EndStream(Collapse),
    /// A collapse: fail the stream.
    Error(Collapse),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Opener,
    Fragment,
    /// Any other marker: ends a run.
    Other,
}

/// Watches one stream of model text, decoded or not.
///
/// Answers depend on the concatenated text only, except that a run is reported by the call that
/// brings its last byte. Memory is bounded by the longest marker, time is linear.
///
/// ```
/// use wire_remap::{CollapseDetector, CollapseLimits, RemapTable, Verdict};
/// let mut detector = CollapseDetector::new(&RemapTable::hermes(), CollapseLimits::default());
/// assert_eq!(detector.observe("<tool_call>\n<tool_call>\n_call>\n"), Verdict::Fine);
/// assert!(matches!(detector.observe("[[CALL]]"), Verdict::Observed(c) if c.run == 4));
/// ```
#[derive(Debug, Clone)]
pub struct CollapseDetector {
    matcher: Matcher,
    parts: Vec<Part>,
    limits: CollapseLimits,
    /// Offset behind the last text reported by the matcher.
    at: u64,
    start: u64,
    openers: u32,
    fragments: u32,
    longest: u32,
    reported: bool,
}

impl CollapseDetector {
    /// A detector for the openers of `table`: canonical, wire and garbled spellings where the
    /// table has them, and the fragments of the canonical ones (`tool_call>`, `_call>`).
    #[must_use]
    pub fn new(table: &RemapTable, limits: CollapseLimits) -> Self {
        let (mut texts, mut parts): (Vec<String>, Vec<Part>) = (Vec::new(), Vec::new());
        let part = |role| if role == Role::Open { Part::Opener } else { Part::Other };
        for pair in table.pairs() {
            texts.push(pair.canonical().into());
            parts.push(part(pair.role()));
        }
        let spellings = [WordKind::Wire, WordKind::Garbled];
        for word in table.inner.words.iter().filter(|word| spellings.contains(&word.kind)) {
            texts.push(word.text.clone());
            parts.push(part(table.pairs()[word.entry].role()));
        }
        for pair in table.pairs().iter().filter(|pair| pair.role() == Role::Open) {
            for fragment in fragments(pair.canonical()) {
                if !texts.iter().any(|text| text == fragment) {
                    texts.push(fragment.into());
                    parts.push(Part::Fragment);
                }
            }
        }
        Self {
            matcher: Matcher::new(&texts),
            parts,
            limits,
            at: 0,
            start: 0,
            openers: 0,
            fragments: 0,
            longest: 0,
            reported: false,
        }
    }

    /// Feeds the next piece. A run is reported once, when it reaches the limit; if several do in
    /// one piece, the first is reported.
    pub fn observe(&mut self, text: &str) -> Verdict {
        let mut first = None;
        let mut matcher = core::mem::replace(&mut self.matcher, Matcher::new([""; 0]));
        matcher.push(text, |found| {
            let collapse = self.take(found);
            first = first.or(collapse);
        });
        self.matcher = matcher;
        match (first, self.limits.action) {
            (None, _) => Verdict::Fine,
            (Some(collapse), CollapseAction::Observe) => Verdict::Observed(collapse),
            (Some(collapse), CollapseAction::EndStream) => Verdict::EndStream(collapse),
            (Some(collapse), CollapseAction::Error) => Verdict::Error(collapse),
        }
    }

    /// The longest run so far, in openers and fragments: the stream's collapse score.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.longest
    }

    /// Bytes looked at so far: a measure of work that does not depend on the clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.matcher.examined()
    }

    /// Forgets everything received.
    pub fn reset(&mut self) {
        self.matcher.reset();
        (self.at, self.start, self.longest) = (0, 0, 0);
        self.end_run();
    }

    fn end_run(&mut self) {
        (self.openers, self.fragments, self.reported) = (0, 0, false);
    }

    fn take(&mut self, found: Found<'_>) -> Option<Collapse> {
        let (part, text) = match found {
            Found::Text(text) => {
                self.at += text.len() as u64;
                if !text.chars().all(char::is_whitespace) {
                    self.end_run();
                }
                return None;
            }
            Found::Marker { id, text } => (self.parts[id], text),
        };
        if self.openers == 0 && self.fragments == 0 {
            self.start = self.at;
        }
        self.at += text.len() as u64;
        match part {
            Part::Other => self.end_run(),
            Part::Opener => self.openers = self.openers.saturating_add(1),
            Part::Fragment => self.fragments = self.fragments.saturating_add(1),
        }
        // Fragments alone are not a run: they count next to an opener.
        if self.openers == 0 {
            return None;
        }
        let run = self.openers.saturating_add(self.fragments);
        self.longest = self.longest.max(run);
        if self.reported || run < self.limits.run {
            return None;
        }
        self.reported = true;
        Some(Collapse { start: self.start, end: self.at, run })
    }
}

/// The ends of an opener that leak when its token and its characters mix: what follows the first
/// bracket, and what follows it from the last `_` or `-` on.
fn fragments(opener: &str) -> impl Iterator<Item = &str> {
    let named = opener.trim_start_matches(|c: char| !c.is_alphanumeric());
    let joint = named.rfind(['_', '-']).map(|at| &named[at..]);
    let whole = (named.len() < opener.len()).then_some(named);
    whole.into_iter().chain(joint).filter(|text| text.chars().count() >= 4)
}
