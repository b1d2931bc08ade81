//! Functions for whole texts, which return unchanged text borrowed.

use alloc::{borrow::Cow, string::String};

use crate::{
    decode::StreamDecoder,
    encode::StreamEncoder,
    piece::DecodedPiece,
    segment::{Segment, SegmentKind, Syntax},
    table::RemapTable,
};

impl RemapTable {
    /// Encodes canonical text as wire text. Unchanged text is returned borrowed.
    #[must_use]
    pub fn encode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.encode_with(text, Syntax::Text)
    }

    /// Decodes wire text to canonical text. Unchanged text is returned borrowed.
    ///
    /// Every text decodes. Text without wire markers and escapes decodes to itself.
    #[must_use]
    pub fn decode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.decode_with(text, Syntax::Text)
    }

    /// Encodes the text of a JSON document.
    ///
    /// Markers are found in the values of its strings, whatever their spelling (`<\/tool_call>`,
    /// `\u003c`). Their replacements are escaped for JSON. All other bytes are unchanged.
    #[must_use]
    pub fn encode_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.encode_with(text, Syntax::Json)
    }

    /// Decodes the text of a JSON document, the inverse of [`encode_json`](Self::encode_json).
    ///
    /// String values are restored exactly. Bytes are restored exactly except for a marker that was
    /// written with JSON escapes.
    #[must_use]
    pub fn decode_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.decode_with(text, Syntax::Json)
    }

    fn encode_with<'a>(&self, text: &'a str, syntax: Syntax) -> Cow<'a, str> {
        let mut encoder = StreamEncoder::with_syntax(self, syntax);
        let mut whole = Whole::new(text);
        let mut on =
            |segment: Segment<'_>| whole.add(segment.text, segment.kind == SegmentKind::Text);
        encoder.push_segments(text, &mut on);
        encoder.finish_segments(&mut on);
        whole.end()
    }

    fn decode_with<'a>(&self, text: &'a str, syntax: Syntax) -> Cow<'a, str> {
        let mut decoder = StreamDecoder::with_syntax(self, syntax);
        decoder.classify_only_if_needed();
        let mut whole = Whole::new(text);
        let mut on = |piece: DecodedPiece<'_>| whole.add(piece.text(), piece.is_unchanged());
        decoder.push(text, &mut on);
        decoder.finish(&mut on);
        whole.end()
    }
}

/// The output of a whole text, borrowed while it equals the input.
struct Whole<'a> {
    text: &'a str,
    /// Length of the unchanged prefix.
    same: usize,
    changed: Option<String>,
}

impl<'a> Whole<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, same: 0, changed: None }
    }

    fn add(&mut self, piece: &str, unchanged: bool) {
        if unchanged && self.changed.is_none() {
            self.same += piece.len();
            return;
        }
        let out = self.changed.get_or_insert_with(|| {
            let mut out = String::with_capacity(self.text.len() + piece.len());
            out.push_str(&self.text[..self.same]);
            out
        });
        out.push_str(piece);
    }

    fn end(self) -> Cow<'a, str> {
        self.changed.map_or(Cow::Borrowed(self.text), Cow::Owned)
    }
}
