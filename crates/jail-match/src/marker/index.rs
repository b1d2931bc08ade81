//! An index of markers by the bytes at which a search stops.
//!
//! Markers without a suffix are sorted by their bytes, or by their lower case if they fold letters.
//! The markers that begin like a text are then neighbours in the list, and each further byte of the
//! text leaves fewer of them:
//!
//! | text read | markers left |
//! |---|---|
//! | `<t` | `<think>`, `<tool>`, `<tools>` |
//! | `<to` | `<tool>`, `<tools>` |
//! | `<tool>` | `<tool>` |

use alloc::{boxed::Box, vec::Vec};
use core::ops::Range;

use super::{Best, Class, Marker, newlines};
use crate::suffix::{SuffixRule, suffix_place};

/// The minimum size of a sorted group. Fewer markers are compared one by one.
const MIN_SORTED: usize = 4;

/// The groups of markers, by the byte at which the search stops.
#[derive(Debug, Clone)]
pub(super) struct Index {
    groups: Box<[Group]>,
    /// The range of each byte's groups.
    by_stop: Box<[Range<u16>; 256]>,
    /// The range of the groups of all markers.
    all: Range<u16>,
    /// The set of bytes with which markers start.
    starts: [u64; 4],
}

/// A group of markers that are searched for together.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Offset in each marker of the byte at which the search stops.
    stop: u8,
    /// The sets of bytes that may come one and two bytes after the stop. All bytes, if a marker of
    /// the group ends there or may carry a suffix there.
    next: [[u64; 4]; 2],
    /// The length of the shortest marker in bytes.
    shortest: usize,
    order: Order,
    ids: Box<[u32]>,
}

/// The order of the markers in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Markers in the order they were added.
    Added,
    /// Markers sorted by their bytes.
    Bytes,
    /// Markers sorted by their bytes in lower case.
    LowerCase,
}

impl Order {
    /// Returns a byte in the form in which it is compared.
    fn folded(self, byte: u8) -> u8 {
        if self == Self::LowerCase { byte.to_ascii_lowercase() } else { byte }
    }
}

impl Index {
    pub(super) fn new(markers: &[Marker]) -> Self {
        let mut groups = Vec::new();
        let mut by_stop = Box::new([const { 0..0 }; 256]);
        let mut stops: Vec<(u8, u8, u32)> = Vec::new();
        for (marker, id) in markers.iter().zip(0..) {
            stops.extend(marker.stop_bytes().map(|byte| (byte, marker.stop, id)));
        }
        stops.sort_unstable();
        for of_byte in stops.chunk_by(|a, b| a.0 == b.0) {
            let from = groups.len() as u16;
            for alike in of_byte.chunk_by(|a, b| a.1 == b.1) {
                let ids = alike.iter().map(|&(_, _, id)| id).collect();
                add(&mut groups, markers, alike[0].1, ids);
            }
            by_stop[usize::from(of_byte[0].0)] = from..groups.len() as u16;
        }
        let from = groups.len() as u16;
        let mut starts = [0; 4];
        let begun = markers.iter().filter_map(|marker| Some((marker, *marker.bytes.first()?)));
        begun.for_each(|(marker, byte)| set_cases(&mut starts, byte, marker.fold));
        let all = markers.iter().zip(0..).filter(|(marker, _)| !marker.bytes.is_empty());
        add(&mut groups, markers, 0, all.map(|(_, id)| id).collect());
        let all = from..groups.len() as u16;
        Self { groups: groups.into(), by_stop, all, starts }
    }

    /// Returns the groups whose searches stop at `byte`.
    pub(super) fn at_stop(&self, byte: u8) -> &[Group] {
        let Range { start, end } = self.by_stop[usize::from(byte)];
        &self.groups[usize::from(start)..usize::from(end)]
    }

