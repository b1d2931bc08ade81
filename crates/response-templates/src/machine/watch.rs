//! The boundaries that are searched for in each state.
//!
//! | state | boundaries |
//! |---|---|
//! | outside of regions | all openers, and the closer of the leftover field |
//! | inside a region | the closer of its field |

use alloc::vec::Vec;

use crate::{
    pattern::{Found, Program, Search},
    template::Inner,
};

/// The side of a field on which a boundary is. Of two equal matches the opener counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Open,
    Close,
}

/// The boundaries that are searched for in one state.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    pub(super) boundaries: Vec<(Side, usize)>,
    /// The bytes with which a boundary may begin.
    first: [bool; 256],
}

pub(super) fn program(inner: &Inner, side: Side, field: usize) -> Option<&Program> {
    let field = inner.fields.get(field)?;
    let boundary = if side == Side::Open { &field.open } else { &field.close };
    boundary.as_ref().map(|boundary| &boundary.program)
}

impl Watch {
    fn new(inner: &Inner, boundaries: impl Iterator<Item = (Side, usize)>) -> Self {
        let boundaries = boundaries.filter(|&(side, field)| program(inner, side, field).is_some());
        let boundaries: Vec<_> = boundaries.collect();
        let mut first = [false; 256];
        for program in boundaries.iter().filter_map(|&(side, field)| program(inner, side, field)) {
            first.iter_mut().zip(&program.first).for_each(|(all, one)| *all |= one);
        }
        Self { boundaries, first }
    }

    /// Creates all watches: the one outside of regions, then one for each field.
    pub(super) fn all(inner: &Inner) -> Vec<Self> {
        let openers = (0..inner.fields.len()).map(|field| (Side::Open, field));
        let outside = openers.chain(inner.leftover.map(|field| (Side::Close, field)));
        let inside = (0..inner.fields.len())
            .map(|field| Self::new(inner, [(Side::Close, field)].into_iter()));
        core::iter::once(Self::new(inner, outside)).chain(inside).collect()
    }

    /// Returns the number of bytes at the start of `text` that cannot begin a boundary.
    pub(super) fn quiet(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| self.first[usize::from(byte)]).unwrap_or(text.len())
    }
}

/// A boundary that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundBoundary {
    pub(super) side: Side,
    pub(super) field: usize,
    pub(super) found: Found,
}

/// The result of a search for the next boundary.
///
/// For the opener `<t>`: `Nowhere` in `Hi`, `NotBefore(3)` in `Hi <t`, `Certain` in `Hi <t>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// This boundary is the next one, whatever text follows.
    Certain(FoundBoundary),
    /// A boundary may begin at this place, and none begins before it.
    NotBefore(u64),
    /// A boundary may begin at this place, but more text is held for it than allowed.
    TooLong(u64),
    /// No boundary begins in the text that was read.
    Nowhere,
}

/// Returns the next boundary. The earliest match counts, then the longest, then an opener, then the
/// field whose name is first in the alphabet.
pub(super) fn next(inner: &Inner, watch: &Watch, searches: &[Search]) -> Next {
    let rank = |boundary: &FoundBoundary| {
        let FoundBoundary { side, field, found } = boundary;
        let length = core::cmp::Reverse(found.end - found.start);
        (found.start, length, *side, inner.fields[*field].name.as_str())
    };
    let mut pending: Option<u64> = None;
    let mut best: Option<FoundBoundary> = None;
    for (&(side, field), search) in watch.boundaries.iter().zip(searches) {
        if let Some(start) = search.pending() {
            pending = Some(pending.map_or(start, |least| least.min(start)));
        } else if let Some(found) = search.found() {
            let boundary = FoundBoundary { side, field, found: found.clone() };
            if best.as_ref().is_none_or(|best| rank(&boundary) < rank(best)) {
                best = Some(boundary);
            }
        }
    }
    match (best, pending) {
        (Some(best), pending) if pending.is_none_or(|at| best.found.start < at) => {
            Next::Certain(best)
        }
        (_, Some(at)) => Next::NotBefore(at),
        (_, None) => Next::Nowhere,
    }
}
