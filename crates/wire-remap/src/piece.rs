//! What a decoder reports.

use crate::{pair::Role, place::MarkerPlace};

/// Which markers count as tool markup. Decoded text is the same under both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MarkerDetection {
    /// Those at a [`MarkerPlace::Structural`].
    #[default]
    Structural,
    /// All of them.
    Everywhere,
}

/// How a marker was spelled on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MarkerForm {
    /// The wire marker as declared.
    Wire,
    /// A garbled spelling, see [`accept_garbled`](crate::RemapTableBuilder::accept_garbled).
    Garbled,
    /// The wire marker without its last character, or without its first.
    Truncated,
    /// The wire marker cut by the end of the stream.
    Cut,
}

/// A wire marker, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Marker<'a> {
    /// Position of its pair in [`RemapTable::pairs`](crate::RemapTable::pairs).
    pub entry: usize,
    /// The canonical marker (escaped for JSON in a JSON stream).
    pub text: &'a str,
    /// What the model wrote.
    pub written: &'a str,
    /// What the pair is used for.
    pub role: Role,
    /// How it was spelled.
    pub form: MarkerForm,
    /// Where it stands. In a JSON stream always [`MarkerPlace::Quotes`].
    pub place: MarkerPlace,
    /// Whether it is tool markup under the decoder's [`MarkerDetection`]; if not, it is text that
    /// happens to look like it.
    pub counts: bool,
}

/// A damaged wire marker where a marker is expected; passed on as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspect<'a> {
    /// Position of the pair it seems to belong to.
    pub entry: usize,
    /// What was written.
    pub text: &'a str,
    /// How it is damaged.
    pub form: MarkerForm,
}

/// A piece of decoded output. The texts of all pieces together are the decoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodedPiece<'a> {
    /// Text; never empty. May hold canonical markers that the model wrote itself.
    Text(&'a str),
    /// Text that was escaped on the wire: a literal marker that must not be read as one.
    Literal(&'a str),
    /// A marker.
    Marker(Marker<'a>),
    /// A damaged marker, left as text.
    Suspect(Suspect<'a>),
}

impl<'a> DecodedPiece<'a> {
    /// The decoded text of this piece.
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