    /// Returns the index at which the search continues, if the bytes after the stop `stop` of
    /// `text` rule out a marker there, and after newlines there. Adds the newlines it reads to
    /// `looked`.
    #[inline]
    pub(super) fn pass_stop(&self, text: &[u8], stop: usize, looked: &mut u64) -> Option<usize> {
        let groups = self.at_stop(text[stop]);
        if text[stop] != b'\n' {
            let passes = groups.iter().all(|group| group.is_ruled_out(text, stop));
            return passes.then_some(stop + 1);
        }
        // A marker may begin at each newline of the run. Reading the run at each one would take
        // quadratic time.
        if !groups.is_empty() {
            return None;
        }
        let run = newlines(&text[stop..]);
        *looked += run as u64;
        let end = stop + run;
        text.get(end).is_some_and(|&byte| !has(&self.starts, byte)).then_some(end)
    }

    /// Returns the groups of all markers, to be searched for by their start.
    pub(super) fn all(&self) -> &[Group] {
        &self.groups[usize::from(self.all.start)..usize::from(self.all.end)]
    }
}

/// Adds up to three groups of these markers: exact ones, ones that fold letters, and the others.
fn add(groups: &mut Vec<Group>, markers: &[Marker], stop: u8, ids: Vec<u32>) {
    let marker = |id: &u32| &markers[*id as usize];
    let plain = |id: &u32| marker(id).suffix == SuffixRule::None;
    let (plain, mut others): (Vec<_>, Vec<_>) = ids.into_iter().partition(plain);
    let (folded, exact): (Vec<_>, Vec<_>) = plain.into_iter().partition(|id| marker(id).fold);
    let mut add = |mut ids: Vec<u32>, order: Order| {
        let key =
            |id: &u32| (marker(id).bytes.iter().map(|&b| order.folded(b)).collect::<Vec<_>>(), *id);
        if order != Order::Added {
            ids.sort_by_cached_key(key);
        }
        let next = [1, 2].map(|ahead| followers(ids.iter().map(marker), usize::from(stop) + ahead));
        let shortest = ids.iter().map(|id| marker(id).bytes.len()).min().unwrap_or(0);
        groups.push(Group { stop, next, shortest, order, ids: ids.into() });
    };
    for (ids, order) in [(exact, Order::Bytes), (folded, Order::LowerCase)] {
        if ids.len() < MIN_SORTED {
            others.extend(ids);
        } else {
            add(ids, order);
        }
    }
    if !others.is_empty() {
        // The order of ids makes the first of several equal markers win.
        others.sort_unstable();
        add(others, Order::Added);
    }
}

/// Returns the set of bytes at this offset of `markers`.
fn followers<'m>(markers: impl Iterator<Item = &'m Marker>, at: usize) -> [u64; 4] {
    let mut bits = [0; 4];
    for marker in markers {
        // A suffix may be at the offset.
        let suffixed = marker.suffix != SuffixRule::None && suffix_place(&marker.bytes) <= at;
        match marker.bytes.get(at) {
            Some(_) if suffixed => return [u64::MAX; 4],
            Some(&byte) => set_cases(&mut bits, byte, marker.fold),
            None => return [u64::MAX; 4],
        }
    }
    bits
}

fn set(bits: &mut [u64; 4], byte: u8) {
    bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
}

/// Adds the byte, or both cases of the letter.
fn set_cases(bits: &mut [u64; 4], byte: u8, fold: bool) {
    set(bits, byte);
    if fold {
        set(bits, byte.to_ascii_lowercase());
        set(bits, byte.to_ascii_uppercase());
    }
}

