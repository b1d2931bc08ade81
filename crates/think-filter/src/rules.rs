//! The rules by which formats differ.

use alloc::borrow::Cow;

use jail_match::Newlines;

/// A literal text of a format.
pub type Text = Cow<'static, str>;

/// Places where an opener counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Openers {
    /// A tag that prose may mention (a word in angle brackets) counts at the start of the message,
    /// at the start of a line and directly after markup. Whitespace may come before it. Other
    /// openers count anywhere.
    #[default]
    Line,
    /// Openers count anywhere outside of code.
    Anywhere,
    /// Openers count only before visible text.
    Lead,
}

/// Whether ASCII letter case counts in markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MarkerCase {
    /// Markers match byte for byte.
    #[default]
    Exact,
    /// ASCII letters match in either case.
    Insensitive,
}

/// Whether tags may carry a suffix. Some checkpoints write `<think:6124c78e>`, where the suffix
/// differs from checkpoint to checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TokenSuffix {
    /// Tags have no suffix.
    #[default]
    None,
    /// Tags may have any suffix; see [`jail_match::SuffixRule`]. If you know the suffix, use
    /// [`crate::Format::with_token_suffix`] instead.
    Any,
}

/// Whether a message may have more than one span of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Recur {
    /// A message may have any number of spans.
    #[default]
    Any,
    /// A message has at most one span, and later openers are text. A span that the prompt opened
    /// counts.
    Once,
}

/// Closers that may close the span of an opener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Pairing {
    /// Every closer of the format closes every span.
    #[default]
    Any,
    /// The opener and the closer at the same index of the lists belong together. Other tags in
    /// their span are text. Any closer closes a span that the prompt opened.
    Own,
}

/// Policy for a closer while no reasoning is open. The closer of an opener that was shown as text
/// is text under every policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StrayClose {
    /// The closer is removed before visible text and directly after reasoning. Elsewhere it is
    /// text.
    #[default]
    Leading,
    /// As [`StrayClose::Leading`]. In addition, the first closer is removed anywhere if no
    /// reasoning came before it, because the prompt may have opened reasoning.
    First,
    /// The closer stays as text.
    Keep,
    /// The closer is removed.
    Drop,
}

/// Policy for an opener at the very start of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DupOpen {
    /// One repeated opener is removed.
    #[default]
    Absorb,
    /// The repeated opener is text of the reasoning.
    Keep,
}

/// Newlines that are removed with the markers, unless whitespace is kept verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum BoundNewlines {
    /// At most one after the opener, one before the closer, and two after the closer.
    #[default]
    Tags,
    /// No newlines are removed.
    None,
    /// One before and one after the closer, under every whitespace policy.
    CloserDeclared,
    /// One after the opener, one before and one after the closer, under every whitespace policy.
    Declared,
    /// All newlines around the closer, under every whitespace policy.
    All,
}

impl BoundNewlines {
    pub(crate) fn opener(self) -> Newlines {
        match self {
            Self::Tags | Self::CloserDeclared => Newlines::framing(0, 1),
            Self::Declared => Newlines::declared(0, 1),
            Self::None | Self::All => Newlines::NONE,
        }
    }

    pub(crate) fn closer(self) -> Newlines {
        match self {
            Self::Tags => Newlines::framing(1, 2),
            Self::None => Newlines::NONE,
            Self::CloserDeclared | Self::Declared => Newlines::declared(1, 1),
            Self::All => Newlines::declared(Newlines::MAX, Newlines::MAX),
        }
    }
}

/// A marker of the visible answer that is removed, with newlines around it under every whitespace
/// policy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Wrapper {
    /// Literal text of the marker.
    pub marker: Text,
    /// Maximum number of newlines removed before the marker.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines_before: u8,
    /// Maximum number of newlines removed after the marker.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines_after: u8,
}

/// Whether remarks inside reasoning are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StripRemarks {
    /// Remarks are reasoning.
    #[default]
    No,
    /// Remarks are removed.
    Yes,
}
