//! A reasoning format: a value.

use alloc::{format, vec::Vec};

use crate::rules::{
    BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, StripRemarks, Text,
    TokenSuffix, Wrapper,
};

/// How a family marks its reasoning.
///
/// Start from [`Format::tags`] for a custom pair and change what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Format {
    /// The format's name: lower case, `_` between words.
    pub name: Text,
    /// What opens reasoning; any of these.
    #[cfg_attr(feature = "serde", serde(default))]
    pub open: Vec<Text>,
    /// What closes it; any of these.
    #[cfg_attr(feature = "serde", serde(default))]
    pub close: Vec<Text>,
    /// Which closers close what an opener opened.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pairing: Pairing,
    /// A label that follows an opener and goes with it when present.
    #[cfg_attr(feature = "serde", serde(default))]
    pub label: Option<Text>,
    /// Where an opener counts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub openers: Openers,
    /// Whether ASCII letter case counts in the markers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub case: MarkerCase,
    /// Whether the tags may carry a suffix that only the checkpoint knows.
    #[cfg_attr(feature = "serde", serde(default))]
    pub suffix: TokenSuffix,
    /// Whether a second span counts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub recur: Recur,
    /// What becomes of a closer when nothing is open.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stray_close: StrayClose,
    /// What becomes of an opener that repeats the one before it, or the prompt's.
    #[cfg_attr(feature = "serde", serde(default))]
    pub dup_open: DupOpen,
    /// Newlines that go with the markers.
    #[cfg_attr(feature = "serde", serde(default))]
    pub newlines: BoundNewlines,
    /// Markers of the visible answer, which are removed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub answer: Vec<Wrapper>,
    /// Remarks inside reasoning that can be removed: opener and closer.
    #[cfg_attr(feature = "serde", serde(default))]
    pub remark: Option<(Text, Text)>,
    /// Whether those remarks are removed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub strip_remarks: StripRemarks,
    /// Text put before the first content, for clients that split the reasoning themselves.
    #[cfg_attr(feature = "serde", serde(default))]
    pub prepend: Option<Text>,
    /// Whether the markers are special tokens, which servers strip by default.
    #[cfg_attr(feature = "serde", serde(default))]
    pub special_tokens: bool,
}

impl Format {
    /// A format with nothing in it: everything is content.
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

    /// A pair of tags with the default rules.
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

    /// The format with `suffix` written into its tags, before their closing bracket, and no
    /// other suffix allowed.
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

    /// Whether the format recognises anything at all.
    #[must_use]
    pub fn is_passthrough(&self) -> bool {
        self.open.is_empty() && self.close.is_empty() && self.answer.is_empty()
    }
}
