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

/// How the end of the stream found a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The arguments are complete, although the call's end is missing: only their last bracket is
    /// not written.
    Whole,
    /// As `Whole`; after this index of the remaining text, text follows the call.
    Ended(usize),
    /// Open strings and brackets were closed, up to the last bracket.
    Repaired,
    /// The arguments are not complete, and nothing was added.
    Incomplete,
}

/// The markup around calls, as far as readers of arguments need it.
///
/// All texts are exact and in all their spellings.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallEnds {
    /// Tags that end the call.
    pub(crate) call: Vec<String>,
    /// Those of the call's tags that another end tag follows in the templates.
    pub(crate) inner: Vec<String>,
    /// Tags that end the section.
    pub(crate) section: Vec<String>,
    /// Tokens that end the turn.
    pub(crate) turn: Vec<String>,
    /// Texts that begin the next call or section.
    pub(crate) openers: Vec<String>,
    /// Those of the call's tags that end its message.
    pub(crate) messages: Vec<String>,
    /// Texts that begin the next call, up to its arguments.
    pub(crate) heads: Vec<Head>,
}
