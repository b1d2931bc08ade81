//! The validated table of marker pairs.

use alloc::{borrow::Cow, string::String, sync::Arc};

use crate::{
    bit::Quoting, builder::RemapTableBuilder, decode::StreamDecoder, encode::StreamEncoder,
    json_text::Syntax, piece::Piece, words::Compiled,
};

/// What a pair of markers is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Begins a block (a tool call).
    Open,
    /// Ends one.
    Close,
    /// Neither.
    Other,
}

/// How faithful the remap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// `decode(encode(x)) == x` for every text: literal wire markers are escaped.
    #[default]
    Exact,
    /// Substrings are swapped and nothing is escaped: a wire marker that a user typed comes back
    /// as the canonical one.
    Plain,
}

/// What decoding does with a wire marker that lost one bracket (`[[CALL]`, `[CALL]]`) or was cut
/// by the end of the stream (`[[CALL`), where a marker is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Truncated {
    /// Nothing: it is text.
    Ignore,
    /// Keep it as text and report it as [`Piece::Suspect`].
    #[default]
    Diagnose,
    /// Read `[[CALL]` at the start of a line as the marker. Encoding then escapes literal
    /// `[[CALL]` as well, so exactness holds. Other damage is reported only.
    Recover,
}

/// One canonical marker and its spelling on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub(crate) canonical: String,
    pub(crate) wire: String,
    pub(crate) role: Role,
}

impl Pair {
    /// The marker of transcripts, tools and parsers.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// What stands for it on the wire, nonce included.
    #[must_use]
    pub fn wire(&self) -> &str {
        &self.wire
    }

    /// What it is used for.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) mode: Mode,
    pub(crate) escape: char,
    pub(crate) truncated: Truncated,
    pub(crate) garbled: bool,
}

/// A validated table of marker pairs; cheap to clone, immutable, shared between threads.
///
/// ```
/// use wire_remap::RemapTable;
/// let table = RemapTable::hermes();
/// let text = "Wrap calls in <tool_call>. A user typed [[CALL]].";
/// let wire = table.encode(text);
/// assert_eq!(wire, "Wrap calls in [[CALL]]. A user typed [[~CALL]].");
/// assert_eq!(table.decode(&wire), text);
/// ```
#[derive(Debug, Clone)]
pub struct RemapTable {
    pub(crate) inner: Arc<Compiled>,
}

impl RemapTable {
    /// The most pairs a table may have.
    pub const MAX_ENTRIES: usize = 256;

    /// Starts a table without pairs.
    #[must_use]
    pub fn builder() -> RemapTableBuilder {
        RemapTableBuilder::new()
    }

    /// A builder that already has the pairs of [`hermes`](Self::hermes).
    #[must_use]
    pub fn hermes_builder() -> RemapTableBuilder {
        Self::builder()
            .block(("<tool_call>", "[[CALL]]"), ("</tool_call>", "[[/CALL]]"))
            .block(("<toolcall>", "[[TOOLCALL]]"), ("</toolcall>", "[[/TOOLCALL]]"))
    }

    /// The markers of the Hermes tool format, `<tool_call>` and `</tool_call>`, as `[[CALL]]` and
    /// `[[/CALL]]`, and their compact spelling `<toolcall>` as `[[TOOLCALL]]`; exact.
    #[must_use]
    pub fn hermes() -> Self {
        Self::hermes_builder().build().expect("these markers are disjoint")
    }

    /// The same pairs swapped as plain substrings, without escapes ([`Mode::Plain`]).
    #[must_use]
    pub fn hermes_plain() -> Self {
        Self::hermes_builder().mode(Mode::Plain).build().expect("these markers are disjoint")
    }

    /// The pairs, in the order in which they were added; events refer to them by position.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.inner.pairs
    }

    /// The table's mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.inner.settings.mode
    }

    /// A fingerprint of pairs and options: equal tables have equal versions on every machine,
    /// different ones practically never. The nonce does not enter it.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.inner.version
    }

    /// The most bytes a stream over this table ever holds back: the longest marker, two escapes
    /// in it, minus one byte. Text without escapes never holds more than the longest marker
    /// minus one.
    #[must_use]
    pub fn max_held(&self) -> usize {
        self.inner.max_held
    }

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
