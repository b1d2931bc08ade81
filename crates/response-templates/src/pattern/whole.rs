//! All matches in a whole text, one after the other.

use super::{
    program::{Around, Program},
    search::{Found, Search},
};

/// The search for the matches of a program in a text that grows, which do not overlap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scan {
    /// How far the text was read; behind a match where that ends.
    pub(crate) at: usize,
    not_empty_at: Option<u64>,
    search: Search,
}

impl Scan {
    /// The next match in `text`, once it is certain; `ended`: no more text comes.
    #[expect(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        reason = "`at` stands in front of a character of `text` where one is read, and moves over \
                  it"
    )]
    pub(crate) fn next(&mut self, program: &Program, text: &str, ended: bool) -> Option<Found> {
        loop {
            let next = text.get(self.at..)?.chars().next();
            if next.is_none() && !ended {
                return None;
            }
            if self.search.is_idle()
                && let Some(c) = next
                && !program.first[usize::from(text.as_bytes()[self.at])]
            {
                self.at += c.len_utf8();
                continue;
            }
            self.search.step(program, around(text, self.at, next));
            if let Some(found) = self.search.found().cloned() {
                self.go_on(&found);
                return Some(found);
            }
            self.at += next?.len_utf8();
        }
    }

    /// Where the match being read begins, or how far the text was read.
    pub(crate) fn pending(&self) -> usize {
        self.search.pending().map_or(self.at, |at| at as usize)
    }

    /// The key of the match that is being read in `text`, and where what is there of its value
    /// begins and ends, if they are certain. `closes`: what may match any text will match.
    pub(crate) fn growing<'t>(
        &self,
        program: &Program,
        text: &'t str,
        closes: bool,
    ) -> Option<(&'t str, usize, usize)> {
        let groups = program.grows?;
        let [key, value] = self.search.growing(program, groups, self.at as u64, closes)?;
        Some((text.get(key.0 as usize..key.1 as usize)?, value.0 as usize, value.1 as usize))
    }

    /// Whether the text stands in a value that ends where its own end comes, and only there.
    pub(crate) fn is_in_value(&self, program: &Program) -> bool {
        program.grows.is_some_and(|[_, value]| self.search.endless(program, value).is_some())
    }

    /// Goes on behind a match.
    fn go_on(&mut self, found: &Found) {
        // Behind an empty match the same place may still have one that is not.
        self.at = found.end as usize;
        self.not_empty_at = (found.start == found.end).then_some(found.end);
        self.search.restart(self.not_empty_at);
    }
}

fn around(text: &str, at: usize, next: Option<char>) -> Around<'_> {
    Around { at: at as u64, before: "", text: &text[..at], next }
}

/// The text of a group of a match in `text`: `None` if there is no such group or it took no part.
pub(crate) fn group<'t>(
    program: &Program,
    text: &'t str,
    found: &Found,
    name: &str,
) -> Option<&'t str> {
    let number = program.group(name)?;
    let (start, end) = found.group(number)?;
    text.get(start as usize..end as usize)
}

/// The matches of a program in a whole text.
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
