//! A compiled set of literal markers and the search for their leftmost occurrence.
//!
//! The set answers two questions over a slice of text: where is the next byte at which a marker
//! could stand ([`MarkerSet::next_stop`]), and what stands there ([`MarkerSet::search_at`]). Both
//! are stateless; hold-back across chunks is the caller's (the [`crate::Driver`] or
//! [`crate::Matcher`]).
//!
//! Markers are found by the rarest byte of their first scalar, not by their first byte: `◁`
//! shares its first two bytes with quotation marks and dashes.

#![expect(
    clippy::indexing_slicing,
    reason = "here and in the index: a marker's number is its place in the set, a class is less \
              than `MAX_CLASSES`, tables have an entry for each byte, and a search stops at a \
              byte of the text"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "here and in the index: places and lengths in a marker or a text in memory; an empty \
              set has no stops"
)]

mod index;
mod needles;

use alloc::{boxed::Box, vec::Vec};
use core::cmp::Reverse;

use self::{index::Index, needles::Needles};
use crate::suffix::{Suffix, place};

/// A class of scanner states: which markers are searched for. At most [`MAX_CLASSES`].
pub type Class = u8;

/// The number of classes a set can tell apart.
pub const MAX_CLASSES: Class = 32;

/// A bit set of classes.
pub type Classes = u32;

/// Below this length a byte-table loop beats the set-up of a vectorised search.
const SHORT: usize = 32;
/// With more stop bytes than this a byte-table loop beats a search for each group of three.
const MANY: usize = 12;

#[derive(Debug, Clone)]
struct Marker {
    bytes: Box<[u8]>,
    fold: bool,
    suffix: Suffix,
    classes: Classes,
    /// Offset, inside the first scalar, of the byte the search stops at.
    stop: u8,
}

/// How a marker and the text at its place compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Mismatch,
    /// They agree as far as the text goes.
    Partial,
    /// The marker takes this many bytes.
    Match(usize),
}

impl Marker {
    fn is_in(&self, class: Class) -> bool {
        self.classes >> class & 1 != 0
    }

    /// The bytes at which the search for it stops: one, or both cases of a letter.
    fn stop_bytes(&self) -> impl Iterator<Item = u8> + use<> {
        let byte = self.bytes.get(usize::from(self.stop)).copied();
        let (lower, upper) =
            (byte.map(|b| b.to_ascii_lowercase()), byte.map(|b| b.to_ascii_uppercase()));
        let cases = if self.fold && lower != upper { [lower, upper] } else { [byte, None] };
        cases.into_iter().flatten()
    }

    /// The most bytes it may take.
    fn longest(&self) -> usize {
        let suffix = if self.suffix == Suffix::Optional { 1 + Suffix::LONGEST } else { 0 };
        self.bytes.len() + suffix
    }

    fn same(&self, marker: &[u8], text: &[u8]) -> bool {
        if self.fold { text.eq_ignore_ascii_case(marker) } else { text == marker }
    }

    fn match_prefix(&self, text: &[u8]) -> Prefix {
        let n = self.bytes.len().min(text.len());
        if !self.same(&self.bytes[..n], &text[..n]) {
            return self.match_suffixed(text);
        }
        if n < self.bytes.len() { Prefix::Partial } else { Prefix::Match(n) }
    }

    /// Reads text that is not the marker as it stands.
    fn match_suffixed(&self, text: &[u8]) -> Prefix {
        if self.suffix == Suffix::None || self.bytes.is_empty() {
            return Prefix::Mismatch;
        }
        let (head, close) = self.bytes.split_at(place(&self.bytes));
        let Some((start, [b':', rest @ ..])) = text.split_at_checked(head.len()) else {
            return Prefix::Mismatch;
        };
        if !self.same(head, start) {
            return Prefix::Mismatch;
        }
        let word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let n = rest.iter().take(Suffix::LONGEST).take_while(word).count();
        let end = &rest[n..];
        let most = close.len().min(end.len());
        if n == 0 && !end.is_empty() || end[..most] != close[..most] {
            Prefix::Mismatch
        } else if most < close.len() {
            Prefix::Partial
        } else {
            Prefix::Match(head.len() + 1 + n + most)
        }
    }
}

