//! A reasoning format: a value, turned into edges of the driver's table.

use alloc::{borrow::Cow, format, vec::Vec};

use jail_match::{Anchor, Case, Channel, Edge, Newlines, Suffix, Then, Uses};

/// Literal text of a format.
pub type Text = Cow<'static, str>;

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

/// Where an opener counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Openers {
    /// Anywhere outside code.
    #[default]
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
    /// They may have any; see [`Suffix`]. A known one is better:
    /// [`Format::with_token_suffix`].
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

/// What becomes of a closer when nothing is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StrayClose {
    /// Removed before anything visible and directly after reasoning; later it is text.
    #[default]
    Leading,
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
    fn opener(self) -> Newlines {
        match self {
            Self::Tags | Self::CloserDeclared => Newlines::framing(0, 1),
            Self::Declared => Newlines::declared(0, 1),
            Self::None | Self::All => Newlines::NONE,
        }
    }

    fn closer(self) -> Newlines {
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

impl Format {
    /// A format with nothing in it: everything is content.
    #[must_use]
    pub fn passthrough(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            open: Vec::new(),
            close: Vec::new(),
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
    /// # fn main() -> Result<(), &'static str> {
    /// let format = think_filter::format("hy_v4").ok_or("a known format")?;
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

    /// The edges that recognise the format.
    #[must_use]
    pub fn edges(&self) -> Vec<Edge> {
        let content = Channel::CONTENT.mask();
        let reasoning = Channel::REASONING.mask();
        let suffix = match self.suffix {
            TokenSuffix::None => Suffix::None,
            TokenSuffix::Any => Suffix::Optional,
        };
        let mut edges = Vec::new();
        let mut add = |edge: Edge| {
            let case = match self.case {
                MarkerCase::Exact => Case::Exact,
                MarkerCase::Insensitive => Case::FoldAscii,
            };
            edges.push(edge.cased(case));
        };
        for open in &self.open {
            let anchor = match self.openers {
                Openers::Anywhere => Anchor::Anywhere,
                Openers::Lead => Anchor::Lead,
            };
            let uses = match self.recur {
                Recur::Any => Uses::Unlimited,
                Recur::Once => Uses::OncePerMessage,
            };
            add(Edge::new(open.clone(), content, Then::Enter(Channel::REASONING))
                .suffixed(suffix)
                .anchored(anchor)
                .bound(self.newlines.opener())
                .used(uses)
                .literal_in_code());
            if self.dup_open == DupOpen::Absorb {
                add(Edge::new(open.clone(), reasoning, Then::Erase)
                    .suffixed(suffix)
                    .anchored(Anchor::Lead)
                    .bound(self.newlines.opener())
                    .used(Uses::OncePerEntry));
            }
        }
        for close in &self.close {
            add(Edge::new(close.clone(), reasoning, Then::Leave)
                .suffixed(suffix)
                .bound(self.newlines.closer()));
            let anchor = match self.stray_close {
                StrayClose::Keep => continue,
                StrayClose::Leading => Anchor::Lead,
                StrayClose::Drop => Anchor::Anywhere,
            };
            add(Edge::new(close.clone(), content, Then::Erase)
                .suffixed(suffix)
                .anchored(anchor)
                .bound(self.newlines.closer())
                .literal_in_code());
        }
        if let Some(label) = &self.label {
            add(Edge::new(label.clone(), reasoning, Then::Erase)
                .anchored(Anchor::Lead)
                .used(Uses::OncePerEntry));
        }
        for wrapper in &self.answer {
            let newlines = Newlines::declared(wrapper.newlines_before, wrapper.newlines_after);
            add(Edge::new(wrapper.marker.clone(), content, Then::Erase).bound(newlines));
        }
        if let (Some((open, close)), StripRemarks::Yes) = (&self.remark, self.strip_remarks) {
            add(Edge::new(open.clone(), reasoning, Then::Enter(Channel::HIDDEN)));
            add(Edge::new(close.clone(), Channel::HIDDEN.mask(), Then::Leave));
        }
        edges
    }
}
