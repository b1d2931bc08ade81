//! What is watched for: outside of regions all openers and the leftover field's closer, inside of
//! one its closer alone.

use alloc::vec::Vec;

use crate::{
    pattern::{Found, Program, Search},
    template::Inner,
};

/// Which end of a field a boundary is. Openers come first where two match alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    Open,
    Close,
}

/// The boundaries that are watched in one state.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    pub(super) boundaries: Vec<(Side, usize)>,
    /// The first bytes of everything that may be a boundary.
    pub(super) first: [bool; 256],
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

    /// What is watched for outside of regions, then inside of each field's.
    pub(super) fn all(inner: &Inner) -> Vec<Self> {
        let openers = (0..inner.fields.len()).map(|field| (Side::Open, field));
        let outside = openers.chain(inner.leftover.map(|field| (Side::Close, field)));
        let inside = (0..inner.fields.len())
            .map(|field| Self::new(inner, [(Side::Close, field)].into_iter()));
        core::iter::once(Self::new(inner, outside)).chain(inside).collect()
    }

    /// How many bytes at the start of `text` no boundary begins with.
    pub(super) fn quiet(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| self.first[usize::from(byte)]).unwrap_or(text.len())
    }
}

/// What is known of the next boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// This one, whatever follows.
    Certain(Side, usize, Found),
    /// It may begin here, but not before.
    NotBefore(u64),
    /// It may begin here, and too much is held for that.
    TooLong(u64),
    /// Nothing that was read is part of one.
    Nowhere,
}

/// Which boundary comes next. Of matches the earliest counts, then the longest, then an opener,
/// then the field whose name comes first.
pub(super) fn next(inner: &Inner, watch: &Watch, searches: &[Search]) -> Next {
    let mut pending = None;
    let mut best: Option<(Side, usize, &Found)> = None;
    for (&(side, field), search) in watch.boundaries.iter().zip(searches) {
        if let Some(start) = search.pending() {
            pending = Some(pending.map_or(start, |least: u64| least.min(start)));
        } else if let Some(found) = search.found() {
            let better = best.is_none_or(|(other_side, other, known)| {
                let name = |field: usize| inner.fields[field].name.as_str();
                let length = |found: &Found| core::cmp::Reverse(found.end - found.start);
                (found.start, length(found), side, name(field))
                    < (known.start, length(known), other_side, name(other))
            });
            if better {
                best = Some((side, field, found));
            }
        }
    }
    match (best, pending) {
        (Some((side, field, found)), pending) if pending.is_none_or(|at| found.start < at) => {
            Next::Certain(side, field, found.clone())
        }
        (_, Some(at)) => Next::NotBefore(at),
        (_, None) => Next::Nowhere,
    }
}
