//! The search for the marks of one lookout: literals and expressions together.
//!
//! For the literal `<s>` and the expression `a+b` with a hold of 3, in the text `xaa`:
//!
//! | text | answer |
//! |---|---|
//! | `x` | `Miss`: no mark begins here |
//! | `xaa` | `Partial` at 1: the expression needs more text |
//! | `xaab` | `Match` at 1, three bytes long |

use alloc::{boxed::Box, vec::Vec};

#[cfg(not(feature = "regex"))]
use super::no_pattern::{NoPattern as Pattern, NoRun as PatternRun, PatternState};
#[cfg(feature = "regex")]
use super::pattern::{Pattern, PatternRun, PatternState};
use super::{
    error::JailProblem,
    mark::{Check, Kind, Mark, MarkPosition},
    pattern_view::PatternView,
};
use crate::{
    chars::floor_char_boundary,
    edge::LetterCase,
    marker::{MarkerSet, MarkerSetBuilder, Match, Prefix, Search},
};

/// The state of a match that its hold cut short. The match may continue after the cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    mark: usize,
    state: PatternState,
    /// Whether the match did continue.
    pub(crate) grown: bool,
}

/// The text that a jail scans.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) text: &'t str,
    /// Stream offset of its first byte.
    pub(crate) base: u64,
    /// The byte before it; `None` at the start of the stream.
    pub(crate) before: Option<u8>,
    /// Whether no text follows.
    pub(crate) ended: bool,
    /// Marks were searched for up to this index.
    pub(crate) pos: usize,
}

impl View<'_> {
    /// Returns the stream offset of an index.
    pub(crate) fn offset(&self, index: usize) -> u64 {
        self.base + index as u64
    }
}

/// The runs of expressions at the pending position, and a count of the bytes examined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    at: Option<(u64, usize)>,
    runs: Vec<PatternRun>,
    /// Bytes looked at since the start of the stream.
    pub(crate) work: u64,
}

impl Progress {
    /// Forgets the position. The count stays.
    pub(super) fn start_over(&mut self) {
        self.at = None;
    }

    /// Moves to the position `at` of a matcher. Runs that began there earlier are kept.
    fn enter(&mut self, at: (u64, usize), runs: usize) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.runs.clear();
            self.runs.resize_with(runs, PatternRun::default);
        }
    }
}

#[derive(Debug)]
enum Needle {
    /// The marker with this number in the set.
    Literal(usize),
    /// An expression with its position among the runs.
    #[cfg_attr(not(feature = "regex"), expect(dead_code, reason = "no expression is built"))]
    Pattern(Box<Pattern>, usize),
}

/// A compiled list of marks.
#[derive(Debug)]
pub(crate) struct MarkMatcher {
    /// The number of the lookout in its jail.
    number: usize,
    marks: Box<[(Needle, MarkPosition, Option<Check>)]>,
    /// First bytes of marks with their positions, sorted.
    firsts: Box<[(u8, usize)]>,
    set: MarkerSet,
    patterns: usize,
    longest: usize,
}

impl MarkMatcher {
    /// Compiles `marks`. The longest match at a place wins, and the first mark of equal ones.
    ///
    /// # Errors
    /// Returns the position of the faulty mark and its fault.
    pub(crate) fn new(number: usize, marks: &[&Mark]) -> Result<Self, (usize, JailProblem)> {
        let mut builder = MarkerSetBuilder::new();
        let mut firsts = Vec::new();
        let mut sought = Vec::with_capacity(marks.len());
        let (mut literals, mut longest) = (0, 0);
        for (id, mark) in marks.iter().enumerate() {
            let Some(&first) = mark.text.as_bytes().first() else {
                return Err((id, JailProblem::Empty));
            };
            let one = match mark.kind {
                Kind::Literal => {
                    let fold = mark.case == LetterCase::FoldAscii;
                    builder.marker(&mark.text, fold, 1);
                    let cases = [first.to_ascii_lowercase(), first.to_ascii_uppercase()];
                    firsts.extend(if fold { cases } else { [first; 2] }.map(|byte| (byte, id)));
                    longest = longest.max(mark.text.len());
                    literals += 1;
                    Needle::Literal(literals - 1)
                }
                #[cfg(feature = "regex")]
                Kind::Pattern { hold } => {
                    let pattern = Pattern::new(&mark.text, hold).map_err(|why| (id, why))?;
                    for byte in pattern.first_bytes() {
                        builder.stop_byte(byte, 1);
                        firsts.push((byte, id));
                    }
                    longest = longest.max(pattern.longest());
                    Needle::Pattern(Box::new(pattern), id - literals)
                }
            };
            sought.push((one, mark.at, mark.check.clone()));
        }
        firsts.sort_unstable();
        firsts.dedup();
        Ok(Self {
            number,
            marks: sought.into(),
            firsts: firsts.into(),
            set: builder.build(),
            patterns: marks.len() - literals,
            longest,
        })
    }

