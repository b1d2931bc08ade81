//! Which markers may stand where a search stopped, without a look at each of them.
//!
//! Markers that are compared byte for byte are kept in the order of their bytes: those that begin
//! as the text does are one stretch of the list, and each further byte of the text narrows it.

use alloc::{boxed::Box, vec::Vec};
use core::{cmp::Ordering, ops::Range};

use super::{Best, Marker, Match};
use crate::suffix::{Suffix, place};

/// With fewer markers than this, one is compared after the other.
const FEW: usize = 4;

/// The groups of markers by the byte at which the search stops, and all of them.
#[derive(Debug, Clone)]
pub(super) struct Index {
    groups: Box<[Group]>,
    /// Where the groups of each byte are.
    by_stop: Box<[Range<u16>; 256]>,
    /// Where the groups of all markers are.
    all: Range<u16>,
    /// The bytes with which markers start.
    starts: [u64; 4],
}

/// Markers that are looked for together.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Offset in each marker of the byte at which the search stops.
    stop: u8,
    /// The bytes that follow that one in some of them; all bytes if one has none, or may have any.
    next: [u64; 4],
    /// The markers are compared byte for byte, and sorted.
    sorted: bool,
    ids: Box<[u32]>,
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

    /// The groups whose searches stop at `byte`.
    pub(super) fn at_stop(&self, byte: u8) -> &[Group] {
        let Range { start, end } = self.by_stop[usize::from(byte)];
        &self.groups[usize::from(start)..usize::from(end)]
    }

    /// Whether a marker starts with `byte`.
    pub(super) fn starts(&self, byte: u8) -> bool {
        has(&self.starts, byte)
    }

    /// All markers, to be looked for by where they start.
    pub(super) fn all(&self) -> &[Group] {
        &self.groups[usize::from(self.all.start)..usize::from(self.all.end)]
    }
}

/// Adds groups of these markers: those that are compared byte for byte, and the others.
fn add(groups: &mut Vec<Group>, markers: &[Marker], stop: u8, ids: Vec<u32>) {
    let marker = |id: &u32| &markers[*id as usize];
    let exact = |id: &u32| !marker(id).fold && marker(id).suffix == Suffix::None;
    let (mut exact, mut others): (Vec<_>, Vec<_>) = ids.into_iter().partition(exact);
    if exact.len() < FEW {
        others.append(&mut exact);
    }
    exact.sort_by(|a, b| marker(a).bytes.cmp(&marker(b).bytes).then(a.cmp(b)));
    // Equal markers are asked about in the order they were added.
    others.sort_unstable();
    for (ids, sorted) in [(exact, true), (others, false)] {
        if ids.is_empty() {
            continue;
        }
        let mut next = [0; 4];
        for marker in ids.iter().map(marker) {
            match marker.bytes.get(usize::from(stop) + 1) {
                Some(&byte) => set_cases(&mut next, byte, marker.fold),
                None => next = [u64::MAX; 4],
            }
            // Its suffix may stand there.
            if marker.suffix != Suffix::None && place(&marker.bytes) <= usize::from(stop) + 1 {
                next = [u64::MAX; 4];
            }
        }
        groups.push(Group { stop, next, sorted, ids: ids.into() });
    }
}

fn set(bits: &mut [u64; 4], byte: u8) {
    bits[usize::from(byte >> 6)] |= 1 << (byte & 63);
}

/// Sets the byte, or both cases of the letter.
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
    /// Offset in its markers of the byte at which the search stops.
    pub(super) fn stop(&self) -> usize {
        usize::from(self.stop)
    }

    /// Offers those of its markers to `best` that stand, or may stand, at `at`.
    pub(super) fn search(
        &self,
        markers: &[Marker],
        text: &[u8],
        at: usize,
        mut live: impl FnMut(usize) -> bool,
        best: &mut Best,
    ) {
        if let Some(byte) = text.get(at + self.stop() + 1)
            && !has(&self.next, *byte)
        {
            return;
        }
        if self.sorted {
            return self.narrow(markers, text, at, live, best);
        }
        for id in self.ids.iter().map(|&id| id as usize) {
            if live(id) {
                best.offer(&markers[id], id, text, at);
            }
        }
    }

    fn narrow(
        &self,
        markers: &[Marker],
        text: &[u8],
        at: usize,
        mut live: impl FnMut(usize) -> bool,
        best: &mut Best,
    ) {
        let bytes = |id: &u32| &*markers[*id as usize].bytes;
        let mut rest = &*self.ids;
        for len in 0.. {
            // Markers that end here come first; those that go on share all bytes up to here.
            let ended = rest.iter().take_while(|id| bytes(id).len() == len).count();
            let (complete, mut longer) = rest.split_at(ended);
            if let Some(&id) = complete.iter().find(|&&id| live(id as usize)) {
                best.full(Match { at, len, id: id as usize });
            }
            let (Some(first), Some(last)) = (longer.first(), longer.last()) else { return };
            let Some(byte) = text.get(at + len) else {
                if longer.iter().any(|&id| live(id as usize)) {
                    best.partial(at);
                }
                return;
            };
            // They are sorted: often all share this byte, or none has it.
            let (first, last) = (bytes(first)[len], bytes(last)[len]);
            if *byte < first || *byte > last {
                return;
            }
            if first < last {
                let from = longer.partition_point(|id| bytes(id)[len].cmp(byte) == Ordering::Less);
                let same = longer[from..].partition_point(|id| bytes(id)[len] == *byte);
                longer = &longer[from..from + same];
            }
            rest = longer;
        }
    }
}
