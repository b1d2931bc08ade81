//! A piece of text on its way to the sink.

use crate::channel::Channel;

/// Text of one channel with its place in the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPiece<'t> {
    pub(crate) channel: Channel,
    pub(crate) text: &'t str,
    /// Stream offset of the first byte.
    pub(crate) at: u64,
}

impl TextPiece<'_> {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the part of the piece before an index and the part from the index on.
    pub(super) fn split_at(self, index: usize) -> (Self, Self) {
        let (head, tail) = self.text.split_at(index);
        (Self { text: head, ..self }, Self { text: tail, at: self.at + index as u64, ..self })
    }
}
