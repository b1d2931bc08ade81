//! Repeated blocks of calls: a model writes the same block twice, the second time without its
//! opener.
//!
//! ```text
//! <calls>[ring(times=2)]</calls>[ring(times=2)]</calls>
//!        the block is recorded  the repeated block is removed
//! ```
//!
//! The text after a block is compared with the block byte by byte. The first byte that differs
//! proves that it is text, and all of it is emitted.

use alloc::string::String;

use jail_match::{Feed, Resume, Verdict};

/// The text of the last block, after its opener, and the progress of a comparison with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RepeatedBlock {
    block: String,
    /// Whether a repetition cannot be recognised, because the block is too long or has no end tag.
    unusable: bool,
    /// Number of bytes of the block that were repeated, during a comparison.
    repeated: Option<usize>,
}

impl RepeatedBlock {
    /// Forgets the block. A new one may begin.
    pub(crate) fn clear(&mut self) {
        self.block.clear();
        (self.unusable, self.repeated) = (false, None);
    }

    /// Appends `text` to the block. If the block exceeds `max_len` bytes, it is forgotten.
    #[inline]
    pub(crate) fn record(&mut self, text: &str, max_len: usize) {
        if self.unusable {
            return;
        }
        self.unusable = self.block.len().saturating_add(text.len()) > max_len;
        if self.unusable {
            self.block.clear();
        } else {
            self.block.push_str(text);
        }
    }

    /// Returns whether the block is too long to be compared.
    #[inline]
    pub(crate) fn is_unusable(&self) -> bool {
        self.unusable
    }

    /// Ends the block. A repetition is recognised only if the block had its end tag.
    pub(crate) fn end_block(&mut self, has_end: bool) {
        self.unusable |= !has_end;
        if self.unusable {
            self.block.clear();
        }
    }

    /// Returns the offset after `opener` in the block, if the block begins with `opener`.
    fn offset_after(&self, opener: &str) -> Option<usize> {
        let rest = self.block.trim_ascii_start().strip_prefix(opener)?;
        Some(self.block.len().saturating_sub(rest.len()))
    }

    /// Returns whether a repetition of the block may begin with `opener`.
    pub(crate) fn may_repeat(&self, opener: &str) -> bool {
        self.offset_after(opener).is_some()
    }

    /// Starts a comparison with the block, after `opener` was read.
    pub(crate) fn start_comparison(&mut self, opener: &str) {
        self.repeated = self.offset_after(opener);
    }

    /// Returns whether a comparison is in progress.
    pub(crate) fn is_comparing(&self) -> bool {
        self.repeated.is_some()
    }

    /// Ends the comparison with a possible repetition.
    pub(crate) fn stop_comparison(&mut self) {
        self.repeated = None;
    }

    /// Compares the next text with the block. It is empty at the block's end, and refuted
    /// after the first character that differs.
    pub(crate) fn compare(&mut self, text: &str) -> Feed {
        let from = self.repeated.unwrap_or(self.block.len());
        let rest = &self.block.as_bytes()[from..];
        let same = rest.iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
        if same == rest.len() {
            return Verdict::Empty(Resume::SameChannel).after(same);
        }
        if same == text.len() {
            self.repeated = Some(from + same);
            return Verdict::Undecided.after(same);
        }
        let mut scalars = text.char_indices().map(|(at, scalar)| at + scalar.len_utf8());
        let used = scalars.find(|&end| end > same).unwrap_or(text.len());
        Verdict::RESCAN.after(used)
    }

    /// Returns the number of bytes recorded.
    pub(crate) fn recorded_len(&self) -> usize {
        self.block.len()
    }
}
