//! Readers of a call's arguments, one for each kind of hole in a template.

pub(crate) mod attributes;
pub(crate) mod closing;
pub(crate) mod elements;
pub(crate) mod parameters;
pub(crate) mod tag;
pub(crate) mod value;

#[cfg(test)]
mod harness;

use alloc::{string::String, vec::Vec};

use self::parameters::call_heads::CallHead;

/// The state of a call's arguments at the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The arguments are complete, but the call's end is missing. Only their last bracket is not
    /// written yet.
    Whole,
    /// As [`Cut::Whole`]. Text that follows the call begins at this index of the remaining text.
    Ended(usize),
    /// Open strings and brackets were closed, except for the last bracket.
    Repaired,
    /// The arguments are not complete, and nothing was added.
    Incomplete,
    /// A part of the arguments that was emitted is not JSON.
    Malformed,
}

/// The markup around calls that readers of arguments must know.
///
/// All spellings of each text are listed.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallEnds {
    /// Tags that end the call.
    pub(crate) call: Vec<String>,
    /// The end tags of the call after which the templates have another end tag.
    pub(crate) inner: Vec<String>,
    /// Tags that end the section.
    pub(crate) section: Vec<String>,
    /// Tokens that end the turn.
    pub(crate) turn: Vec<String>,
    /// Texts that begin the next call or section.
    pub(crate) openers: Vec<String>,
    /// The end tags of the call that also end its message.
    pub(crate) messages: Vec<String>,
    /// Heads of calls: the texts from a call's start to its arguments.
    pub(crate) heads: Vec<CallHead>,
}
