//! Whitespace policies: what becomes of whitespace that only frames markup.

mod boundary;
mod emit;
mod emitter;
mod hold;
mod piece;
mod reasoning_budget;
mod run;

pub(crate) use boundary::Boundary;
pub(crate) use emitter::Emitter;
pub(crate) use piece::TextPiece;

use crate::channel::Channel;

/// What becomes of whitespace around markup. Every policy is independent of chunking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Whitespace {
    /// Markup is removed, every other byte stays.
    Verbatim,
    /// As verbatim, but a run of nothing but whitespace with markup or the message's edge on
    /// both sides is dropped. Whitespace between text and a call stays with the text: a chat
    /// template that writes a newline of its own there writes one more when the message is
    /// history, which [`Whitespace::Trim`] avoids.
    #[default]
    Framing,
    /// Content loses leading whitespace if markup came before the first visible byte, and
    /// trailing whitespace if there was a call; reasoning is trimmed at both ends. A message
    /// without markup is untouched.
    Trim,
    /// As verbatim, but blank content between markup and a call is dropped.
    BeforeCalls,
    /// As verbatim, but a reasoning span loses its trailing whitespace when it ends.
    ReasoningEnd,
}

/// The rule one channel lives by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Keep,
    DropBlank,
    DropBlankBeforeCall,
    Trim,
    TrimEnd,
}

impl Whitespace {
    fn rule(self, channel: Channel) -> Rule {
        match (self, channel) {
            (Self::Framing, _) => Rule::DropBlank,
            (Self::Trim, Channel::CONTENT | Channel::REASONING) => Rule::Trim,
            (Self::BeforeCalls, Channel::CONTENT) => Rule::DropBlankBeforeCall,
            (Self::ReasoningEnd, Channel::REASONING) => Rule::TrimEnd,
            _ => Rule::Keep,
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Whether `text` holds nothing but ASCII whitespace.
pub(crate) fn is_blank(text: &str) -> bool {
    trim_start(text).is_empty()
}
