//! Text that was received and not decided about yet.

use alloc::string::String;

use crate::chars::ceil_char_boundary;

/// Keeps the undecided tail of a stream and feeds a scan with as little copying as will do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending(String);

impl Pending {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Feeds `chunk` after what is kept.
    ///
    /// `scan` gets text and says from which index on it must be kept; that text comes again with
    /// more after it. About `step` bytes settle most of what is kept.
    ///
    /// # Errors
    /// The scan's own; nothing is kept then.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`keep` is at least `before`, and a place in the text of both"
    )]
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
            let mut text = core::mem::take(&mut self.0);
            let before = text.len();
            text.push_str(&rest[..cut]);
            let keep = scan(&text)?;
            if keep >= before {
                // What was kept is settled: go on in the caller's chunk, without copying.
                rest = &rest[keep - before..];
                text.clear();
            } else {
                rest = &rest[cut..];
                text.drain(..keep);
            }
            self.0 = text;
        }
        if !rest.is_empty() {
            let keep = scan(rest)?;
            self.0.push_str(&rest[keep..]);
        }
        Ok(())
    }

    /// Ends the stream: `scan` gets what is kept, and nothing is kept any more.
    ///
    /// # Errors
    /// The scan's own.
    pub(crate) fn finish<E>(&mut self, scan: impl FnOnce(&str) -> Result<(), E>) -> Result<(), E> {
        let mut text = core::mem::take(&mut self.0);
        scan(&text)?;
        text.clear();
        self.0 = text;
        Ok(())
    }
}
