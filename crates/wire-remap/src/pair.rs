//! What a table is made of: pairs of markers, and the options.

use alloc::string::String;

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
    /// Keep it as text and report it as [`DecodedPiece::Suspect`](crate::DecodedPiece::Suspect).
    #[default]
    Diagnose,
    /// Read `[[CALL]` at the start of a line as the marker. Encoding then escapes literal
    /// `[[CALL]` as well, so exactness holds. Other damage is reported only.
    Recover,
}

/// One canonical marker and its spelling on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerPair {
    pub(crate) canonical: String,
    pub(crate) wire: String,
    pub(crate) role: Role,
}

impl MarkerPair {
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
