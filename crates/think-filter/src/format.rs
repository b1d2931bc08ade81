//! The description of a reasoning format.

use alloc::{format, vec::Vec};

use crate::rules::{
    BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, StripRemarks, Text,
    TokenSuffix, Wrapper,
};

/// The markup of a family of models for its reasoning.
///
/// For a custom format, start from [`Format::tags`] and change the fields that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Format {
    /// Name of the format: lower case, `_` between words.
    pub name: Text,
    /// Spellings of the opener. Each opens reasoning.
    #[cfg_attr(feature = "serde", serde(default))]
    pub open: Vec<Text>,
    /// Spellings of the closer. Each closes reasoning; see `pairing`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub close: Vec<Text>,
    /// Closers that may close the span of an opener.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pairing: Pairing,
    /// A label after an opener, which is removed with it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub label: Option<Text>,
    /// Places where an opener counts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub openers: Openers,
    /// Whether ASCII letter case counts in the markers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub case: MarkerCase,
    /// Whether the tags may carry a suffix that depends on the checkpoint.
    #[cfg_attr(feature = "serde", serde(default))]
    pub suffix: TokenSuffix,
    /// Whether reasoning may occur again.
    #[cfg_attr(feature = "serde", serde(default))]
    pub recur: Recur,
    /// Policy for a closer while no reasoning is open.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stray_close: StrayClose,
    /// Policy for an opener that repeats the one before it, or the prompt's.
    #[cfg_attr(feature = "serde", serde(default))]
    pub dup_open: DupOpen,
    /// Newlines that are removed with the markers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines: BoundNewlines,
    /// Markers around the visible answer. All of them are removed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub answer: Vec<Wrapper>,
    /// Opener and closer of remarks inside reasoning. See `strip_remarks`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub remark: Option<(Text, Text)>,
    /// Whether remarks inside reasoning are removed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub strip_remarks: StripRemarks,
    /// Text emitted before the first content. It restores an opener for clients that split the
    /// reasoning themselves.
    #[cfg_attr(feature = "serde", serde(default))]
    pub prepend: Option<Text>,
    /// Whether the markers are special tokens, which servers strip by default.
    #[cfg_attr(feature = "serde", serde(default))]
    pub special_tokens: bool,
}

impl Format {
    /// Creates a format without markers: everything is content.
    #[must_use]
    pub fn passthrough(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            open: Vec::new(),
            close: Vec::new(),
            pairing: Pairing::default(),
            label: None,
            openers: Openers::default(),
            case: MarkerCase::default(),
            suffix: TokenSuffix::default(),
            recur: Recur::default(),
            stray_close: StrayClose::default(),
            dup_open: DupOpen::default(),
            newlines: BoundNewlines::default(),
            answer: Vec::new(),
            remark: None,
            strip_remarks: StripRemarks::default(),
            prepend: None,
            special_tokens: false,
        }
    }

    /// Creates a format of one pair of tags, with the default rules.
    ///
    /// ```
    /// use think_filter::{Format, Openers};
    /// let format = Format { openers: Openers::Lead, ..Format::tags("mine", "<plan>", "</plan>") };
    /// assert_eq!(format.open, ["<plan>"]);
    /// ```
    #[must_use]
    pub fn tags(name: impl Into<Text>, open: impl Into<Text>, close: impl Into<Text>) -> Self {
        Self {
            open: Vec::from([open.into()]),
            close: Vec::from([close.into()]),
            ..Self::passthrough(name)
        }
    }

    /// Returns the format with `suffix` in its tags, before the closing bracket. Other suffixes do
    /// not match.
    ///
    /// ```
    /// # fn main() -> Result<(), think_filter::UnknownName> {
    /// let format = think_filter::format("hy_v4")?;
    /// assert_eq!(format.with_token_suffix(":6124c78e").open, ["<think:6124c78e>"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_token_suffix(mut self, suffix: &str) -> Self {
        for tag in self.open.iter_mut().chain(&mut self.close) {
            if tag.starts_with('<')
                && let Some(head) = tag.strip_suffix('>')
            {
                *tag = format!("{head}{suffix}>").into();
            }
        }
        Self { suffix: TokenSuffix::None, ..self }
    }

    /// Returns whether the format has no markers, so that everything is content.
    #[must_use]
    pub fn is_passthrough(&self) -> bool {
        self.open.is_empty() && self.close.is_empty() && self.answer.is_empty()
    }
}
