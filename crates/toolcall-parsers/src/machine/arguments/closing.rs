//! The text after a value's end tag, which shows whether the value really ended there.
//!
//! ```text
//! <parameter=n>2</parameter></function></tool_call>     the value ended: the call's end follows
//! <parameter=n>2</parameter> is a tag</parameter>…      the first end tag is data
//! ```

use super::tag::{TagTexts, longest};
use crate::cursor::{Undecided, after_blanks};

/// The tags that may follow the last value of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closing<'a> {
    /// The ends of the call, of its section and of its message.
    pub(super) ends: &'a [TagTexts],
    /// Those of `ends` after which another end tag must follow.
    pub(super) inner: &'a TagTexts,
    /// The tags that may follow an end of `inner`.
    pub(super) followers: &'a [&'a [TagTexts]],
    /// Tokens that end the turn.
    pub(super) turn: &'a [TagTexts],
    /// Whether the stream has ended.
    pub(super) ended: bool,
}

impl Closing<'_> {
    /// Returns whether `rest` begins with the end of the turn, or with the complete closing
    /// sequence of a call. After an inner end the sequence needs a follower.
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
                    found |= match longest(rest, tags) {
                        // The stream ends inside the tag.
                        Err(Undecided) if self.ended => true,
                        follower => follower?.is_some(),
                    };
                }
                Ok(found)
            }
        }
    }

    /// Returns whether `rest` begins with one of `tags`.
    pub(super) fn begins(&self, tags: &[TagTexts], rest: &str) -> Result<bool, Undecided> {
        match longest(rest, tags) {
            Err(Undecided) if self.ended => Ok(false),
            found => Ok(found?.is_some()),
        }
    }
}

/// Returns the text after an end tag, without leading white space and a repetition of the tag.
/// `again` returns the length of the repetition. Returns `None` if the white space exceeds the
/// limit.
pub(crate) fn after_end(
    rest: &str,
    again: impl FnOnce(&str) -> Result<Option<usize>, Undecided>,
) -> Result<Option<&str>, Undecided> {
    let Some(following) = after_blanks(rest) else { return Ok(None) };
    let repeated = again(following)?;
    Ok(after_blanks(following.get(repeated.unwrap_or(0)..).unwrap_or_default()))
}
