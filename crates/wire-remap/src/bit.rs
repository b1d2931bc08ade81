//! What the scan is asked for, and what it reports.

/// What kind of text is remapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Syntax {
    /// Text as the model reads it.
    #[default]
    Text,
    /// The text of a JSON document, or a fragment of one.
    Json,
}

/// How canonical markers in outgoing text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// As wire markers.
    Protocol,
    /// As quoted markers (level 2).
    Literal,
    /// As wire markers, and literal words stay as they are.
    Swap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Encode(Quoting),
    /// In JSON a truncated word is text, in its own spelling.
    Decode(Syntax),
}

/// What a piece of the scanned text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Itself.
    Text,
    /// Encoding: a canonical marker, now a wire marker or a quoted one.
    Encoded,
    /// Encoding: a literal word, now one level deeper.
    Escaped,
    /// Decoding: a word of level 0; `text` is the word as written.
    Word(usize),
    /// Decoding: a literal word, one level less deep.
    Unescaped,
    /// Decoding: a quoted canonical marker.
    Unquoted,
}

/// A piece of output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bit<'a> {
    /// Bytes of input it stands for, counted from where the last piece ended.
    pub(crate) consumed: usize,
    pub(crate) text: &'a str,
    pub(crate) kind: Kind,
}

impl<'a> Bit<'a> {
    pub(crate) fn text(text: &'a str) -> Self {
        Self { consumed: text.len(), text, kind: Kind::Text }
    }
}
