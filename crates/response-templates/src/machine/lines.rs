//! Lines of a growing text, and the separator of key and value in each line.
//!
//! With the separator `:`, for the text `day: mon⏎knots: 4`: the line `day: mon` is complete, and
//! the next line has the key `knots` and the value ` 4` so far.

use crate::{chars::is_blank, template::Pairs};

/// A reader of lines. All places are offsets in the region's text.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// The start of the line that is being read.
    pub(super) start: usize,
    /// The place up to which its end was searched for.
    looked: usize,
    /// The first character of the line that is not trimmed.
    begin: Option<usize>,
    /// The places up to which the line was searched for its first character and for the separator.
    seen: usize,
    searched: usize,
    /// The place of the separator of key and value.
    pair: Option<usize>,
}

/// Returns the last boundary of a character up to `at`, but not before `least`.
fn boundary(text: &str, at: usize, least: usize) -> usize {
    (least..=at.max(least)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(least)
}

impl Lines {
    /// Returns the next complete line. Without a separator, lines end at white space.
    pub(super) fn next<'b>(
        &mut self,
        separator: Option<&str>,
        body: &'b str,
        ended: bool,
    ) -> Option<&'b str> {
        let rest = body.get(self.looked..)?;
        let place = match separator {
            Some(end) => rest.find(end).map(|at| (at, end.len())),
            None => rest
                .find(is_blank)
                .map(|at| (at, rest[at..].chars().next().map_or(0, char::len_utf8))),
        };
        let (line, next) = match place {
            Some((at, len)) => (&body[self.start..self.looked + at], self.looked + at + len),
            // After the last line there is no text.
            None if ended => (&body[self.start..], body.len() + 1),
            None => {
                let most = separator.map_or(0, |end| end.len() - 1);
                self.looked = boundary(body, body.len().saturating_sub(most), self.looked);
                return None;
            }
        };
        *self = Self { start: next, looked: next, seen: next, ..Self::default() };
        Some(line)
    }

    /// Returns the key of the line being read, and the start and the end of its value so far, once
    /// both are certain.
    pub(super) fn growing<'b>(
        &mut self,
        pairs: &Pairs,
        body: &'b str,
    ) -> Option<(&'b str, usize, usize)> {
        let Pairs { separator, strip } = pairs;
        if self.pair.is_none() {
            self.pair = self.part(separator, *strip, body);
        }
        let (at, begin) = (self.pair?, self.begin.unwrap_or(self.start));
        Some((pairs.stripped(&body[begin..at]), at + separator.len(), self.looked))
    }

    /// Searches the new text of the line for the separator of key and value.
    fn part(&mut self, separator: &str, strip: bool, body: &str) -> Option<usize> {
        let new = &body[self.seen..self.looked];
        // White space that may end the line does not count yet.
        let visible = if strip { new.trim_end_matches(is_blank) } else { new };
        let end = self.seen + visible.len();
        let leading = if strip { new.len() - new.trim_start_matches(is_blank).len() } else { 0 };
        if visible.is_empty() {
            self.seen = if self.begin.is_none() { self.looked } else { self.seen };
            return None;
        }
        let begin = *self.begin.get_or_insert(self.seen + leading);
        let from = self.searched.max(begin);
        self.seen = end;
        self.searched = boundary(body, (end + 1).saturating_sub(separator.len()), from);
        body[from..end].find(separator).map(|at| from + at)
    }
}
