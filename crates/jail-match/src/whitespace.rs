//! Whitespace policies, and the emitter that applies them.
//!
//! `"<think>⏎why⏎</think>⏎⏎so"` under each policy:
//!
//! | policy | reasoning | content |
//! |---|---|---|
//! | `Verbatim` | `⏎why⏎` | `⏎⏎so` |
//! | `Framing` | `⏎why⏎` | `⏎⏎so` |
//! | `Trim` | `why` | `so` |
//! | `ReasoningEnd` | `⏎why` | `⏎⏎so` |

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

use core::{fmt, str::FromStr};

use crate::{
    channel::Channel,
    names::{UnknownName, named},
};

/// The policy for whitespace around markup. The result of every policy is independent of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Whitespace {
    /// Removes markup only. All whitespace stays.
    Verbatim,
    /// Drops whitespace that has markup or an end of the message on both sides. Everything else
    /// stays.
    ///
    /// Whitespace between text and a call stays with the text. If the chat template writes a
    /// newline there itself, the message has one newline more when it is sent back as history.
    /// [`Whitespace::Trim`] avoids that.
    #[default]
    Framing,
    /// Trims content next to markup, and reasoning at both ends.
    ///
    /// Content loses leading whitespace if markup came before its first visible byte, and trailing
    /// whitespace if there was a call. A message without markup is unchanged.
    Trim,
    /// Drops blank content between markup and a call. Everything else stays.
    BeforeCalls,
    /// Drops the trailing whitespace of each span of reasoning. Everything else stays.
    ReasoningEnd,
}

impl fmt::Display for Whitespace {
    /// Writes the name of the policy: `before_calls`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Whitespace {
    type Err = UnknownName;

    /// Reads the name of a policy, as `Display` writes it.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("whitespace policy", name, &Self::ALL.map(|policy| (policy.name(), policy)))
    }
}

/// The treatment of whitespace in one channel under a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Keep,
    DropBlank,
    DropBlankBeforeCall,
    Trim,
    TrimEnd,
}

impl Whitespace {
    /// All policies, the default one first.
    pub const ALL: [Self; 5] =
        [Self::Framing, Self::Verbatim, Self::Trim, Self::BeforeCalls, Self::ReasoningEnd];

    const fn name(self) -> &'static str {
        match self {
            Self::Framing => "framing",
            Self::Verbatim => "verbatim",
            Self::Trim => "trim",
            Self::BeforeCalls => "before_calls",
            Self::ReasoningEnd => "reasoning_end",
        }
    }

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

/// Returns whether `text` holds nothing but ASCII whitespace.
pub(crate) fn is_blank(text: &str) -> bool {
    trim_start(text).is_empty()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::Whitespace;

    #[test]
    fn every_policy_is_read_from_the_name_it_is_written_with() {
        let names = ["framing", "verbatim", "trim", "before_calls", "reasoning_end"];
        for (name, policy) in names.into_iter().zip(Whitespace::ALL) {
            assert_eq!(name.parse(), Ok(policy));
            assert_eq!(policy.to_string(), name);
        }
        let error = "trimmed".parse::<Whitespace>().unwrap_err();
        assert_eq!(error.nearest()[0], "trim");
    }
}
