//! Lines of a text that grows, and where in each of them key and value part.

use crate::{chars::is_blank, template::Pairs};

/// Reads lines, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    /// Where the line begins that is being read.
    pub(super) start: usize,
    /// How far its end was looked for: what follows may begin its end.
    looked: usize,
    /// Where its first character is that is not trimmed away.
    begin: Option<usize>,
    /// How far it was looked at for that, and how far for what divides key and value.
    seen: usize,
    searched: usize,
    /// Where key and value part.
    pair: Option<usize>,
}

/// The last place up to `at` where a character begins, but none before `least`.
fn boundary(text: &str, at: usize, least: usize) -> usize {
    (least..=at.max(least)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(least)
}

impl Lines {
    /// The next line that ended: at the separator, or, without one, at white space.
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

    /// The key of the line being read, and where what is there of its value begins and ends, once
    /// it is certain that it has both.
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

    /// Looks on for the place where key and value part.
    fn part(&mut self, separator: &str, strip: bool, body: &str) -> Option<usize> {
        let new = &body[self.seen..self.looked];
        // White space that may end the line does not count as long as it may.
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