/// What a search found where it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// No live marker starts here.
    Miss,
    /// The text ends inside a live marker that starts at `at` (or inside a longer rival of a
    /// complete one); more text decides.
    Partial {
        /// Byte index of the marker's first byte.
        at: usize,
    },
    /// The longest live marker here.
    Match(Match),
}

/// A marker that stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// Byte index of the marker's first byte.
    pub at: usize,
    /// Length of the marker in bytes.
    pub len: usize,
    /// The number [`MarkerSetBuilder::marker`] gave it.
    pub id: usize,
}

/// A compiled marker set; build one with [`MarkerSetBuilder`].
#[derive(Debug, Clone)]
pub struct MarkerSet {
    markers: Box<[Marker]>,
    index: Index,
    /// Bit `c` of `stops[byte]`: the search of class `c` stops at this byte.
    stops: Box<[Classes; 256]>,
    needles: Box<[Needles]>,
    longest: usize,
}

/// Collects markers for a [`MarkerSet`].
#[derive(Debug, Clone, Default)]
pub struct MarkerSetBuilder {
    markers: Vec<Marker>,
    extra: Vec<(u8, Classes)>,
}

impl MarkerSetBuilder {
    /// Starts an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a marker and returns its id: 0, 1, 2 ... in the order of the calls.
    ///
    /// `classes` is a bit set of the classes it is searched in; `fold` matches ASCII letters in
    /// either case. An empty marker never matches.
    pub fn marker(&mut self, text: &str, fold: bool, classes: Classes) -> usize {
        self.suffixed(text, fold, Suffix::None, classes)
    }

    /// As [`MarkerSetBuilder::marker`], with a suffix rule.
    pub fn suffixed(&mut self, text: &str, fold: bool, suffix: Suffix, classes: Classes) -> usize {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let bytes: Box<[u8]> = text.as_bytes().into();
        let stop = (0..first).max_by_key(|&i| rarity(bytes[i])).unwrap_or(0);
        self.markers.push(Marker { bytes, fold, suffix, classes, stop: stop as u8 });
        self.markers.len() - 1
    }

    /// Makes the search of `classes` stop at `byte` though no marker starts with it.
    pub fn stop_byte(&mut self, byte: u8, classes: Classes) {
        self.extra.push((byte, classes));
    }

    /// Compiles the set.
    #[must_use]
    pub fn build(self) -> MarkerSet {
        let mut stops = Box::new([0; 256]);
        for marker in &self.markers {
            for byte in marker.stop_bytes() {
                stops[usize::from(byte)] |= marker.classes;
            }
        }
        for &(byte, classes) in &self.extra {
            stops[usize::from(byte)] |= classes;
        }
        let needles = (0..MAX_CLASSES)
            .map(|class| {
                Needles((0..=255u8).filter(|&b| stops[usize::from(b)] >> class & 1 != 0).collect())
            })
            .collect();
        let longest = self.markers.iter().map(Marker::longest).max().unwrap_or(0);
        let markers = self.markers.into_boxed_slice();
        let index = Index::new(&markers);
        MarkerSet { markers, index, stops, needles, longest }
    }
}

/// Returns the length of the run of newlines at the head of `text`.
pub(crate) fn newlines(text: &[u8]) -> usize {
    text.iter().position(|&byte| byte != b'\n').unwrap_or(text.len())
}

/// A rough rank of how seldom a byte occurs in text; higher is rarer.
fn rarity(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b' ' => 0,
        b'A'..=b'Z' | b'0'..=b'9' | b'\n' | b'.' | b',' => 1,
        // Lead bytes of the common scripts and of general punctuation.
        0xC2..=0xC5 | 0xD0 | 0xD1 | 0xE2..=0xE9 | 0xEF | 0x80 => 2,
        0xF0 | 0x99 | 0x9C | 0x9D | 0x93 | 0x94 | 0xA6 => 3,
        _ => 4,
    }
}

