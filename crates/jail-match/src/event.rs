//! Events of a message: borrowed while it streams, owned for keeping.
//!
//! The stream `why</think><call>go</call>bye` of a model that reasons first gives these events:
//!
//! ```text
//! Reasoning("why")
//! CallStart { index: 0, id: "call_0", name: "go" }   from the body of <call>
//! CallArguments { index: 0, fragment: "{}" }
//! CallEnd { index: 0, outcome: Complete }
//! Content("bye")
//! ```

use alloc::{borrow::ToOwned, string::String};

use crate::{channel::Channel, diagnostic::Diagnostic};

/// One event, borrowed from the chunk that is being read.
///
/// Text is never empty. A text may arrive in several events, which belong together if only
/// diagnostics are between them. A call is one [`Event::CallStart`], any number of
/// [`Event::CallArguments`] and one [`Event::CallEnd`]. Calls never interleave. The driver's bodies
/// emit them, and not the driver itself.
///
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Visible text of the answer.
    Content(&'a str),
    /// Text of the reasoning.
    Reasoning(&'a str),
    /// Text of a channel that the host defined.
    Other(Channel, &'a str),
    /// The start of a call. Its name is complete.
    CallStart {
        /// The position of the call among the message's calls.
        index: u32,
        /// The id on the wire, or a generated one.
        id: &'a str,
        /// The complete name of the function.
        name: &'a str,
    },
    /// The next part of a call's arguments.
    CallArguments {
        /// The position of the call among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text; never empty. All pieces of a call together
        /// are the text of one object.
        fragment: &'a str,
    },
    /// An id on the wire that came after the call had begun with another id. Emitted only on
    /// request, for readers that keep a call until it ends.
    CallId {
        /// The position of the call among the message's calls.
        index: u32,
        /// The id that the wire gave.
        id: &'a str,
        /// The stream offset after the id, in bytes.
        at: u64,
    },
    /// The end of a call with its outcome.
    CallEnd {
        /// The position of the call among the message's calls.
        index: u32,
        /// The outcome of the call.
        outcome: Outcome,
    },
    /// A notice about the input that is not an error.
    Diagnostic(Diagnostic),
    /// The marker of the edge at this position of the table acted. Emitted after the text before
    /// the marker, and only with [`crate::EdgeEvents::Reported`].
    EdgeMatched(usize),
}

impl<'a> Event<'a> {
    /// Creates the event for text of `channel`.
    #[inline]
    #[must_use]
    pub const fn text(channel: Channel, text: &'a str) -> Self {
        match channel {
            Channel::CONTENT => Self::Content(text),
            Channel::REASONING => Self::Reasoning(text),
            other => Self::Other(other, text),
        }
    }

    /// Returns the channel and the text of a text event.
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

    /// Copies the event with its text.
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

/// One event that owns its text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedEvent {
    /// Visible text of the answer.
    Content(String),
    /// Text of the reasoning.
    Reasoning(String),
    /// Text of a channel that the host defined.
    Other(Channel, String),
    /// The start of a call. Its name is complete.
    CallStart {
        /// The position of the call among the message's calls.
        index: u32,
        /// The id on the wire, or a generated one.
        id: String,
        /// The complete name of the function.
        name: String,
    },
    /// The next part of a call's arguments.
    CallArguments {
        /// The position of the call among the message's calls.
        index: u32,
        /// The next piece of the arguments' JSON text.
        fragment: String,
    },
    /// An id on the wire that came after the call began with another id.
    CallId {
        /// The position of the call among the message's calls.
        index: u32,
        /// The id that the wire gave.
        id: String,
        /// The stream offset after the id, in bytes.
        at: u64,
    },
    /// The end of a call with its outcome.
    CallEnd {
        /// The position of the call among the message's calls.
        index: u32,
        /// The outcome of the call.
        outcome: Outcome,
    },
    /// A notice about the input that is not an error.
    Diagnostic(Diagnostic),
    /// The marker of the edge at this position of the table acted.
    EdgeMatched(usize),
}

impl OwnedEvent {
    /// Borrows the event with its text.
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

/// The way in which a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The arguments are one complete JSON object, and nothing was guessed.
    Complete,
    /// The arguments are one complete JSON object. A part of the call was dropped, moved or read as
    /// something else than it is, or an option closed a call that was cut.
    Repaired,
    /// The model left the family's syntax after the call was certain. The call must not run.
    Malformed,
    /// The stream ended inside the call. The call must not run.
    Incomplete,
}

impl Outcome {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Repaired => "repaired",
            Self::Malformed => "malformed",
            Self::Incomplete => "incomplete",
        }
    }

    /// Returns whether a client may run the call.
    #[must_use]
    pub const fn runs(self) -> bool {
        matches!(self, Self::Complete | Self::Repaired)
    }

    /// Returns the worse of two outcomes, for example of the calls of one message. A malformed call
    /// is worse than an incomplete one, and that is worse than a repaired one.
    ///
    /// ```
    /// use jail_match::Outcome;
    /// let calls = [Outcome::Complete, Outcome::Incomplete, Outcome::Repaired];
    /// let worst = calls.into_iter().fold(Outcome::Complete, Outcome::worse);
    /// assert_eq!(worst, Outcome::Incomplete);
    /// ```
    #[must_use]
    pub const fn worse(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Complete => 0,
            Self::Repaired => 1,
            Self::Incomplete => 2,
            Self::Malformed => 3,
        }
    }
}
