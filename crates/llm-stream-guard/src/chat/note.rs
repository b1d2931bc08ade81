//! Sinks of a chat guard, and its notes about choices.

use std::{collections::VecDeque, fmt};

use toolcall_parsers::{Diagnostic, Outcome, Rejected};

use crate::{
    chat::{model::chunk::Chunk, step::ChatStep},
    guard::MessageEnd,
};

/// A receiver of the output of a [`super::ChatGuard`], in order.
pub trait ChatSink {
    /// Receives the output of one input: [`ChatStep::chunks`] or [`ChatStep::deltas`].
    fn step(&mut self, step: ChatStep<'_>);

    /// Receives a note, before the step of its input. Notes are ignored unless this is overridden.
    fn note(&mut self, note: ChatNote) {
        let _ = note;
    }
}

impl ChatSink for Vec<Chunk> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.push(chunk));
    }
}

impl ChatSink for VecDeque<Chunk> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.push_back(chunk));
    }
}

/// The closure that a stream adapter calls with every note.
#[derive(Default)]
pub(super) struct OnNote(pub(super) Option<Box<dyn FnMut(ChatNote) + Send>>);

impl OnNote {
    pub(super) fn call(&mut self, note: ChatNote) {
        if let Some(on_note) = &mut self.0 {
            on_note(note);
        }
    }
}

impl fmt::Debug for OnNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "OnNote(..)" } else { "OnNote" })
    }
}

/// A note about a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatNote {
    /// Index of the choice.
    pub choice: u32,
    /// Content of the note.
    pub note: Note,
}

/// The content of a [`ChatNote`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A diagnostic of the guard.
    Diagnostic(Diagnostic),
    /// A call of the text ended, with the outcome that chunks cannot express. If the call is dropped,
    /// [`Violation::DroppedCall`] follows. To assign outcomes to calls, read
    /// [`super::Delta::CallEnd`], where a dropped call does not occur.
    CallEnd {
        /// Index of the call as written. The call after a dropped call has the same index.
        index: u32,
        /// Outcome of the call.
        outcome: Outcome,
    },
    /// The payload of the choice was dropped; see [`crate::BadPayload::Reject`].
    Rejected(Rejected),
    /// A breach of the protocol by upstream, or an exceeded limit.
    Violation(Violation),
    /// The choice ended. A choice with a finish reason ends once.
    End(MessageEnd),
}

/// A breach of the protocol by upstream, or an exceeded limit. No output is dropped unless the
/// variant's documentation says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
    /// A chunk came after the finish reason and was passed on.
    AfterFinish,
    /// A second finish reason was dropped.
    SecondFinish,
    /// A choice ended without a finish reason, and the guard added one.
    NoFinish,
    /// A call's id was used before and got a suffix.
    DuplicateId,
    /// A call of upstream had no name when its choice ended, and was dropped.
    NamelessCall,
    /// A call beyond [`super::ChatLimits::calls`] was dropped.
    CallLimit,
    /// [`super::ChatLimits::waiting`] was exceeded, and entries were emitted before their text.
    WaitingLimit,
    /// Choices that cannot be read were forwarded unguarded. The note names choice 0.
    Unreadable,
    /// A call was dropped, because calls are suppressed, the call was malformed, or an error cut
    /// it.
    DroppedCall,
    /// Text spells marker tokens, but the chunk's token ids do not show which places are tokens.
    /// These places were read as text.
    AmbiguousTokens,
}

impl Violation {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfterFinish => "after_finish",
            Self::SecondFinish => "second_finish",
            Self::NoFinish => "no_finish",
            Self::DuplicateId => "duplicate_id",
            Self::NamelessCall => "nameless_call",
            Self::CallLimit => "call_limit",
            Self::WaitingLimit => "waiting_limit",
            Self::Unreadable => "unreadable",
            Self::DroppedCall => "dropped_call",
            Self::AmbiguousTokens => "ambiguous_tokens",
        }
    }
}