impl MarkerSet {
    /// Length in bytes of the longest marker; 0 for an empty set.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Index of the next byte of `hay` at which the search of `class` must look closer.
    #[inline]
    #[must_use]
    pub fn next_stop(&self, class: Class, hay: &[u8]) -> Option<usize> {
        let needles = &self.needles[usize::from(class)];
        if hay.len() < SHORT || needles.0.len() > MANY {
            let bit = 1 << class;
            return hay.iter().position(|&b| self.stops[usize::from(b)] & bit != 0);
        }
        needles.find(hay)
    }

    /// What stands at the stop `stop` of `text`.
    ///
    /// `floor` is the lowest index a marker may start at; `ended` says that no text follows, so
    /// that nothing is partial; `live` is asked about `(id, start)` of markers that agree with it.
    pub fn search_at(
        &self,
        class: Class,
        text: &[u8],
        stop: usize,
        floor: usize,
        ended: bool,
        mut live: impl FnMut(usize, usize) -> bool,
    ) -> Search {
        let mut best = Best::default();
        for group in self.index.at_stop(text[stop]) {
            let Some(at) = stop.checked_sub(group.stop()) else { continue };
            if at >= floor {
                let live = |id: usize| self.markers[id].is_in(class) && live(id, at);
                group.search(&self.markers, text, at, live, &mut best);
            }
        }
        best.decide(ended)
    }

    /// What starts exactly at `at`, asked by position instead of by stop byte.
    pub fn search_start(
        &self,
        class: Class,
        text: &[u8],
        at: usize,
        ended: bool,
        mut live: impl FnMut(usize) -> bool,
    ) -> Search {
        let mut best = Best::default();
        for group in self.index.all() {
            let live = |id: usize| self.markers[id].is_in(class) && live(id);
            group.search(&self.markers, text, at, live, &mut best);
        }
        best.decide(ended)
    }

    /// See [`Index::pass_stop`].
    #[inline]
    pub(crate) fn pass_stop(&self, text: &[u8], stop: usize, looked: &mut u64) -> Option<usize> {
        self.index.pass_stop(text, stop, looked)
    }

    /// How marker `id` and `text` compare.
    pub(crate) fn match_prefix(&self, id: usize, text: &[u8]) -> Prefix {
        self.markers[id].match_prefix(text)
    }

    /// Whether marker `id` is searched in `class` and agrees with `text` as far as both go.
    pub(crate) fn agrees(&self, id: usize, class: Class, text: &[u8]) -> bool {
        let marker = &self.markers[id];
        marker.is_in(class) && marker.match_prefix(text) != Prefix::Mismatch
    }
}

/// The best answer so far: leftmost start, then longest, then first added.
#[derive(Default)]
struct Best {
    full: Option<Match>,
    partial: Option<usize>,
}

impl Best {
    fn offer(
        &mut self,
        marker: &Marker,
        id: usize,
        text: &[u8],
        at: usize,
        mut live: impl FnMut(usize) -> bool,
    ) {
        // What is there costs less to see than what may be.
        match marker.match_prefix(&text[at..]) {
            Prefix::Partial if self.partial.is_none_or(|known| known > at) && live(id) => {
                self.partial(at);
            }
            Prefix::Match(len) if live(id) => self.full(Match { at, len, id }),
            Prefix::Mismatch | Prefix::Partial | Prefix::Match(_) => {}
        }
    }

    fn partial(&mut self, at: usize) {
        self.partial = Some(self.partial.map_or(at, |other| other.min(at)));
    }

    fn full(&mut self, found: Match) {
        // Of equal markers the one that was added first counts, in whatever group it is.
        let rank = |it: Match| (Reverse(it.at), it.len, Reverse(it.id));
        if self.full.is_none_or(|best| rank(found) > rank(best)) {
            self.full = Some(found);
        }
    }

    fn decide(self, ended: bool) -> Search {
        match (self.full, self.partial) {
            // A partial marker further left, or a longer one at the same place, may still win.
            (Some(full), Some(at)) if !ended && at <= full.at => Search::Partial { at },
            (Some(full), _) => Search::Match(full),
            (None, Some(at)) if !ended => Search::Partial { at },
            (None, _) => Search::Miss,
        }
    }
}
