//! Detects a model that repeats itself instead of making a call.
//!
//! The failure that remapping avoids: a model that meets its reserved token where it never stood
//! in training answers `<tool_call>\n<tool_call>\n...` without end, mixed with fragments such as
//! `_call>`. A *run* is a sequence of openers (canonical or wire) and fragments with nothing but
//! whitespace, punctuation and empty blocks between. Another failure is the same block over and
//! over. What stands in code or in a JSON string is text, and so is what stands in a block that
//! says something, unless there is very much of it.

use alloc::{string::String, vec::Vec};
use core::fmt;

use jail_match::{Found, Matcher};

use crate::{
    fnv::{BASIS, hashed},
    pair::Role,
    place::{Layout, MarkerPlace},
    table::RemapTable,
    word::WordKind,
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
    /// How many times in a row the same block is a collapse, whatever text is between; 16 unless
    /// set. 0 counts as 1.
    pub repeats: u32,
    /// What is to be done.
    pub action: CollapseAction,
}

impl Default for CollapseLimits {
    fn default() -> Self {
        Self { run: 4, repeats: 16, action: CollapseAction::default() }
    }
}

/// What was repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CollapseKind {
    /// Openers and their fragments.
    Openers,
    /// A block, from its opener to its closer.
    Block,
}

/// Repetition that reached the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collapse {
    /// Byte offset in the stream at which it begins.
    pub start: u64,
    /// Byte offset behind the marker that made it a collapse.
    pub end: u64,
    /// How many openers and fragments, or blocks, up to there.
    pub run: u32,
    /// What they are.
    pub repeated: CollapseKind,
}

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, end, run, repeated } = self;
        let what = match repeated {
            CollapseKind::Openers => "tool-call openers in a row",
            CollapseKind::Block => "times the same tool call",
        };
        write!(f, "model collapsed: byte {start}: {run} {what} up to byte {end}")
    }
}

impl core::error::Error for Collapse {}

/// What [`CollapseDetector::observe`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum CollapseVerdict {
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
    Closer,
    /// Any other marker: text.
    Other,
}

/// In a block that says something a run is this many times as long.
const INSIDE: u32 = 4;

/// What stands behind an opener.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    start: u64,
    /// Nothing but whitespace.
    blank: bool,
    /// Letters or digits.
    says: bool,
    hash: u64,
}

/// Watches one stream of model text, decoded or not.
///
/// Answers depend on the concatenated text only, except that a run is reported by the call that
/// brings its last byte. Memory is bounded by the longest marker, time is linear.
///
/// ```
/// use wire_remap::{CollapseDetector, CollapseLimits, RemapTable, CollapseVerdict};
/// let mut detector = CollapseDetector::new(&RemapTable::hermes(), CollapseLimits::default());
/// assert_eq!(detector.observe("<tool_call>\n<tool_call>\n_call>\n"), CollapseVerdict::Fine);
/// assert!(matches!(detector.observe("[[CALL]]"), CollapseVerdict::Observed(c) if c.run == 4));
/// ```
#[derive(Debug, Clone)]
pub struct CollapseDetector {
    matcher: Matcher,
    parts: Vec<Part>,
    limits: CollapseLimits,
    layout: Layout,
    /// Offset behind the last text reported by the matcher.
    at: u64,
    start: u64,
    run: u32,
    longest: u32,
    reported: bool,
    block: Option<OpenBlock>,
    /// The last block that ended: its hash, where the first like it began, and how many there were.
    last: Option<(u64, u64, u32)>,
}

