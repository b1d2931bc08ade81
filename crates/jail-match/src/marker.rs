//! A compiled set of literal markers and the search for their leftmost occurrence.
//!
//! The set answers two questions about a slice of text: at which byte a marker could be next
//! ([`MarkerSet::next_stop`]), and which marker contains that byte ([`MarkerSet::search_at`]). Both
//! are stateless. The caller (the [`crate::Driver`] or [`crate::Matcher`]) holds text back across
//! chunks.
//!
//! The search stops at the rarest byte of each marker's first scalar, and not at its first byte:
//! `◁` shares its first byte with quotation marks and dashes.
//!
//! ```
//! use jail_match::{Haystack, MarkerSetBuilder, Search};
//! let mut builder = MarkerSetBuilder::new();
//! let tool = builder.marker("<tool>", false, 1);
//! let set = builder.build();
//! let hay = Haystack { text: b"a <tool> b", class: 0, floor: 0, ended: false };
//! let stop = set.next_stop(0, hay.text).unwrap();
//! let found = set.search_at(hay, stop, |_, _| true);
//! assert!(matches!(found, Search::Match(one) if (one.at, one.len, one.id) == (2, 6, tool)));
//! ```

mod index;
mod needles;

use alloc::{boxed::Box, vec, vec::Vec};
use core::cmp::Reverse;

use self::{index::Index, needles::Needles};
use crate::{
    edge::{Edge, LetterCase},
    suffix::{SuffixRule, suffix_place},
};

/// The number of a class, below 32. A class is a group of scanner states that search for the same
/// markers.
pub type Class = u8;

/// The number of classes a set can tell apart.
pub(crate) const CLASS_COUNT: Class = 32;

/// A set of classes, one bit for each.
pub type Classes = u32;

/// The length of text below which a loop over a byte table is faster than a vectorised search.
const MIN_VECTORISED: usize = 32;
/// The number of stop bytes above which a loop over a byte table is faster than a search for each
/// group of three.
const NEEDLE_SLOTS: usize = 12;

#[derive(Debug, Clone)]
struct Marker {
    bytes: Box<[u8]>,
    fold: bool,
    suffix: SuffixRule,
    classes: Classes,
    /// Offset in the first scalar of the byte at which the search stops.
    stop: u8,
}

/// The result of comparing a marker with the text at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    Mismatch,
    /// The text ends inside the marker.
    Partial,
    /// The marker matches with this many bytes.
    Match(usize),
}

impl Marker {
    fn new(text: &str, fold: bool, suffix: SuffixRule, classes: Classes) -> Self {
        let first = text.chars().next().map_or(0, char::len_utf8);
        let bytes: Box<[u8]> = text.as_bytes().into();
        let stop = (0..first).max_by_key(|&i| rarity(bytes[i])).unwrap_or(0);
        Self { bytes, fold, suffix, classes, stop: stop as u8 }
    }

    fn is_in(&self, class: Class) -> bool {
        self.classes >> class & 1 != 0
    }

    /// Returns the bytes at which the search for the marker stops: one, or both cases of a letter.
    fn stop_bytes(&self) -> impl Iterator<Item = u8> + use<> {
        let byte = self.bytes.get(usize::from(self.stop)).copied();
        let (lower, upper) =
            (byte.map(|b| b.to_ascii_lowercase()), byte.map(|b| b.to_ascii_uppercase()));
        let cases = if self.fold && lower != upper { [lower, upper] } else { [byte, None] };
        cases.into_iter().flatten()
    }

