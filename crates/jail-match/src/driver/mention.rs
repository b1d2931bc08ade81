//! Counts reasoning tags that are shown as text, so that an opener and its closer stay together.
//!
//! ```text
//! Say <think> to begin and </think> to end.    the opener is in a sentence: both are text
//! Say </think> to end.                         no opener was shown: the format decides
//! ```

use alloc::{boxed::Box, vec::Vec};

use crate::{
    marker::{Haystack, Match, Search},
    table::{MENTIONS, Table},
};

/// A count of the reasoning tags shown in the content since reasoning was last open. Empty until a
/// byte occurs that may begin a tag.
#[derive(Debug, Clone, Default)]
pub(super) struct Mentions(Option<Box<Tags>>);

#[derive(Debug, Clone, Default)]
struct Tags {
    /// Openers whose closers were not shown.
    open: u32,
    /// Shown text that may be the first bytes of a tag.
    tail: Vec<u8>,
}

impl Mentions {
    /// Returns whether the next bytes cannot continue a tag.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.0.as_ref().is_none_or(|tags| tags.tail.is_empty())
    }

    /// Returns whether a closer directly after `text` belongs to an opener that was shown.
    pub(super) fn is_open_after(&self, table: &Table, text: &[u8]) -> bool {
        let (mut open, tail) = match &self.0 {
            Some(tags) => (tags.open, tags.tail.as_slice()),
            None => (0, &[][..]),
        };
        match (tail, text) {
            (all, []) | ([], all) => count(&mut open, table, all, true),
            _ => count(&mut open, table, &[tail, text].concat(), true),
        };
        open > 0
    }

    /// Counts the tags in `text`, the next text of the content. Returns the number of bytes
    /// examined.
    pub(super) fn advance(&mut self, table: &Table, text: &[u8]) -> u64 {
        if self.0.is_none() && table.set().next_stop(MENTIONS, text).is_none() {
            return text.len() as u64;
        }
        self.0.get_or_insert_default().advance(table, text)
    }

    /// Records that text was removed here: no tag spans the place.
    pub(super) fn interrupt(&mut self, table: &Table) {
        let Some(tags) = &mut self.0 else { return };
        let mut tail = core::mem::take(&mut tags.tail);
        count(&mut tags.open, table, &tail, true);
        tail.clear();
        tags.tail = tail;
    }

    /// Forgets all tags: reasoning or a message begins.
    pub(super) fn forget(&mut self) {
        let Some(tags) = &mut self.0 else { return };
        tags.open = 0;
        tags.tail.clear();
    }
}

impl Tags {
    fn advance(&mut self, table: &Table, text: &[u8]) -> u64 {
        let (mut rest, mut looked) = (text, 0);
        if !self.tail.is_empty() {
            // The tail is decided after as many bytes as the longest tag has.
            let mut joined = core::mem::take(&mut self.tail);
            let before = joined.len();
            joined.extend(text.iter().take(table.longest()));
            looked = joined.len();
            let keep = count(&mut self.open, table, &joined, false);
            rest = keep.checked_sub(before).and_then(|read| text.get(read..)).unwrap_or_default();
            joined.drain(..keep.min(joined.len()));
            joined.truncate(if keep < before { joined.len() } else { 0 });
            self.tail = joined;
        }
        let keep = count(&mut self.open, table, rest, false);
        self.tail.extend(rest.iter().skip(keep));
        (looked + rest.len()) as u64
    }
}

/// Counts the tags in `text`, and adds them to `open`. Returns the index of the tail that may be the
/// start of a tag, or the length of `text`.
fn count(open: &mut u32, table: &Table, text: &[u8], ended: bool) -> usize {
    let (set, mut at) = (table.set(), 0);
    let hay = |floor| Haystack { text, class: MENTIONS, floor, ended };
    while let Some(found) = set.next_stop(MENTIONS, text.get(at..).unwrap_or_default()) {
        let stop = at + found;
        match set.search_at(hay(at), stop, |_, _| true) {
            Search::Miss => at = stop + 1,
            Search::Partial { at: start } => return start,
            Search::Match(Match { at: start, len, id }) => {
                *open = match table.opens_reasoning(id) {
                    true => open.saturating_add(1),
                    false => open.saturating_sub(1),
                };
                at = start + len;
            }
        }
    }
    text.len()
}
