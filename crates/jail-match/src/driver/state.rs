//! A driver's settings, what it says about what it holds, and its counters.

use crate::{
    channel::Channel,
    edge::Newlines,
    limits::{Limits, ReasoningLimit},
    suffix::LearntSuffix,
    whitespace::Whitespace,
};

/// Settings of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverSettings {
    /// The channel the stream begins in: reasoning if the prompt opened it.
    pub start: Channel,
    /// Newlines that belong to the marker with which the prompt ended, where the message begins
    /// with them.
    pub newlines: Newlines,
    /// What becomes of whitespace that frames markup.
    pub whitespace: Whitespace,
    /// Bounds on what is held.
    pub limits: Limits,
    /// The most reasoning a message may hold, if there is a most.
    pub reasoning: Option<ReasoningLimit>,
    /// The most spans of reasoning a message may have, if there is a most: openers beyond are
    /// text. One that the prompt opened counts.
    pub spans: Option<u32>,
    /// Whether openers of reasoning count once a server told some apart.
    pub inline_tags: InlineTags,
    /// Whether the sink learns which markers acted.
    pub edge_events: EdgeEvents,
    /// The suffix of the stream's markers, as the prompt showed it.
    pub suffix: LearntSuffix,
    /// What a marker is that the stream's end cuts.
    pub dangling: Dangling,
}

/// What the beginning of a marker is at the end of a stream that was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dangling {
    /// Text, but where nothing else than a marker can stand.
    #[default]
    Release,
    /// Dropped and reported ([`CutOpener`](crate::DiagnosticKind::CutOpener)), if it is of two bytes
    /// at least and not the beginning of a word, and the model did not stop by itself.
    Drop,
}

/// Whether tags of reasoning in the text count once a server told reasoning apart itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum InlineTags {
    /// They do, as before.
    #[default]
    Live,
    /// They are text from then on: a server that parses reasoning leaves none of its tags.
    Literal,
}

/// Whether a driver reports each marker that acted as an [`crate::Event::EdgeMatched`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EdgeEvents {
    /// It does not: most sinks know nothing of the table.
    #[default]
    Silent,
    /// It does.
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
    /// The same settings with another start channel.
    #[must_use]
    pub fn start(self, start: Channel) -> Self {
        Self { start, ..self }
    }

    /// The same settings with newlines bound to a marker before the message.
    #[must_use]
    pub fn newlines(self, newlines: Newlines) -> Self {
        Self { newlines, ..self }
    }

    /// The same settings with another whitespace policy.
    #[must_use]
    pub fn whitespace(self, whitespace: Whitespace) -> Self {
        Self { whitespace, ..self }
    }

    /// The same settings with other limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same settings with markers that act reported, or not.
    #[must_use]
    pub fn edge_events(self, edge_events: EdgeEvents) -> Self {
        Self { edge_events, ..self }
    }

    /// The same settings with a suffix that the stream's markers are known to carry.
    #[must_use]
    pub fn suffix(self, suffix: LearntSuffix) -> Self {
        Self { suffix, ..self }
    }

    /// The same settings with a limit on the reasoning of a message, or none.
    #[must_use]
    pub fn reasoning(self, reasoning: Option<ReasoningLimit>) -> Self {
        Self { reasoning, ..self }
    }

    /// The same settings with a most of spans of reasoning, or none.
    #[must_use]
    pub fn spans(self, spans: Option<u32>) -> Self {
        Self { spans, ..self }
    }

    /// The same settings with another rule for markers that the stream's end cuts.
    #[must_use]
    pub fn dangling(self, dangling: Dangling) -> Self {
        Self { dangling, ..self }
    }

    /// The same settings with another rule for openers behind reasoning that was told apart
    /// ([`crate::Aside`]).
    #[must_use]
    pub fn inline_tags(self, inline_tags: InlineTags) -> Self {
        Self { inline_tags, ..self }
    }
}

/// What a machine has received and not yet emitted or accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Bytes held.
    pub bytes: usize,
    /// Why the last of them are held.
    pub kind: HeldKind,
}

/// Why bytes are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum HeldKind {
    /// Nothing is held.
    #[default]
    Nothing,
    /// They may become a marker.
    Marker,
    /// They follow an opener that is not certain yet.
    Candidate,
    /// They are whitespace that may turn out to frame markup.
    Whitespace,
    /// They belong to a call, and their meaning depends on what follows.
    Call,
    /// They are the start of a split UTF-8 sequence.
    Utf8,
    /// They are reasoning that may turn out to be all of the answer. The driver never holds any:
    /// a stage after it may.
    Reasoning,
}

impl HeldKind {
    /// A short, stable name.
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

/// Plain counters, for hosts that publish metrics. No text in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes looked at: a measure of work that no clock disturbs.
    pub examined: u64,
    /// Candidates opened.
    pub candidates: u64,
    /// Candidates that committed.
    pub committed: u64,
    /// Candidates refuted, by their content or by a limit.
    pub refuted: u64,
    /// Bytes of reasoning emitted, whitespace and all.
    pub reasoning_bytes: u64,
    /// The most bytes ever held.
    pub held_max: usize,
}
