//! Pieces of decoded text.

use crate::{pair::Role, place::MarkerPlace};

/// The markers that count as tool markup. The decoded text does not depend on the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MarkerDetection {
    /// Markers at a [`MarkerPlace::Structural`] count.
    #[default]
    Structural,
    /// Every marker counts.
    Everywhere,
}

/// Spelling of a marker on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MarkerForm {
    /// The declared wire marker, `[[CALL]]`.
    Wire,
    /// A garbled spelling such as `[[ call ]]`, see
    /// [`accept_garbled`](crate::RemapTableBuilder::accept_garbled).
    Garbled,
    /// The wire marker without its first or its last character: `[CALL]]`, `[[CALL]`.
    Truncated,
    /// The wire marker, cut by the end of the stream: `[[CALL`.
    Cut,
}

/// A decoded wire marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Marker<'a> {
    /// Index of the pair in [`RemapTable::pairs`](crate::RemapTable::pairs).
    pub entry: usize,
    /// The canonical marker, escaped for JSON in a JSON stream.
    pub text: &'a str,
    /// The spelling in the input.
    pub written: &'a str,
    /// Role of the pair: opener, closer, or neither.
    pub role: Role,
    /// Kind of the spelling in the input.
    pub form: MarkerForm,
    /// Place of the marker, which is always [`MarkerPlace::Quotes`] in a JSON stream.
    pub place: MarkerPlace,
    /// Whether the marker is tool markup under the decoder's [`MarkerDetection`]. Otherwise it is
    /// text that looks like markup.
    pub counts: bool,
}

/// A damaged wire marker where a marker is expected. It is passed on as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspect<'a> {
    /// Index of the pair the marker seems to belong to.
    pub entry: usize,
    /// The spelling in the input.
    pub text: &'a str,
    /// Kind of the damage: a truncated or a cut marker.
    pub form: MarkerForm,
}

/// A piece of decoded output. The texts of all pieces, joined, are the decoded text.
///
/// Decoding `<b> [[CALL]] [[~CALL]]` with the table of Hermes gives
///
/// ```text
/// Text("<b> ")   Marker("<tool_call>")   Text(" ")   Literal("[[CALL]]")
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodedPiece<'a> {
    /// Text, never empty. It may contain canonical markers that the model wrote itself.
    Text(&'a str),
    /// Text that was escaped on the wire. It looks like a marker and must not be read as one.
    Literal(&'a str),
    /// A wire marker, decoded.
    Marker(Marker<'a>),
    /// A damaged marker, kept as text.
    Suspect(Suspect<'a>),
}

impl<'a> DecodedPiece<'a> {
    /// Returns the decoded text of this piece.
    #[must_use]
    pub fn text(&self) -> &'a str {
        match *self {
            DecodedPiece::Text(text) | DecodedPiece::Literal(text) => text,
            DecodedPiece::Marker(marker) => marker.text,
            DecodedPiece::Suspect(suspect) => suspect.text,
        }
    }
    /// Returns whether the piece's text equals its input.
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Suspect(_))
    }
}
