//! Passages of text for a [`crate::Window`], and how a text is cut into them.

use std::num::NonZeroUsize;

/// What a check is shown: the next piece of a text, and what came before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// Which text, as the items were read: a choice's number, for one.
    pub text_id: u64,
    /// The context, and behind it what is new.
    pub text: String,
    /// How many bytes of it are context, which was checked before.
    pub context: usize,
    /// Whether this is the text's last passage. Nothing in it is new if the text ended with a full
    /// passage, because that was checked before the end was known.
    pub last: bool,
}

/// How texts are cut into passages. None depends on how the text was cut into items, but where
/// the stream's end, or the limit on what is held, leaves a shorter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Windows {
    /// How much new text a passage has.
    pub size: NonZeroUsize,
    /// How much of what came before it is shown again.
    pub context: usize,
    /// What the two count.
    pub unit: WindowUnit,
    /// Whether items wait for their check.
    pub delivery: CheckDelivery,
    /// How many bytes of text may wait for a check. If there is more, as when one of several
    /// texts pauses, what there is of the text that holds the others up is checked.
    pub limit: usize,
}

/// What windows are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WindowUnit {
    /// Unicode scalars.
    #[default]
    Chars,
    /// Bytes; a passage ends before the scalar that would exceed it, and has at least one.
    Bytes,
}

/// Whether items wait for their check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CheckDelivery {
    /// They do: nothing unchecked is seen.
    #[default]
    Hold,
    /// They pass at once, and a check that refuses ends the stream behind them.
    StreamFirst,
}

impl Windows {
    /// Passages of `size` characters without context, held until they are checked; at most 1 MiB.
    #[must_use]
    pub const fn chars(size: NonZeroUsize) -> Self {
        let (unit, delivery) = (WindowUnit::Chars, CheckDelivery::Hold);
        Self { size, context: 0, unit, delivery, limit: 1 << 20 }
    }

    /// The same in bytes.
    #[must_use]
    pub const fn bytes(size: NonZeroUsize) -> Self {
        Self { unit: WindowUnit::Bytes, ..Self::chars(size) }
    }

    /// The same with so much of what came before in each passage.
    #[must_use]
    pub const fn context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    /// The same with items held, or not.
    #[must_use]
    pub const fn delivery(self, delivery: CheckDelivery) -> Self {
        Self { delivery, ..self }
    }

    /// The same with another limit on what waits.
    #[must_use]
    pub const fn limit(self, bytes: usize) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Where the context of what follows `text` begins.
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

/// A text that is not checked to its end.
///
/// `kept` with 3 characters of context, after `héll` was checked: `h|éll|o wö`, where `from` is the
/// first bar and `new` the second.
#[derive(Default)]
pub(crate) struct Text {
    id: u64,
    kept: String,
    /// Where the context of the next passage begins. What is before is dropped now and then.
    from: usize,
    /// Where what is new begins.
    new: usize,
    /// Offset up to which the text is checked.
    pub(crate) checked: u64,
    /// How many characters of what is new were counted, and their bytes: no character is counted
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

    /// What no check has been shown.
    pub(crate) fn new_text(&self) -> &str {
        self.kept.get(self.new..).unwrap_or("")
    }

    /// Whether all of the text was taken, and none of it as the last passage.
    pub(crate) fn lacks_last(&self) -> bool {
        !self.over && self.new_text().is_empty()
    }

    /// The length of a full passage's new text, if there is as much.
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

    /// Takes a passage with `len` new bytes, and the offset up to which it reaches. What was taken
    /// is the context of what follows.
    pub(crate) fn take(&mut self, len: usize, ended: bool, windows: &Windows) -> (Passage, u64) {
        let end = self.new + len;
        let text = self.kept.get(self.from..end).unwrap_or("");
        let last = ended && end == self.kept.len();
        let context = self.new - self.from;
        let passage = Passage { text_id: self.id, text: text.to_owned(), context, last };
        self.over |= last;
        self.from += windows.context_of(text);
        (self.new, self.counted) = (end, (0, 0));
        // Moves as many bytes as it drops at most, so that long texts stay linear.
        if self.from >= self.kept.len() - self.from {
            self.kept.drain(..self.from);
            self.new -= self.from;
            self.from = 0;
        }
        (passage, self.checked + len as u64)
    }
}