fn has(bits: &[u64; 4], byte: u8) -> bool {
    bits[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
}

impl Group {
    /// Returns the offset in the group's markers of the byte at which the search stops.
    pub(super) fn stop(&self) -> usize {
        usize::from(self.stop)
    }

    /// Returns whether the bytes after the stop of `text` rule out every marker of the group.
    #[inline]
    pub(super) fn is_ruled_out(&self, text: &[u8], stop: usize) -> bool {
        let never = |(bits, byte): (&[u64; 4], &u8)| !has(bits, *byte);
        let behind = text.get(stop + 1..).unwrap_or_default();
        self.next.iter().zip(behind).any(never)
    }

    /// Offers to `best` the live markers of `class` that agree with its text.
    pub(super) fn search(
        &self,
        (markers, class): (&[Marker], Class),
        best: &mut Best<'_>,
        live: &mut dyn FnMut(usize) -> bool,
    ) {
        if self.is_ruled_out(best.text, best.at + self.stop()) {
            return;
        }
        if self.order != Order::Added {
            let live = &mut |id: usize| markers[id].is_in(class) && live(id);
            return self.narrow(markers, best, live);
        }
        // Text shorter than every marker can only be the start of one: the first live one decides.
        let short = best.text.len().saturating_sub(best.at) < self.shortest;
        for id in self.ids.iter().map(|&id| id as usize) {
            if short && best.partial.is_some_and(|known| known <= best.at) {
                return;
            }
            #[cfg(test)]
            tests::LOOKS.set(tests::LOOKS.get() + 1);
            let marker = &markers[id];
            if marker.is_in(class) {
                best.offer(marker, id, live);
            }
        }
    }

    fn narrow(&self, markers: &[Marker], best: &mut Best<'_>, live: &mut dyn FnMut(usize) -> bool) {
        let bytes = |id: &u32| &*markers[*id as usize].bytes;
        let mut rest = &*self.ids;
        for len in 0.. {
            #[cfg(test)]
            tests::LOOKS.set(tests::LOOKS.get() + 1);
            // Markers that end here come first; the longer ones share all bytes up to here.
            let ended = rest.iter().take_while(|id| bytes(id).len() == len).count();
            let (complete, mut longer) = rest.split_at(ended);
            if let Some(&id) = complete.iter().find(|&&id| live(id as usize)) {
                best.offer_full(len, id as usize);
            }
            let (Some(first), Some(last)) = (longer.first(), longer.last()) else { return };
            let Some(&byte) = best.text.get(best.at + len) else {
                if longer.iter().any(|&id| live(id as usize)) {
                    best.offer_partial();
                }
                return;
            };
            // Often all remaining markers share this byte, or none has it: compare the ends first.
            let byte = self.order.folded(byte);
            let byte_of = |id: &u32| self.order.folded(bytes(id)[len]);
            let (first, last) = (byte_of(first), byte_of(last));
            if byte < first || byte > last {
                return;
            }
            if first < last {
                let from = longer.partition_point(|id| byte_of(id) < byte);
                let same = longer[from..].partition_point(|id| byte_of(id) == byte);
                longer = &longer[from..from + same];
            }
            rest = longer;
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use alloc::{format, vec::Vec};
    use core::cell::Cell;

    use crate::{Matcher, MatcherEvent};

    std::thread_local! {
        /// The number of comparisons, of one marker or of a byte of many at once.
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    // The matcher counts where a search stops; comparisons are counted here.
    #[test]
    fn comparisons_with_a_thousand_markers_stay_below_the_input_length() {
        let word = |n: usize| format!("<{:03}{n}>", n * 7 % 1000);
        let words: Vec<_> = (0..1000).map(word).collect();
        let text = "<99999".repeat(1000) + &word(500);
        let mut found = 0;
        LOOKS.set(0);
        let mut matcher = Matcher::new(&words);
        let mut count = |one: MatcherEvent<'_>| {
            found += usize::from(matches!(one, MatcherEvent::Marker { .. }));
        };
        matcher.push(&text, &mut count);
        matcher.finish(&mut count);
        assert_eq!(found, 1);
        assert!(LOOKS.get() <= text.len(), "{} looks at {} bytes", LOOKS.get(), text.len());
        assert!(LOOKS.get() > 1000, "they are counted: {}", LOOKS.get());
    }
}
