//! What is looked for in one state of a jail: literals and expressions, asked about together.

#![expect(
    clippy::indexing_slicing,
    reason = "a mark's number is its place in `marks`, a pattern's is that of its run, of which \
              `enter` makes as many; places are those that the search told in the text it was \
              given"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in a view's text and lengths of what was read in it; steps of work and \
              places of the stream have 64 bits; a mark that is no literal comes behind fewer \
              literals than marks"
)]

use alloc::{boxed::Box, vec::Vec};

#[cfg(feature = "regex")]
use super::pattern::{Pattern, Run};
use super::{
    error::Problem,
    mark::{At, Check, Kind, Mark},
};
use crate::{
    chars::floor_char_boundary,
    edge::Case,
    marker::{MarkerSet, MarkerSetBuilder, Match, Prefix, Search},
    suffix::Suffix,
};

/// Expressions there are none of.
#[cfg(not(feature = "regex"))]
#[derive(Debug)]
pub(crate) enum Pattern {}
#[cfg(not(feature = "regex"))]
type State = core::convert::Infallible;
#[cfg(feature = "regex")]
type State = regex_automata::util::primitives::StateID;
#[cfg(not(feature = "regex"))]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run;

/// A match that its hold cut short, and that may go on behind its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    mark: usize,
    state: State,
    /// Whether it did.
    pub(crate) grown: bool,
}

/// Text to look at.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) text: &'t str,
    /// Stream offset of its first byte.
    pub(crate) base: u64,
    /// The byte before it; `None` at the start of the stream.
    pub(crate) before: Option<u8>,
    /// Whether no text follows.
    pub(crate) ended: bool,
}

/// How far expressions have read at the position that is held.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    at: Option<(u64, usize)>,
    runs: Vec<Run>,
}

impl Progress {
    /// Goes to a position of a matcher: what was read there before is kept.
    fn enter(&mut self, at: (u64, usize), runs: usize) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.runs.clear();
            self.runs.resize_with(runs, Run::default);
        }
    }
}

#[derive(Debug)]
enum Needle {
    /// The marker with this number in the set.
    Literal(usize),
    /// An expression, with its place among the runs.
    #[cfg_attr(not(feature = "regex"), expect(dead_code, reason = "there are none"))]
    Pattern(Box<Pattern>, usize),
}

/// A compiled list of marks.
#[derive(Debug)]
pub(crate) struct MarkMatcher {
    /// Tells it from the others of its jail.
    number: usize,
    marks: Box<[(Needle, At, Option<Check>)]>,
    /// First bytes of marks with their positions, sorted.
    firsts: Box<[(u8, usize)]>,
    set: MarkerSet,
    patterns: usize,
    longest: usize,
    /// How many marks, from the first, yield to the first of them that matches.
    ranked: usize,
}

