//! The matches of a pattern in one text. Matches do not overlap.

use super::{
    compile::Program,
    search::{Found, Neighbours, Search},
};

/// A search for all matches of a pattern in a text that grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// The number of bytes read, which is the end of the match after a match.
    pub(crate) at: usize,
    search: Search,
}

impl Scan {
    /// Returns the next match in `text` once it is certain. `ended` states whether the text is
    /// complete.
    pub(crate) fn next(&mut self, program: &Program, text: &str, ended: bool) -> Option<Found> {
        loop {
            let (before, after) = text.split_at_checked(self.at)?;
            let next = after.chars().next();
            if next.is_none() && !ended {
                return None;
            }
            let previous = before.chars().next_back();
            self.search.step(program, Neighbours { at: self.at as u64, previous, next });
            if let Some(found) = self.search.found().cloned() {
                // After an empty match, a match that is not empty may begin at the same place.
                self.at = found.end as usize;
                self.search.restart((found.start == found.end).then_some(found.end));
                return Some(found);
            }
            self.at += next?.len_utf8();
        }
    }

    /// Returns the start of the match being read, or the number of bytes that were read.
    pub(crate) fn pending(&self) -> usize {
        self.search.pending().map_or(self.at, |at| at as usize)
    }

    /// Returns the key of the match that is being read in `text`, and the start and the end of its
    /// value so far, if they are certain. `closes` states that a value of any text will find its
    /// end.
    pub(crate) fn growing<'t>(
        &self,
        program: &Program,
        text: &'t str,
        closes: bool,
    ) -> Option<(&'t str, usize, usize)> {
        let [key, value] = self.search.growing(program, self.at as u64, closes)?;
        Some((text.get(key.0 as usize..key.1 as usize)?, value.0 as usize, value.1 as usize))
    }

    /// Returns whether the text ends in a value that only its own end can close.
    pub(crate) fn is_in_value(&self, program: &Program) -> bool {
        self.search.is_in_open_value(program)
    }
}

/// Returns the text of a group of a match in `text`, or `None` if the group is unknown or took no
/// part.
pub(crate) fn group<'t>(
    program: &Program,
    text: &'t str,
    found: &Found,
    name: &str,
) -> Option<&'t str> {
    let (start, end) = found.group(program.group(name)?)?;
    text.get(start as usize..end as usize)
}

/// An iterator over the matches of a pattern in a complete text.
#[derive(Debug)]
pub(crate) struct Matches<'t> {
    program: &'t Program,
    text: &'t str,
    scan: Scan,
}

impl<'t> Matches<'t> {
    pub(crate) fn new(program: &'t Program, text: &'t str) -> Self {
        Self { program, text, scan: Scan::default() }
    }
}

impl Iterator for Matches<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        self.scan.next(self.program, self.text, true)
    }
}
