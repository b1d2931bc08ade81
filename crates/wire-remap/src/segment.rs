//! The two directions of a scan, and the segments of its output.

/// Kind of the remapped text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Syntax {
    /// Text as the model reads it.
    #[default]
    Text,
    /// The text of a JSON document, or a fragment of one.
    Json,
}

/// Spelling of canonical markers in outgoing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Canonical markers become wire markers: `<tool_call>` becomes `[[CALL]]`.
    Protocol,
    /// Canonical markers become quoted markers: `<tool_call>` becomes `[[~~CALL]]`.
    Literal,
}

/// Direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From canonical text to wire text.
    Encode(Quoting),
    /// From wire text to canonical text. In JSON a truncated marker stays text.
    Decode(Syntax),
}

/// Kind of a segment of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// Text that the scan left unchanged.
    Text,
    /// Encoding: a wire marker or a quoted one, written for a canonical marker.
    Encoded,
    /// Encoding: a literal word, written one level deeper (`[[CALL]]` as `[[~CALL]]`).
    Escaped,
    /// Decoding: a word without escapes (`[[CALL]]`); the segment has the word as written.
    Word(usize),
    /// Decoding: a literal word, written one level less deep (`[[~CALL]]` as `[[CALL]]`).
    Unescaped,
    /// Decoding: a quoted canonical marker (`[[~~CALL]]` as `<tool_call>`).
    Unquoted,
}

/// A segment of output and the length of its input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The number of input bytes that this segment replaces, from the end of the previous segment
    /// on.
    pub(crate) consumed: usize,
    pub(crate) text: &'a str,
    pub(crate) kind: SegmentKind,
}

impl<'a> Segment<'a> {
    /// Creates a segment of unchanged text.
    pub(crate) fn text(text: &'a str) -> Self {
        Self { consumed: text.len(), text, kind: SegmentKind::Text }
    }
}
