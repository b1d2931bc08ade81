//! One string as plain text: a key, a name, an id.

use alloc::string::String;

use super::{
    InValue, Scanned,
    dialect::ValueDialect,
    escape::Batch,
    transcoder::{Cx, Top, Transcoder},
};

/// Reads a string of any dialect, its quotes included, up to the limit of a name.
#[derive(Debug, Clone)]
pub(crate) struct TextReader {
    literal: Transcoder,
    text: String,
}

impl TextReader {
    /// A reader for strings.
    pub(crate) fn new() -> Self {
        Self { literal: Transcoder::new(Top::Text), text: String::new() }
    }

    /// Makes it as new, for a string.
    pub(crate) fn restart(&mut self) {
        self.literal.restart(Top::Text);
        self.text.clear();
    }

    /// Makes it as new, for a key, which may be bare where the dialect has it so.
    pub(crate) fn restart_key(&mut self) {
        self.literal.restart(Top::Key);
        self.text.clear();
    }

    /// Reads on; [`Scanned::Noted`] never comes.
    pub(crate) fn feed(&mut self, dialect: &ValueDialect<'_>, text: &str) -> Scanned {
        let read = &mut self.text;
        let mut out = |piece: &str| read.push_str(piece);
        let out = Batch::new(&mut out);
        self.literal.feed(&mut Cx { dialect, typing: None, text, i: 0, out })
    }

    /// Whether the string is whole if nothing follows.
    pub(crate) fn is_closed(&self) -> bool {
        self.literal.is_closed()
    }

    /// The place in the string that the text so far ends at.
    pub(crate) fn place(&self) -> Option<InValue> {
        self.literal.place()
    }

    /// Returns the text read so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Live bytes besides the text.
    pub(crate) fn buffered(&self) -> usize {
        self.literal.buffered()
    }
}
