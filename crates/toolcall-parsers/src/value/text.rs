//! Reading of one string as plain text: a key, a name or an id.

use alloc::string::String;

use super::{
    InValue, Scanned,
    dialect::ValueDialect,
    escape::Batch,
    transcoder::{Cx, Top, Transcoder},
};

/// A reader of a string in any dialect, including its quotes. The length is limited to that of a
/// name.
#[derive(Debug, Clone)]
pub(crate) struct TextReader {
    literal: Transcoder,
    text: String,
}

impl TextReader {
    /// Creates a reader of a string.
    pub(crate) fn new() -> Self {
        Self { literal: Transcoder::new(Top::Text), text: String::new() }
    }

    /// Restores the state of a new reader, for a string.
    pub(crate) fn restart(&mut self) {
        self.literal.restart(Top::Text);
        self.text.clear();
    }

    /// Restores the state of a new reader, for a key. A key has no quotes in some dialects.
    pub(crate) fn restart_key(&mut self) {
        self.literal.restart(Top::Key);
        self.text.clear();
    }

    /// Reads more text. Never returns [`Scanned::Noted`].
    pub(crate) fn feed(&mut self, dialect: &ValueDialect<'_>, text: &str) -> Scanned {
        let read = &mut self.text;
        let mut out = |piece: &str| read.push_str(piece);
        let out = Batch::new(&mut out);
        self.literal.feed(&mut Cx { dialect, text, i: 0, out })
    }

    /// Returns whether the string is complete if no text follows.
    pub(crate) fn is_closed(&self) -> bool {
        self.literal.is_closed()
    }

    /// Returns the current position in the string.
    pub(crate) fn place(&self) -> Option<InValue> {
        self.literal.place()
    }

    /// Returns the text read so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of bytes in buffers, without the text itself.
    pub(crate) fn buffered(&self) -> usize {
        self.literal.buffered()
    }
}
