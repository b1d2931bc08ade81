//! Whole texts: a push and a finish.

use alloc::{borrow::Cow, string::String};

use crate::{
    bit::{Quoting, Syntax},
    decode::StreamDecoder,
    encode::StreamEncoder,
    piece::Piece,
    table::RemapTable,
};

impl RemapTable {
    /// Canonical text to wire text; borrowed when nothing had to change.
    #[must_use]
    pub fn encode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.encode_with(text, Quoting::Protocol, Syntax::Text)
    }

    /// Wire text to canonical text; borrowed when nothing had to change.
    ///
    /// Total: any text decodes. Text without wire markers and escapes decodes to itself.
    #[must_use]
    pub fn decode<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.decode_with(text, Syntax::Text)
    }

    /// As [`encode`](Self::encode), for the text of a JSON document: markers are found in the
    /// values of its strings, however they are escaped there (`<\/tool_call>`, `\u003c`), and
    /// what replaces them is escaped as JSON needs it. All other bytes stay as they are.
    #[must_use]
    pub fn encode_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.encode_with(text, Quoting::Protocol, Syntax::Json)
    }

    /// The inverse of [`encode_json`](Self::encode_json): string values are restored exactly, and
    /// bytes too, unless a marker had been spelled with JSON escapes.
    #[must_use]
    pub fn decode_json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.decode_with(text, Syntax::Json)
    }

    pub(crate) fn encode_with<'a>(
        &self,
        text: &'a str,
        quoting: Quoting,
        syntax: Syntax,
    ) -> Cow<'a, str> {
        let mut encoder = StreamEncoder::of(self, quoting, syntax);
        let mut whole = Whole::new(text);
        encoder.push_bits(text, &mut |piece, same| whole.add(piece, same));
        encoder.finish_bits(&mut |piece, same| whole.add(piece, same));
        whole.end()
    }

    fn decode_with<'a>(&self, text: &'a str, syntax: Syntax) -> Cow<'a, str> {
        let mut decoder = StreamDecoder::of(self, syntax);
        decoder.watch_only_if_needed();
        let mut whole = Whole::new(text);
        let mut on = |piece: Piece<'_>, same| whole.add(piece.text(), same);
        decoder.push_pieces(text, &mut on);
        decoder.finish_pieces(&mut on);
        whole.end()
    }
}

/// Collects the output of a whole-text pass; stays borrowed while it equals the input.
struct Whole<'a> {
    text: &'a str,
    same: usize,
    changed: Option<String>,
}

impl<'a> Whole<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, same: 0, changed: None }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "what is the same is a prefix of `text`; two texts in memory are shorter than \
                  all of it"
    )]
    fn add(&mut self, piece: &str, same: bool) {
        if same && self.changed.is_none() {
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