    /// Returns the maximum length of the marker in a text.
    fn longest(&self) -> usize {
        let suffix =
            if self.suffix == SuffixRule::Optional { 1 + SuffixRule::MAX_CHARS } else { 0 };
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

    /// Compares text that is not the plain marker with the marker and a suffix.
    fn match_suffixed(&self, text: &[u8]) -> Prefix {
        if self.suffix == SuffixRule::None || self.bytes.is_empty() {
            return Prefix::Mismatch;
        }
        let (head, close) = self.bytes.split_at(suffix_place(&self.bytes));
        let Some((start, [b':', rest @ ..])) = text.split_at_checked(head.len()) else {
            return Prefix::Mismatch;
        };
        if !self.same(head, start) {
            return Prefix::Mismatch;
        }
        let word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let n = rest.iter().take(SuffixRule::MAX_CHARS).take_while(word).count();
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

/// A text to search, and what the search may find in it.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::exhaustive_structs, reason = "the arguments of one function")]
pub struct Haystack<'t> {
    /// The bytes of the text.
    pub text: &'t [u8],
    /// The class whose markers are searched for.
    pub class: Class,
    /// The lowest index at which a marker may start.
    pub floor: usize,
    /// Whether no text follows. A marker that the text cuts is then not found.
    pub ended: bool,
}

/// The result of a search at a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// No live marker contains the stop.
    Miss,
    /// The text ends inside a live marker that starts at `at`. A shorter marker may be complete
    /// there. More text decides.
    Partial {
        /// The byte index of the marker's first byte.
        at: usize,
    },
    /// The longest live marker at the stop.
    Match(Match),
}

/// A marker found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The byte index of the marker's first byte.
    pub at: usize,
    /// The length of the marker in bytes.
    pub len: usize,
    /// The number that [`MarkerSetBuilder::marker`] returned.
    pub id: usize,
}

/// A compiled set of markers; see [`MarkerSetBuilder`].
#[derive(Debug, Clone)]
pub struct MarkerSet {
    markers: Box<[Marker]>,
    index: Index,
    /// Bit `c` of `stops[byte]`: the search of class `c` stops at this byte.
    stops: Box<[Classes; 256]>,
    needles: Box<[Needles]>,
    longest: usize,
}

/// A builder of a [`MarkerSet`].
#[derive(Debug, Clone, Default)]
pub struct MarkerSetBuilder {
    markers: Vec<Marker>,
    extra: Vec<(u8, Classes)>,
}

impl MarkerSetBuilder {
    /// Creates a builder without markers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a marker and returns its id: 0, 1, 2 and so on, in the order of the calls.
    ///
    /// `classes` are the classes in which the marker is searched for, and `fold` matches ASCII
    /// letters in either case. An empty marker never matches.
    pub fn marker(&mut self, text: &str, fold: bool, classes: Classes) -> usize {
        self.add(Marker::new(text, fold, SuffixRule::None, classes))
    }

    /// Adds the marker of an edge, with its case and suffix rules.
    pub(crate) fn edge(&mut self, edge: &Edge, classes: Classes) -> usize {
        let fold = edge.case == LetterCase::FoldAscii;
        self.add(Marker::new(&edge.marker, fold, edge.suffix, classes))
    }

    fn add(&mut self, marker: Marker) -> usize {
        self.markers.push(marker);
        self.markers.len() - 1
    }

    /// Makes the search of `classes` also stop at `byte`.
    pub fn stop_byte(&mut self, byte: u8, classes: Classes) {
        self.extra.push((byte, classes));
    }

    /// Compiles the markers added so far.
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
        let mut needles = vec![Needles::default(); usize::from(CLASS_COUNT)];
        for (byte, classes) in (0..=255u8).zip(stops.iter()).filter(|(_, classes)| **classes != 0) {
            for (class, needles) in needles.iter_mut().enumerate() {
                if classes >> class & 1 != 0 {
                    needles.0.push(byte);
                }
            }
        }
        let longest = self.markers.iter().map(Marker::longest).max().unwrap_or(0);
        let markers = self.markers.into_boxed_slice();
        let index = Index::new(&markers);
        MarkerSet { markers, index, stops, needles: needles.into(), longest }
    }
}

/// Returns the length of the run of newlines at the head of `text`.
pub(crate) fn newlines(text: &[u8]) -> usize {
    text.iter().position(|&byte| byte != b'\n').unwrap_or(text.len())
}

/// Returns the rank of a byte by frequency in text; higher is rarer.
fn rarity(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b' ' => 0,
        b'A'..=b'Z' | b'0'..=b'9' | b'\n' | b'.' | b',' => 1,
        // The lead bytes of the common scripts and of general punctuation.
        0xC2..=0xC5 | 0xD0 | 0xD1 | 0xE2..=0xE9 | 0xEF | 0x80 => 2,
        0xF0 | 0x99 | 0x9C | 0x9D | 0x93 | 0x94 | 0xA6 => 3,
        _ => 4,
    }
}