    /// Returns the maximum length of a mark in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Searches for the first mark that begins at an index from `view.pos` to `until`, both
    /// included.
    pub(crate) fn seek(&self, view: View<'_>, until: usize, progress: &mut Progress) -> Search {
        let bytes = view.text.as_bytes();
        // The search may stop at a later byte of a mark's first scalar.
        let reach = until.saturating_add(4).min(bytes.len());
        let mut pos = view.pos;
        while pos < reach
            && let Some(hit) = self.set.next_stop(0, &bytes[pos..reach])
        {
            let start = floor_char_boundary(view.text, pos + hit);
            if start > until {
                break;
            }
            progress.work += hit as u64;
            match self.look(view, start, progress) {
                Search::Miss => pos = after_scalar(view.text, start),
                found => return found,
            }
        }
        progress.work += reach.saturating_sub(pos) as u64;
        Search::Miss
    }

    /// Returns the mark at `start`.
    fn look(&self, view: View<'_>, start: usize, progress: &mut Progress) -> Search {
        let bytes = view.text.as_bytes();
        let rest = &bytes[start..];
        let Some(&first) = rest.first() else { return Search::Miss };
        let before = start.checked_sub(1).map_or(view.before, |last| Some(bytes[last]));
        progress.enter((view.offset(start), self.number), self.patterns);
        let bucket = self.firsts.partition_point(|&(byte, _)| byte < first);
        let bucket = self.firsts[bucket..].iter().take_while(|&&(byte, _)| byte == first);
        let (mut best, mut open) = (None, false);
        for &(_, id) in bucket {
            let (needle, at, check) = &self.marks[id];
            if !at.holds(before) {
                continue;
            }
            let prefix = match needle {
                Needle::Literal(marker) => {
                    progress.work += rest.len().min(self.longest) as u64;
                    self.set.match_prefix(*marker, rest)
                }
                Needle::Pattern(pattern, run) => {
                    let view = PatternView { text: rest, before, ended: view.ended };
                    pattern.read(&mut progress.runs[*run], view, &mut progress.work)
                }
            };
            match (prefix, check) {
                (Prefix::Partial, _) if !view.ended => open = true,
                (Prefix::Match(len), None) => take_longer(&mut best, Some(len), id),
                (Prefix::Match(len), Some(check)) => {
                    progress.work += len as u64;
                    take_longer(&mut best, check.accepts(&view.text[start..start + len]), id);
                }
                (Prefix::Partial | Prefix::Mismatch, _) => {}
            }
        }
        match best {
            // An expression that still reads may match a longer text.
            _ if open => Search::Partial { at: start },
            Some((len, id)) => Search::Match(Match { at: start, len, id }),
            None => Search::Miss,
        }
    }

    /// Returns how the match just found, of `len` bytes, may continue beyond its hold, if it may.
    pub(crate) fn tail(&self, mark: usize, len: usize, progress: &Progress) -> Option<Tail> {
        let Needle::Pattern(_, run) = self.marks[mark].0 else { return None };
        let state = progress.runs.get(run)?.goes_on(len)?;
        Some(Tail { mark, state, grown: false })
    }

    /// Reads on after a match. Returns the number of bytes of `text` that belong to it, and whether
    /// it ends with them.
    pub(crate) fn read_on(&self, tail: &mut Tail, text: &str, work: &mut u64) -> (usize, bool) {
        match &self.marks[tail.mark].0 {
            Needle::Literal(_) => (0, true),
            Needle::Pattern(pattern, _) => pattern.read_on(&mut tail.state, text, work),
        }
    }
}

/// Replaces the best match by a longer one.
fn take_longer(best: &mut Option<(usize, usize)>, len: Option<usize>, id: usize) {
    if let Some(len) = len
        && best.is_none_or(|(most, _)| len > most)
    {
        *best = Some((len, id));
    }
}

/// Returns the index after the scalar at `at`.
pub(crate) fn after_scalar(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(text.len(), |scalar| at + scalar.len_utf8())
}
