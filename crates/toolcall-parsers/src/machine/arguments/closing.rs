//! The text after a value's end tag: what makes it certain that the value ended there.

use super::tag::{TagTexts, longest};
use crate::cursor::{Undecided, after_blanks};

/// The tags that may follow the last value of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closing<'a> {
    /// The ends of the call, of its section and of its message.
    pub(super) ends: &'a [TagTexts],
    /// Those of them that another end tag follows.
    pub(super) inner: &'a TagTexts,
    /// The tags that may follow an inner end.
    pub(super) followers: &'a [&'a [TagTexts]],
    /// Tokens that end the turn.
    pub(super) turn: &'a [TagTexts],
    /// Whether the stream ended.
    pub(super) ended: bool,
}

impl Closing<'_> {
    /// Whether `rest` begins with the end of the turn or the whole closing sequence of a call: an end,
    /// and after an inner one a follower.
    pub(super) fn is_at(&self, rest: &str) -> Result<bool, Undecided> {
        if self.begins(self.turn, rest)? {
            return Ok(true);
        }
        let end = match longest(rest, self.ends) {
            Err(Undecided) if self.ended => None,
            found => found?,
        };
        let Some((_, len)) = end else { return Ok(false) };
        let (tag, rest) = rest.split_at(len);
        if !self.inner.texts().any(|inner| inner == tag) {
            return Ok(true);
        }
        match after_blanks(rest) {
            None => Ok(true),
            Some("") if self.ended => Ok(true),
            Some("") => Err(Undecided),
            Some(rest) => {
                let mut found = self.begins(self.turn, rest)?;
                for tags in self.followers {
                    found |= self.begins(tags, rest)?;
                }
                Ok(found)
            }
        }
    }

    /// Whether one of `tags` is at the head of `rest`.
    pub(super) fn begins(&self, tags: &[TagTexts], rest: &str) -> Result<bool, Undecided> {
        match longest(rest, tags) {
            Err(Undecided) if self.ended => Ok(false),
            found => Ok(found?.is_some()),
        }
    }
}

/// The text after an end tag and after the same tag repeated, from the first character that is not
/// whitespace on; none if the whitespace is longer than what is held for a tag. `again` is the length
/// of the repeated tag, and undecided only while the stream goes on.
pub(crate) fn after_end(
    rest: &str,
    again: impl FnOnce(&str) -> Result<Option<usize>, Undecided>,
) -> Result<Option<&str>, Undecided> {
    let Some(behind) = after_blanks(rest) else { return Ok(None) };
    let repeated = again(behind)?;
    Ok(after_blanks(behind.get(repeated.unwrap_or(0)..).unwrap_or_default()))
}
