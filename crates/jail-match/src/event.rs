//! Events: what a machine reports, borrowed while it streams and owned for keeping.

use alloc::{borrow::ToOwned, string::String};

use crate::{channel::Channel, diagnostic::Diagnostic};

/// One event, borrowed from the chunk that is being read.
///
/// Text is never empty, and neighbouring pieces of one channel are one run. A call is one
/// [`Event::CallStart`], any number of [`Event::CallArguments`] and one [`Event::CallEnd`], never
/// interleaved with another call's. A driver itself makes no calls: its bodies do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Visible text.
    Content(&'a str),
    /// Reasoning text.
    Reasoning(&'a str),
    /// Text of a channel of the caller's own.
    Other(Channel, &'a str),
    /// A call began.
    CallStart {
        /// Position among the message's calls.
        index: u32,
        /// The wire's id, or a generated one.
        id: &'a str,
        /// The complete name.
        name: &'a str,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text; never empty. The pieces of a call
        /// concatenate to the text of one object.
        fragment: &'a str,
    },
    /// The wire's id of a call, which began with another: told to those who keep a call until it
    /// ends, and only if they asked for it.
    CallId {
        /// Position among the message's calls.
        index: u32,
        /// The id.
        id: &'a str,
        /// Where it stands: the offset behind it in the stream, in bytes.
        at: u64,
    },
    /// A call ended.
    CallEnd {
        /// Position among the message's calls.
        index: u32,
        /// How.
        outcome: Outcome,
    },
    /// Something worth knowing.
    Diagnostic(Diagnostic),
    /// A marker acted: the one of the edge at this position of the table. It follows the text
    /// before the marker and what that released. Reported under
    /// [`crate::EdgeEvents::Reported`] only.
    EdgeMatched(usize),
}

impl<'a> Event<'a> {
    /// Text of `channel`.
    #[inline]
    #[must_use]
    pub const fn text(channel: Channel, text: &'a str) -> Self {
        match channel {
            Channel::CONTENT => Self::Content(text),
            Channel::REASONING => Self::Reasoning(text),
            other => Self::Other(other, text),
        }
    }

    /// The text of the event and its channel, if it is text.
    #[inline]
    #[must_use]
    pub const fn as_text(self) -> Option<(Channel, &'a str)> {
        match self {
            Self::Content(text) => Some((Channel::CONTENT, text)),
            Self::Reasoning(text) => Some((Channel::REASONING, text)),
            Self::Other(channel, text) => Some((channel, text)),
            _ => None,
        }
    }

    /// The event with its own copy of the text.
    #[must_use]
    pub fn to_owned(self) -> OwnedEvent {
        match self {
            Self::Content(text) => OwnedEvent::Content(text.to_owned()),
            Self::Reasoning(text) => OwnedEvent::Reasoning(text.to_owned()),
            Self::Other(channel, text) => OwnedEvent::Other(channel, text.to_owned()),
            Self::CallStart { index, id, name } => {
                OwnedEvent::CallStart { index, id: id.to_owned(), name: name.to_owned() }
            }
            Self::CallArguments { index, fragment } => {
                OwnedEvent::CallArguments { index, fragment: fragment.to_owned() }
            }
            Self::CallId { index, id, at } => OwnedEvent::CallId { index, id: id.to_owned(), at },
            Self::CallEnd { index, outcome } => OwnedEvent::CallEnd { index, outcome },
            Self::Diagnostic(diagnostic) => OwnedEvent::Diagnostic(diagnostic),
            Self::EdgeMatched(edge) => OwnedEvent::EdgeMatched(edge),
        }
    }
}

impl From<Diagnostic> for Event<'_> {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnostic(diagnostic)
    }
}

/// One event, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedEvent {
    /// Visible text.
    Content(String),
    /// Reasoning text.
    Reasoning(String),
    /// Text of a channel of the caller's own.
    Other(Channel, String),
    /// A call began.
    CallStart {
        /// Position among the message's calls.
        index: u32,
        /// The wire's id, or a generated one.
        id: String,
        /// The complete name.
        name: String,
    },
    /// A call's arguments grew.
    CallArguments {
        /// Position among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text.
        fragment: String,
    },
    /// The wire's id of a call, which began with another.
    CallId {
        /// Position among the message's calls.
        index: u32,
        /// The id.
        id: String,
        /// Where it stands: the offset behind it in the stream, in bytes.
        at: u64,
    },
    /// A call ended.
    CallEnd {
        /// Position among the message's calls.
        index: u32,
        /// How.
        outcome: Outcome,
    },
    /// Something worth knowing.
    Diagnostic(Diagnostic),
    /// A marker acted.
    EdgeMatched(usize),
}

impl OwnedEvent {
    /// The event, borrowed.
    #[must_use]
    pub fn as_event(&self) -> Event<'_> {
        match self {
            Self::Content(text) => Event::Content(text),
            Self::Reasoning(text) => Event::Reasoning(text),
            Self::Other(channel, text) => Event::Other(*channel, text),
            Self::CallStart { index, id, name } => Event::CallStart { index: *index, id, name },
            Self::CallArguments { index, fragment } => {
                Event::CallArguments { index: *index, fragment }
            }
            Self::CallId { index, id, at } => Event::CallId { index: *index, id, at: *at },
            Self::CallEnd { index, outcome } => Event::CallEnd { index: *index, outcome: *outcome },
            Self::Diagnostic(diagnostic) => Event::Diagnostic(*diagnostic),
            Self::EdgeMatched(edge) => Event::EdgeMatched(*edge),
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Its arguments are one complete JSON object.
    Complete,
    /// It was cut and closed on request; its arguments are JSON.
    Repaired,
    /// The model broke the family's syntax after the call was certain.
    Malformed,
    /// The stream ended inside it.
    Incomplete,
}

impl Outcome {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Repaired => "repaired",
            Self::Malformed => "malformed",
            Self::Incomplete => "incomplete",
        }
    }
}
