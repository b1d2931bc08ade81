//! Passages: pieces of a text that the check of a [`crate::Window`] receives.
//!
//! Passages of 4 characters with 2 characters of context:
//!
//! ```text
//! items        "You a"    "re kind"
//! passage 1    new "You "
//! passage 2    context "u ", new "are "
//! passage 3    context "e ", new "kind"
//! ```

use std::num::NonZeroUsize;

/// A passage to check: the next piece of a text, after some context.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// Id of the text, such as the index of a choice.
    pub text_id: u64,
    /// The context, and then the new text.
    pub text: String,
    /// Length of the context in bytes. The context was checked before.
    pub context: usize,
    /// Whether this is the last passage of the text. It has no new text if the text ended with a
    /// full passage, because that passage was checked before the end was known.
    pub last: bool,
}

/// Settings that cut texts into passages.
///
/// Passages do not depend on the boundaries of items. Only the end of the stream and the limit on
/// held text make a shorter passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Windows {
    /// Size of the new text in a passage.
    pub size: NonZeroUsize,
    /// Size of the context in a passage.
    pub context: usize,
    /// Unit of the size and the context.
    pub unit: WindowUnit,
    /// Whether items wait for their check.
    pub delivery: CheckDelivery,
    /// Maximum number of bytes that may wait for a check.
    ///
    /// If more bytes wait, for example because one of several texts pauses, the incomplete passage
    /// that delays the others is checked.
    pub limit: usize,
}

/// Unit of window sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WindowUnit {
    /// Unicode scalar values.
    #[default]
    Chars,
    /// Bytes. A passage ends before the scalar that would exceed its size, and has at least one
    /// scalar.
    Bytes,
}

/// Whether items wait for their check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CheckDelivery {
    /// Items wait, and the consumer sees only checked text.
    #[default]
    Hold,
    /// Items pass at once. A check that refuses ends the stream after them.
    StreamFirst,
}

impl Windows {
    /// Creates passages of `size` characters without context. Items wait for their check, with at
    /// most 1 MiB of text.
    #[must_use]
    pub const fn chars(size: NonZeroUsize) -> Self {
        let (unit, delivery) = (WindowUnit::Chars, CheckDelivery::Hold);
        Self { size, context: 0, unit, delivery, limit: 1 << 20 }
    }

    /// Creates passages of `size` bytes, with the other settings of [`Windows::chars`].
    #[must_use]
    pub const fn bytes(size: NonZeroUsize) -> Self {
        Self { unit: WindowUnit::Bytes, ..Self::chars(size) }
    }

    /// Sets the size of the context.
    #[must_use]
    pub const fn context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    /// Sets whether items wait for their check.
    #[must_use]
    pub const fn delivery(self, delivery: CheckDelivery) -> Self {
        Self { delivery, ..self }
    }

    /// Sets the maximum number of bytes that wait.
    #[must_use]
    pub const fn limit(self, bytes: usize) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Returns the index in `text` at which the context of the text after it begins.
    fn context_of(&self, text: &str) -> usize {
        let least = match self.unit {
            WindowUnit::Bytes => text.len().saturating_sub(self.context),
            WindowUnit::Chars => {
                let mut starts = text.char_indices().rev().map(|(at, _)| at);
                match self.context.checked_sub(1) {
                    Some(last) => starts.nth(last).unwrap_or(0),
                    None => text.len(),
                }
            }
        };
        (least..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
    }
}

/// A text that is not checked to its end yet.
///
/// With 3 characters of context, after the check of `héll`, `kept` is `h|éll|o wö`. `from` is at
/// the first bar, and `new` at the second.
#[derive(Default)]
pub(crate) struct Text {
    id: u64,
    kept: String,
    /// Start of the context of the next passage. Text before it is dropped from time to time.
    from: usize,
    /// Start of the new text.
    new: usize,
    /// Offset up to which the text is checked.
    pub(crate) checked: u64,
    /// Number of counted characters of the new text, and their bytes. No character is counted
    /// twice.
    counted: (usize, usize),
    /// Whether the last passage was taken.
    over: bool,
}

impl Text {
    pub(crate) fn new(id: u64) -> Self {
        Self { id, ..Self::default() }
    }

    pub(crate) fn push(&mut self, more: &str) {
        self.kept.push_str(more);
    }

    /// Returns the text that was not new in any passage yet.
    pub(crate) fn new_text(&self) -> &str {
        self.kept.get(self.new..).unwrap_or("")
    }

    /// Returns whether all text was taken, but the last passage was not marked as the last.
    pub(crate) fn lacks_last(&self) -> bool {
        !self.over && self.new_text().is_empty()
    }

    /// Returns the length of the new text of a full passage, if there is enough.
    pub(crate) fn fill(&mut self, windows: &Windows) -> Option<usize> {
        let size = windows.size.get();
        let text = self.kept.get(self.new..)?;
        match windows.unit {
            WindowUnit::Chars => {
                let (chars, bytes) = &mut self.counted;
                let mut more = text.get(*bytes..)?.chars();
                while *chars < size {
                    *bytes += more.next()?.len_utf8();
                    *chars += 1;
                }
                Some(*bytes)
            }
            WindowUnit::Bytes => {
                let most = size.max(text.chars().next()?.len_utf8());
                let full = text.len() >= most;
                full.then(|| (0..=most).rev().find(|&at| text.is_char_boundary(at)))?
            }
        }
    }

    /// Takes a passage with `len` new bytes, and the offset of its end.
    ///
    /// The taken text becomes the context of the next passage.
    pub(crate) fn take(&mut self, len: usize, ended: bool, windows: &Windows) -> (Passage, u64) {
        let end = self.new + len;
        let text = self.kept.get(self.from..end).unwrap_or("");
        let last = ended && end == self.kept.len();
        let context = self.new - self.from;
        let passage = Passage { text_id: self.id, text: text.to_owned(), context, last };
        self.over |= last;
        self.from += windows.context_of(text);
        (self.new, self.counted) = (end, (0, 0));
        // Each move drops at least as many bytes as it moves, so the work is linear.
        if self.from >= self.kept.len() - self.from {
            self.kept.drain(..self.from);
            self.new -= self.from;
            self.from = 0;
        }
        (passage, self.checked + len as u64)
    }
}
