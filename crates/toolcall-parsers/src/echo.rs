//! Repeated blocks of calls: the second one lacks its opener.
//!
//! ```text
//! <calls>[ring(times=2)]</calls>[ring(times=2)]</calls>
//! ```
//!
//! It is the same block only byte for byte, so that the first other byte tells it from text.

use alloc::string::String;

use jail_match::Feed;

/// The last block, from the end of its opener to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Echo {
    block: String,
    /// The block is longer than what is kept, or has no end tag.
    unknown: bool,
    /// How much of the block has come again, while it may do so.
    again: Option<usize>,
}

impl Echo {
    /// Nothing is kept any more; a block may begin.
    pub(crate) fn clear(&mut self) {
        self.block.clear();
        (self.unknown, self.again) = (false, None);
    }

    /// More of the block, which is not known again if it is longer than `most`.
    #[inline]
    pub(crate) fn keep(&mut self, text: &str, most: usize) {
        if self.unknown {
            return;
        }
        self.unknown = self.block.len().saturating_add(text.len()) > most;
        if self.unknown {
            self.block.clear();
        } else {
            self.block.push_str(text);
        }
    }

    /// The block is over; it may be known again if its end tag stood there.
    pub(crate) fn end(&mut self, has_end: bool) {
        self.unknown |= !has_end;
        if self.unknown {
            self.block.clear();
        }
    }

    /// Returns the offset in the block after `opener`, if the block begins with it.
    fn behind(&self, opener: &str) -> Option<usize> {
        let rest = self.block.trim_ascii_start().strip_prefix(opener)?;
        Some(self.block.len().saturating_sub(rest.len()))
    }

    /// Whether the block may be repeated at the place of `opener`.
    pub(crate) fn may_repeat(&self, opener: &str) -> bool {
        self.behind(opener).is_some()
    }

    /// The block may come again: `opener` was read.
    pub(crate) fn repeat(&mut self, opener: &str) {
        self.again = self.behind(opener);
    }

    /// Whether it may be coming again.
    pub(crate) fn is_read(&self) -> bool {
        self.again.is_some()
    }

    /// Ends the comparison with a possible repetition.
    pub(crate) fn end_reading(&mut self) {
        self.again = None;
    }

    /// Compares the next text with the block. Done at its end; a mismatch after the first scalar
    /// that differs.
    pub(crate) fn read(&mut self, text: &str) -> Feed {
        let from = self.again.unwrap_or(self.block.len());
        let rest = &self.block.as_bytes()[from..];
        let same = rest.iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
        if same == rest.len() {
            return Feed::Markup { used: same, then: jail_match::Resume::SameChannel };
        }
        if same == text.len() {
            self.again = Some(from + same);
            return Feed::More { used: same };
        }
        let mut scalars = text.char_indices().map(|(at, scalar)| at + scalar.len_utf8());
        Feed::Mismatch { used: scalars.find(|&end| end > same).unwrap_or(text.len()) }
    }

    /// Returns the number of bytes kept.
    pub(crate) fn kept(&self) -> usize {
        self.block.len()
    }
}
