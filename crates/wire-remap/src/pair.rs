//! Pairs of markers, and the settings of a table.

use alloc::string::String;

/// Role of a pair of markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Begins a block, such as a tool call.
    Open,
    /// Ends a block, such as a tool call.
    Close,
    /// Neither begins nor ends a block.
    Other,
}

/// Whether a remap restores every text exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// `decode(encode(x)) == x` for every text: encoding escapes literal wire markers.
    #[default]
    Exact,
    /// Markers are replaced without escapes. A wire marker that a user typed is decoded to the
    /// canonical one.
    Plain,
}

/// Handling of damaged wire markers where a marker is expected.
///
/// A damaged marker lacks a bracket (`[[CALL]`, `[CALL]]`), or was cut by the end of the stream
/// (`[[CALL`).
///
/// ```
/// use wire_remap::{DecodedPiece, RemapTable, StreamDecoder};
/// let mut suspects = Vec::new();
/// StreamDecoder::new(&RemapTable::hermes()).push("ok\n[[CALL]\n{}", |piece| {
///     if let DecodedPiece::Suspect(suspect) = piece {
///         suspects.push(suspect.text.to_owned());
///     }
/// });
/// assert_eq!(suspects, ["[[CALL]"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Truncated {
    /// Damaged markers are text.
    Ignore,
    /// Damaged markers are kept as text and reported as
    /// [`DecodedPiece::Suspect`](crate::DecodedPiece::Suspect).
    #[default]
    Diagnose,
    /// `[[CALL]` at the start of a line is decoded as the marker. Other damage is only reported.
    ///
    /// Encoding then escapes literal `[[CALL]` as well, so that the remap stays exact.
    Recover,
}

/// A canonical marker and its spelling on the wire.
///
/// ```
/// use wire_remap::{RemapTable, Role};
/// let table = RemapTable::hermes();
/// let pair = &table.pairs()[0];
/// assert_eq!((pair.canonical(), pair.wire(), pair.role()), ("<tool_call>", "[[CALL]]", Role::Open));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerPair {
    pub(crate) canonical: String,
    pub(crate) wire: String,
    pub(crate) role: Role,
}

impl MarkerPair {
    /// Returns the marker of transcripts, tools and parsers.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the marker on the wire, with its nonce.
    #[must_use]
    pub fn wire(&self) -> &str {
        &self.wire
    }

    /// Returns the role of the pair.
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
