//! The settings of a driver, its report of held bytes, and its counters.

use crate::{
    channel::Channel,
    edge::Newlines,
    limits::{Limits, ReasoningLimit},
    suffix::LearntSuffix,
    whitespace::Whitespace,
};

/// The settings of a driver.
///
/// ```
/// use jail_match::{Channel, DriverSettings, Whitespace};
/// let settings =
///     DriverSettings::default().start(Channel::REASONING).whitespace(Whitespace::Trim);
/// assert_eq!(settings.start, Channel::REASONING);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverSettings {
    /// The channel in which the stream begins: reasoning if the prompt opened it.
    pub start: Channel,
    /// Newlines at the start of the message that belong to the marker at the end of the prompt.
    pub newlines: Newlines,
    /// The policy for whitespace that frames markup.
    pub whitespace: Whitespace,
    /// The limits on held bytes.
    pub limits: Limits,
    /// The maximum number of bytes of reasoning in a message, if there is one.
    pub reasoning: Option<ReasoningLimit>,
    /// The maximum number of spans of reasoning in a message, if there is one. Openers beyond it
    /// are text. A span that the prompt opened counts.
    pub spans: Option<u32>,
    /// Whether openers of reasoning in the text still act after the server separated reasoning.
    pub inline_tags: InlineTags,
    /// Whether the sink receives an event for each marker that acted.
    pub edge_events: EdgeEvents,
    /// The suffix of the stream's markers, if the prompt showed it.
    pub suffix: LearntSuffix,
    /// The treatment of a marker that the end of the stream cuts.
    pub dangling: Dangling,
}

/// The treatment of the beginning of a marker at the end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dangling {
    /// The beginning is text, except where only a marker can be.
    #[default]
    Release,
    /// The beginning is dropped and reported ([`CutOpener`](crate::DiagnosticKind::CutOpener)).
    ///
    /// This needs a stream that the model did not end by itself, and at least two bytes that do not
    /// begin with a letter or digit.
    Drop,
}

/// Whether tags of reasoning in the text still act after the server separated reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum InlineTags {
    /// Tags in the text still act.
    #[default]
    Live,
    /// Tags are text from then on: a server that parses reasoning leaves none of its tags.
    Literal,
}

/// Whether a driver reports each marker that acted as a [`crate::Event::EdgeMatched`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EdgeEvents {
    /// No events: most sinks do not know the table.
    #[default]
    Silent,
    /// One event for each marker that acted.
    Reported,
}

impl Default for DriverSettings {
    fn default() -> Self {
        Self {
            start: Channel::CONTENT,
            newlines: Newlines::NONE,
            whitespace: Whitespace::default(),
            limits: Limits::default(),
            reasoning: None,
            spans: None,
            inline_tags: InlineTags::default(),
            edge_events: EdgeEvents::default(),
            suffix: LearntSuffix::NONE,
            dangling: Dangling::default(),
        }
    }
}

impl DriverSettings {
    /// Sets the channel in which the stream begins.
    #[must_use]
    pub fn start(self, start: Channel) -> Self {
        Self { start, ..self }
    }

    /// Sets the newlines that belong to a marker before the message.
    #[must_use]
    pub fn newlines(self, newlines: Newlines) -> Self {
        Self { newlines, ..self }
    }

    /// Sets the whitespace policy.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { whitespace, ..self }
    }

    /// Sets the limits on held bytes.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets whether markers that act are reported.
    #[must_use]
    pub fn edge_events(self, edge_events: EdgeEvents) -> Self {
        Self { edge_events, ..self }
    }

    /// Sets the suffix that the stream's markers are known to carry.
    #[must_use]
    pub fn suffix(self, suffix: LearntSuffix) -> Self {
        Self { suffix, ..self }
    }

    /// Sets the maximum number of bytes of reasoning in a message, or none.
    #[must_use]
    pub fn reasoning(self, reasoning: Option<ReasoningLimit>) -> Self {
        Self { reasoning, ..self }
    }

    /// Sets the maximum number of spans of reasoning, or none.
    #[must_use]
    pub fn spans(self, spans: Option<u32>) -> Self {
        Self { spans, ..self }
    }

    /// Sets the treatment of markers that the end of the stream cuts.
    #[must_use]
    pub fn dangling(self, dangling: Dangling) -> Self {
        Self { dangling, ..self }
    }

    /// Sets whether tags act after reasoning that a server separated ([`crate::ServerItem`]).
    #[must_use]
    pub fn inline_tags(self, inline_tags: InlineTags) -> Self {
        Self { inline_tags, ..self }
    }
}

/// The bytes that a machine received and did not yet emit or account for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// The number of bytes held.
    pub bytes: usize,
    /// The reason why the last of them are held.
    pub kind: HeldKind,
}

/// The reason why bytes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HeldKind {
    /// The machine holds no bytes.
    #[default]
    Nothing,
    /// The bytes may become a marker.
    Marker,
    /// The bytes follow an opener whose body has not committed.
    Candidate,
    /// The bytes are whitespace that may frame markup.
    Whitespace,
    /// The bytes belong to a call, and their meaning depends on the text after them.
    Call,
    /// The bytes are the start of a split UTF-8 sequence.
    Utf8,
    /// The bytes are reasoning that may be all of the answer. Only a stage after the driver holds
    /// such bytes.
    Reasoning,
}

impl HeldKind {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Marker => "marker",
            Self::Candidate => "candidate",
            Self::Whitespace => "whitespace",
            Self::Call => "call",
            Self::Utf8 => "utf8",
            Self::Reasoning => "reasoning",
        }
    }
}

/// Counters of a driver, for hosts that publish metrics. They contain no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// The number of bytes received.
    pub bytes_in: u64,
    /// The number of bytes looked at: a measure of work that does not depend on a clock.
    pub examined: u64,
    /// The number of candidates opened.
    pub candidates: u64,
    /// The number of candidates that committed.
    pub committed: u64,
    /// The number of candidates refuted, by their content or by a limit.
    pub refuted: u64,
    /// The number of bytes of reasoning emitted, with whitespace.
    pub reasoning_bytes: u64,
    /// The maximum number of bytes held at any time.
    pub held_max: usize,
}
