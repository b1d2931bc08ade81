//! The detection of a model that repeats itself instead of making a call.
//!
//! A model whose prompt has its reserved token in unusual places may answer with openers without
//! end:
//!
//! ```text
//! <tool_call>
//! <tool_call>
//! _call>
//! <tool_call>
//! ```
//!
//! Two repetitions are a *collapse*:
//!
//! * a *run* of openers (canonical or wire) and fragments of them, with only whitespace,
//!   punctuation and empty blocks between;
//! * the same block many times in a row.
//!
//! Markers in code and in JSON strings are text. Markers inside a block that has content are text
//! too, up to a higher limit.

use alloc::{string::String, vec::Vec};
use core::fmt;

use jail_match::{Matcher, MatcherEvent};

use crate::{
    fnv::{BASIS, hashed},
    pair::Role,
    place::{Layout, MarkerPlace},
    table::RemapTable,
    word::WordKind,
};

/// Reaction to a collapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CollapseAction {
    /// Only report the collapse.
    #[default]
    Observe,
    /// End the stream as if the model had stopped.
    EndStream,
    /// End the stream with an error.
    Error,
}

/// Limits of repetition, and the reaction to a collapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CollapseLimits {
    /// The minimum number of openers and fragments in a run that is a collapse. The default is 4,
    /// because a doubled opener is common and harmless. 0 counts as 1.
    pub run: u32,
    /// The minimum number of equal blocks in a row that is a collapse. Any text may be between the
    /// blocks. The default is 16. 0 counts as 1.
    pub repeats: u32,
    /// Reaction to a collapse.
    pub action: CollapseAction,
}

impl Default for CollapseLimits {
    fn default() -> Self {
        Self { run: 4, repeats: 16, action: CollapseAction::default() }
    }
}

/// Kind of repeated markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CollapseKind {
    /// Openers and their fragments.
    Openers,
    /// The same block, from its opener to its closer.
    Block,
}

/// A repetition that reached its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collapse {
    /// Byte offset in the stream at which the repetition begins.
    pub start: u64,
    /// Byte offset after the marker that reached the limit.
    pub end: u64,
    /// Number of openers and fragments, or of blocks, up to `end`.
    pub run: u32,
    /// Kind of the repeated markup.
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

/// Result of [`CollapseDetector::observe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum CollapseVerdict {
    /// The text has no new collapse.
    Fine,
    /// The text has a collapse, and the action is [`CollapseAction::Observe`].
    Observed(Collapse),
    /// The text has a collapse, after which the caller should end the stream.
    EndStream(Collapse),
    /// The text has a collapse, after which the caller should end the stream with an error.
    Error(Collapse),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Opener,
    Fragment,
    Closer,
    /// Any other marker, which is treated as text.
    Other,
}

/// The factor by which the limit of a run is higher inside a block that has content.
const LIMIT_FACTOR_INSIDE: u32 = 4;

/// The text after an opener.
#[derive(Debug, Clone, Copy)]
struct OpenBlock {
    start: u64,
    /// Whether the text is only whitespace.
    blank: bool,
    /// Whether the text has letters or digits.
    has_words: bool,
    hash: u64,
}

/// A detector of collapses in one stream of model text, decoded or not.
///
/// The result depends only on the concatenated text. A collapse is reported with the chunk that
/// reaches the limit. Memory is bounded by the longest marker, and time is linear.
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
    /// Offset after the last text that the matcher reported.
    at: u64,
    start: u64,
    run: u32,
    longest: u32,
    reported: bool,
    block: Option<OpenBlock>,
    /// The last complete block: its hash, the offset of the first equal block, and their number.
    last: Option<(u64, u64, u32)>,
}

impl CollapseDetector {
    /// Creates a detector for the openers of `table`.
    ///
    /// The detector searches for the canonical, wire and garbled spellings of the table, and for
    /// fragments of canonical openers (`tool_call>`, `_call>`).
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

    /// Feeds the next chunk. Returns each collapse once.
    ///
    /// If several repetitions reach their limit in one chunk, the first is returned.
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

    /// Returns the length of the longest run, the collapse score of the stream.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.longest
    }

    /// Returns the number of bytes examined, a measure of work without a clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.matcher.examined()
    }

    /// Forgets the stream and all its repetitions.
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

    fn take(&mut self, found: MatcherEvent<'_>) -> Option<Collapse> {
        let (part, text) = match found {
            MatcherEvent::Text(text) => {
                self.text(text);
                return None;
            }
            MatcherEvent::Marker { id, text } => (self.parts[id], text),
        };
        let role = match part {
            Part::Opener => Role::Open,
            Part::Closer => Role::Close,
            Part::Fragment | Part::Other => Role::Other,
        };
        let place = self.layout.place(role);
        let inside = self.block.is_some_and(|block| block.has_words);
        let counts = match place {
            MarkerPlace::Structural | MarkerPlace::Prose => true,
            // The block has no content yet, so the quotes are around its opener.
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
            self.block = Some(OpenBlock { start, blank: true, has_words: false, hash: BASIS });
        }
        if self.run == 0 {
            self.start = start;
        }
        self.run = self.run.saturating_add(1);
        self.longest = self.longest.max(self.run);
        let limit = if inside {
            self.limits.run.saturating_mul(LIMIT_FACTOR_INSIDE)
        } else {
            self.limits.run
        };
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
        let has_words = text.contains(char::is_alphanumeric);
        if has_words && self.reported {
            // An opener of a collapse opens no block.
            self.block = None;
        }
        if let Some(block) = &mut self.block {
            block.blank &= text.chars().all(char::is_whitespace);
            block.has_words |= has_words;
            block.hash = text.bytes().fold(block.hash, hashed);
        }
        if has_words {
            self.end_run();
        }
    }

    /// Ends a block. An empty block belongs to the run. Any other is compared with the last block.
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

/// Returns the ends of an opener that a collapsing model writes on their own.
///
/// These are the text after the first bracket, and the text from the last `_` or `-` on:
/// `tool_call>` and `_call>`.
fn fragments(opener: &str) -> impl Iterator<Item = &str> {
    let named = opener.trim_start_matches(|c: char| !c.is_alphanumeric());
    let joint = named.rfind(['_', '-']).map(|at| &named[at..]);
    let whole = (named.len() < opener.len()).then_some(named);
    whole.into_iter().chain(joint).filter(|text| text.chars().count() >= 4)
}
