//! Text that was received and is not decided yet.

use alloc::string::String;

use crate::chars::ceil_char_boundary;

/// The undecided tail of a stream.
///
/// [`Pending::push`] scans the tail together with the next chunk, and copies as little of the chunk
/// as it can. With `"<thi"` pending, the chunk `"nk>and much more"` is scanned in two parts:
///
/// 1. `"<think>and mu"` in the buffer, which decides the tail;
/// 2. `"ch more"` in place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending(String);

impl Pending {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends text without scanning it.
    pub(crate) fn keep(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Scans `chunk` after the pending text.
    ///
    /// `scan` returns the index from which its text must stay pending. That text is scanned again
    /// with more text after it. `step` bytes of the chunk are enough to decide most pending texts.
    ///
    /// # Errors
    /// Returns the error of the scan; nothing is pending then.
    pub(crate) fn push<E>(
        &mut self,
        chunk: &str,
        mut step: usize,
        mut scan: impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<(), E> {
        let mut rest = chunk;
        while !self.0.is_empty() && !rest.is_empty() {
            let cut = ceil_char_boundary(rest, step);
            step = step.saturating_mul(2);
            let before = self.0.len();
            self.0.push_str(&rest[..cut]);
            let keep = self.rescan(&mut scan)?;
            if keep >= before && cut < rest.len() {
                // The tail is decided: the rest is scanned in the caller's chunk, without copying.
                rest = &rest[keep - before..];
                self.0.clear();
            } else {
                rest = &rest[cut..];
            }
        }
        if !rest.is_empty() {
            let keep = scan(rest)?;
            self.0.push_str(&rest[keep..]);
        }
        Ok(())
    }

    /// Scans the pending text again and returns how much of it was decided.
    ///
    /// # Errors
    /// Returns the error of the scan; nothing is pending then.
    pub(crate) fn rescan<E>(
        &mut self,
        scan: impl FnOnce(&str) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let mut text = core::mem::take(&mut self.0);
        let keep = scan(&text)?;
        text.drain(..keep);
        self.0 = text;
        Ok(keep)
    }
}