impl MarkerSet {
    /// Returns the length of the longest marker in bytes; 0 for an empty set.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the index of the next byte of `hay` at which a marker of `class` could be.
    #[inline]
    #[must_use]
    pub fn next_stop(&self, class: Class, hay: &[u8]) -> Option<usize> {
        let needles = &self.needles[usize::from(class)];
        if hay.len() < MIN_VECTORISED || needles.0.len() > NEEDLE_SLOTS {
            let bit = 1 << class;
            return hay.iter().position(|&b| self.stops[usize::from(b)] & bit != 0);
        }
        needles.find(hay)
    }

    /// Returns the classes whose search stops at `byte`.
    pub(crate) fn stops_at(&self, byte: u8) -> Classes {
        self.stops[usize::from(byte)]
    }

    /// Searches for a live marker that contains the byte at `stop`.
    ///
    /// `live` decides whether a marker that agrees with the text counts. It receives the marker's
    /// id
    /// and start.
    pub fn search_at(
        &self,
        hay: Haystack<'_>,
        stop: usize,
        mut live: impl FnMut(usize, usize) -> bool,
    ) -> Search {
        let mut best = Best::new(hay.text);
        for group in self.index.at_stop(hay.text[stop]) {
            let Some(at) = stop.checked_sub(group.stop()) else { continue };
            if at >= hay.floor {
                best.at = at;
                group.search((&self.markers, hay.class), &mut best, &mut |id| live(id, at));
            }
        }
        best.decide(hay.ended)
    }

    /// Searches for a live marker that starts at `hay.floor`.
    pub(crate) fn search_start(
        &self,
        hay: Haystack<'_>,
        mut live: impl FnMut(usize) -> bool,
    ) -> Search {
        let mut best = Best::new(hay.text);
        best.at = hay.floor;
        for group in self.index.all() {
            group.search((&self.markers, hay.class), &mut best, &mut live);
        }
        best.decide(hay.ended)
    }

    /// Returns the index at which the search continues, if no marker can contain the stop.
    #[inline]
    pub(crate) fn pass_stop(&self, text: &[u8], stop: usize, looked: &mut u64) -> Option<usize> {
        self.index.pass_stop(text, stop, looked)
    }

    /// Compares marker `id` with `text`.
    pub(crate) fn match_prefix(&self, id: usize, text: &[u8]) -> Prefix {
        self.markers[id].match_prefix(text)
    }

    /// Returns whether `text`, as far as it goes, agrees with marker `id`, and `class` searches for
    /// it.
    pub(crate) fn agrees(&self, id: usize, class: Class, text: &[u8]) -> bool {
        let marker = &self.markers[id];
        marker.is_in(class) && marker.match_prefix(text) != Prefix::Mismatch
    }
}

/// The best match so far: leftmost start, then longest, then first added.
struct Best<'t> {
    text: &'t [u8],
    /// The index at which the markers offered next start.
    at: usize,
    full: Option<Match>,
    partial: Option<usize>,
}

impl<'t> Best<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0, full: None, partial: None }
    }

    fn offer(&mut self, marker: &Marker, id: usize, live: &mut dyn FnMut(usize) -> bool) {
        let at = self.at;
        // Bytes are compared first because it costs less than `live`.
        match marker.match_prefix(&self.text[at..]) {
            Prefix::Partial if self.partial.is_none_or(|known| known > at) && live(id) => {
                self.offer_partial();
            }
            Prefix::Match(len) if live(id) => self.offer_full(len, id),
            Prefix::Mismatch | Prefix::Partial | Prefix::Match(_) => {}
        }
    }

    fn offer_partial(&mut self) {
        self.partial = Some(self.partial.map_or(self.at, |other| other.min(self.at)));
    }

    fn offer_full(&mut self, len: usize, id: usize) {
        let found = Match { at: self.at, len, id };
        // The first of several equal markers wins, whatever its group.
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
