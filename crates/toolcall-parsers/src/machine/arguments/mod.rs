//! Readers of a call's arguments, one a hole of the call's template.

pub(crate) mod attributes;
pub(crate) mod closing;
pub(crate) mod elements;
pub(crate) mod parameters;
pub(crate) mod tag;
pub(crate) mod value;

#[cfg(test)]
mod harness;

use alloc::{string::String, vec::Vec};

use self::parameters::heads::Head;

/// Whitespace that may stand where a tag must follow: it is held until the tag is certain, so
/// that text which is none comes out soon.
pub(crate) const BLANKS: usize = 32;

/// How the end of the stream found a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// They are complete, though the call's end never came: only their last bracket is not written.
    Whole,
    /// The same; behind this index of what was left, text follows the call.
    Ended(usize),
    /// What was open in them was closed, up to their last bracket.
    Repaired,
    /// They are not complete, and nothing was added.
    Incomplete,
}

/// What stands around calls, as far as a reader of arguments must know it.
///
/// All texts are exact and in all their spellings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    /// Tags that end the call.
    pub(crate) call: Vec<String>,
    /// Those of the call's tags that another end tag follows in the templates.
    pub(crate) inner: Vec<String>,
    /// Tags that end the section.
    pub(crate) section: Vec<String>,
    /// Tokens that end the turn.
    pub(crate) turn: Vec<String>,
    /// What begins the next call or section.
    pub(crate) openers: Vec<String>,
    /// Those of the call's tags that end its message.
    pub(crate) messages: Vec<String>,
    /// What begins the next call, up to its arguments.
    pub(crate) heads: Vec<Head>,
}