impl MarkMatcher {
    /// Compiles `marks`. The longest match at a place counts; of the `ranked` first marks, the
    /// first that matches.
    ///
    /// # Errors
    /// The position of the faulty mark, and what is wrong with it.
    pub(crate) fn new(
        number: usize,
        marks: &[&Mark],
        ranked: usize,
    ) -> Result<Self, (usize, Problem)> {
        let mut builder = MarkerSetBuilder::new();
        let mut firsts = Vec::new();
        let mut sought = Vec::with_capacity(marks.len());
        let (mut literals, mut longest) = (0, 0);
        for (id, mark) in marks.iter().enumerate() {
            let Some(&first) = mark.text.as_bytes().first() else {
                return Err((id, Problem::Empty));
            };
            let one = match mark.kind {
                Kind::Literal => {
                    let fold = mark.case == Case::FoldAscii;
                    builder.suffixed(&mark.text, fold, Suffix::None, 1);
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
            ranked,
        })
    }

    /// The most bytes any mark takes.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Finds the first mark that begins at an index from `from` up to and with `until`.
    pub(crate) fn seek(
        &self,
        view: View<'_>,
        from: usize,
        until: usize,
        progress: &mut Progress,
        work: &mut u64,
    ) -> Search {
        let bytes = view.text.as_bytes();
        // The search may stop at a later byte of a scalar.
        let reach = until.saturating_add(4).min(bytes.len());
        let mut pos = from;
        while pos < reach
            && let Some(hit) = self.set.next_stop(0, &bytes[pos..reach])
        {
            let start = floor_char_boundary(view.text, pos + hit);
            if start > until {
                break;
            }
            *work += hit as u64;
            match self.look(view, start, progress, work) {
                Search::Miss => pos = scalar_behind(view.text, start),
                found => return found,
            }
        }
        *work += reach.saturating_sub(pos) as u64;
        Search::Miss
    }

    /// What stands at `start`.
    fn look(
        &self,
        view: View<'_>,
        start: usize,
        progress: &mut Progress,
        work: &mut u64,
    ) -> Search {
        let bytes = view.text.as_bytes();
        let rest = &bytes[start..];
        let Some(&first) = rest.first() else { return Search::Miss };
        let before = start.checked_sub(1).map_or(view.before, |last| Some(bytes[last]));
        progress.enter((view.base + start as u64, self.number), self.patterns);
        let bucket = self.firsts.partition_point(|&(byte, _)| byte < first);
        let bucket = self.firsts[bucket..].iter().take_while(|&&(byte, _)| byte == first);
        let (mut best, mut open) = (None, false);
        for &(_, id) in bucket {
            let (needle, at, check) = &self.marks[id];
            // Ranked marks come first in their bucket: what was found or is open is one of them.
            let outranked = id < self.ranked && (open || best.is_some());
            if outranked || !at.holds(before) {
                continue;
            }
            let prefix = match needle {
                Needle::Literal(marker) => {
                    *work += rest.len().min(self.longest) as u64;
                    self.set.match_prefix(*marker, rest)
                }
                Needle::Pattern(pattern, run) => {
                    read(pattern, &mut progress.runs[*run], rest, before, view.ended, work)
                }
            };
            match (prefix, check) {
                (Prefix::Partial, _) if !view.ended => open = true,
                (Prefix::Match(len), None) => longer(&mut best, Some(len), id),
                (Prefix::Match(len), Some(check)) => {
                    *work += len as u64;
                    longer(&mut best, check.accepts(&view.text[start..start + len]), id);
                }
                (Prefix::Partial | Prefix::Mismatch, _) => {}
            }
        }
        match best {
            // What is still open may turn out longer.
            _ if open => Search::Partial { at: start },
            Some((len, id)) => Search::Match(Match { at: start, len, id }),
            None => Search::Miss,
        }
    }

    /// How the match just found, of `len` bytes, may go on beyond its hold.
    pub(crate) fn tail(&self, mark: usize, len: usize, progress: &Progress) -> Option<Tail> {
        let Needle::Pattern(_, run) = self.marks[mark].0 else { return None };
        let state = goes_on(progress.runs.get(run)?, len)?;
        Some(Tail { mark, state, grown: false })
    }

    /// Reads on behind a match: how many bytes of `text` are its, and whether no more can be.
    pub(crate) fn read_on(&self, tail: &mut Tail, text: &str, work: &mut u64) -> (usize, bool) {
        match &self.marks[tail.mark].0 {
            Needle::Literal(_) => (0, true),
            Needle::Pattern(pattern, _) => read_on(pattern, &mut tail.state, text, work),
        }
    }
}

/// Takes a match if it is longer than the best.
fn longer(best: &mut Option<(usize, usize)>, len: Option<usize>, id: usize) {
    if let Some(len) = len
        && best.is_none_or(|(most, _)| len > most)
    {
        *best = Some((len, id));
    }
}

#[cfg(feature = "regex")]
fn goes_on(run: &Run, len: usize) -> Option<State> {
    run.goes_on(len)
}

#[cfg(not(feature = "regex"))]
fn goes_on(_: &Run, _: usize) -> Option<State> {
    None
}

#[cfg(feature = "regex")]
fn read_on(pattern: &Pattern, state: &mut State, text: &str, work: &mut u64) -> (usize, bool) {
    pattern.read_on(state, text, work)
}

#[cfg(not(feature = "regex"))]
fn read_on(pattern: &Pattern, _: &mut State, _: &str, _: &mut u64) -> (usize, bool) {
    match *pattern {}
}

#[cfg(feature = "regex")]
fn read(
    pattern: &Pattern,
    run: &mut Run,
    text: &[u8],
    before: Option<u8>,
    ended: bool,
    work: &mut u64,
) -> Prefix {
    pattern.read(run, text, before, ended, work)
}

#[cfg(not(feature = "regex"))]
fn read(pattern: &Pattern, _: &mut Run, _: &[u8], _: Option<u8>, _: bool, _: &mut u64) -> Prefix {
    match *pattern {}
}

/// The index after the scalar at `at`.
pub(crate) fn scalar_behind(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(text.len(), |scalar| at + scalar.len_utf8())
}
