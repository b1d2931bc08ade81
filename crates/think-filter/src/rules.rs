//! The rules in which formats differ.

use alloc::borrow::Cow;

use jail_match::Newlines;

/// Literal text of a format.
pub type Text = Cow<'static, str>;

/// Where an opener counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Openers {
    /// An ordinary tag (a word in angle brackets, which prose may mention) at the lead, at the
    /// start of a line and directly after markup, whitespace before it allowed; any other anywhere.
    #[default]
    Line,
    /// Anywhere outside code.
    Anywhere,
    /// Only before anything visible.
    Lead,
}

/// Whether ASCII letter case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MarkerCase {
    /// Byte for byte.
    #[default]
    Exact,
    /// In either case.
    Insensitive,
}

/// Whether tags may carry a suffix: some checkpoints write `<think:6124c78e>`, and only their
/// tokenizer knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum TokenSuffix {
    /// They have none.
    #[default]
    None,
    /// They may have any; see [`crate::Suffix`]. A known one is better:
    /// [`crate::Format::with_token_suffix`].
    Any,
}

/// Whether a second span counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Recur {
    /// Any number of spans.
    #[default]
    Any,
    /// One; later openers are text. A span the prompt opened is the one.
    Once,
}

/// Which closers close what an opener opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Pairing {
    /// Any closer of the format: they are spellings of one.
    #[default]
    Any,
    /// The one at the opener's place in the list; other tags inside are text. What the prompt
    /// opened, any closer closes.
    Own,
}

/// What becomes of a closer when nothing is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StrayClose {
    /// Removed before anything visible and directly after reasoning; later it is text.
    #[default]
    Leading,
    /// As leading; and as the template may have opened the reasoning in a prompt nobody saw, the
    /// first goes wherever it stands, unless some reasoning came before.
    First,
    /// Text.
    Keep,
    /// Removed.
    Drop,
}

/// What becomes of an opener at the very start of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum DupOpen {
    /// One is removed.
    #[default]
    Absorb,
    /// It is text of the reasoning.
    Keep,
}

/// Newlines that go with the markers, unless whitespace is kept verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum BoundNewlines {
    /// At most one after the opener, one before the closer, two after it.
    #[default]
    Tags,
    /// None.
    None,
    /// One before and one after the closer, under every whitespace policy.
    CloserDeclared,
    /// One after the opener, one before and one after the closer, under every policy.
    Declared,
    /// All there are around the closer, under every policy.
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
            Self::All => Newlines::declared(Newlines::MANY, Newlines::MANY),
        }
    }
}

/// A marker of the visible answer that is removed, with the newlines that go with it under every
/// whitespace policy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Wrapper {
    /// The literal text.
    pub marker: Text,
    /// At most this many newlines before it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines_before: u8,
    /// At most this many newlines after it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines_after: u8,
}

/// Whether a format's remarks inside reasoning are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StripRemarks {
    /// They stay.
    #[default]
    No,
    /// They are removed.
    Yes,
}