impl CollapseDetector {
    /// A detector for the openers of `table`: canonical, wire and garbled spellings where the
    /// table has them, and the fragments of the canonical ones (`tool_call>`, `_call>`).
    #[must_use]
    pub fn new(table: &RemapTable, limits: CollapseLimits) -> Self {
        let (mut texts, mut parts): (Vec<String>, Vec<Part>) = (Vec::new(), Vec::new());
        let part = |role| match role {
            Role::Open => Part::Opener,
            Role::Close => Part::Closer,
            Role::Other => Part::Other,
        };
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
            layout: Layout::new(),
            at: 0,
            start: 0,
            run: 0,
            longest: 0,
            reported: false,
            block: None,
            last: None,
        }
    }

    /// Feeds the next piece. A run is reported once, when it reaches the limit, and so is a block
    /// repeated; if several do in one piece, the first is reported.
    pub fn observe(&mut self, text: &str) -> CollapseVerdict {
        let mut first = None;
        let mut matcher = core::mem::replace(&mut self.matcher, Matcher::new([""; 0]));
        matcher.push(text, |found| {
            let collapse = self.take(found);
            first = first.or(collapse);
        });
        self.matcher = matcher;
        match (first, self.limits.action) {
            (None, _) => CollapseVerdict::Fine,
            (Some(collapse), CollapseAction::Observe) => CollapseVerdict::Observed(collapse),
            (Some(collapse), CollapseAction::EndStream) => CollapseVerdict::EndStream(collapse),
            (Some(collapse), CollapseAction::Error) => CollapseVerdict::Error(collapse),
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
        self.layout = Layout::new();
        (self.at, self.start, self.longest) = (0, 0, 0);
        (self.block, self.last) = (None, None);
        self.end_run();
    }

    fn end_run(&mut self) {
        (self.run, self.reported) = (0, false);
    }

    fn take(&mut self, found: Found<'_>) -> Option<Collapse> {
        let (part, text) = match found {
            Found::Text(text) => {
                self.text(text);
                return None;
            }
            Found::Marker { id, text } => (self.parts[id], text),
        };
        let role = match part {
            Part::Opener => Role::Open,
            Part::Closer => Role::Close,
            Part::Fragment | Part::Other => Role::Other,
        };
        let place = self.layout.place(role);
        let inside = self.block.is_some_and(|block| block.says);
        let counts = match place {
            MarkerPlace::Structural | MarkerPlace::Prose => true,
            // Nothing in the block has a name yet.
            MarkerPlace::Quotes => self.block.is_some() && !inside,
            MarkerPlace::Fence | MarkerPlace::InlineCode => false,
        };
        if part == Part::Other || !counts {
            self.text(text);
            return None;
        }
        self.layout.marker(role, place);
        let start = self.at;
        self.at += text.len() as u64;
        if part == Part::Closer {
            return self.close();
        }
        if !inside && part == Part::Opener {
            self.block = Some(OpenBlock { start, blank: true, says: false, hash: BASIS });
        }
        if self.run == 0 {
            self.start = start;
        }
        self.run = self.run.saturating_add(1);
        self.longest = self.longest.max(self.run);
        let limit = if inside { self.limits.run.saturating_mul(INSIDE) } else { self.limits.run };
        if self.reported || self.run < limit {
            return None;
        }
        self.reported = true;
        let (start, end, run) = (self.start, self.at, self.run);
        Some(Collapse { start, end, run, repeated: CollapseKind::Openers })
    }

    fn text(&mut self, text: &str) {
        self.at += text.len() as u64;
        self.layout.text(text);
        let says = text.contains(char::is_alphanumeric);
        if says && self.reported {
            // What a collapse left open is no block.
            self.block = None;
        }
        if let Some(block) = &mut self.block {
            block.blank &= text.chars().all(char::is_whitespace);
            block.says |= says;
            block.hash = text.bytes().fold(block.hash, hashed);
        }
        if says {
            self.end_run();
        }
    }

    /// A closer: an empty block is part of a run, another one is compared with the last.
    fn close(&mut self) -> Option<Collapse> {
        let block = self.block.take().filter(|block| !block.blank)?;
        self.end_run();
        let (hash, start, count) = match self.last {
            Some((hash, start, count)) if hash == block.hash => {
                (hash, start, count.saturating_add(1))
            }
            _ => (block.hash, block.start, 1),
        };
        self.last = Some((hash, start, count));
        let limit = self.limits.repeats.max(1);
        (count == limit).then_some(Collapse {
            start,
            end: self.at,
            run: count,
            repeated: CollapseKind::Block,
        })
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
