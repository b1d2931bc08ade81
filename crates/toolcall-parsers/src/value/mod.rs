//! Argument values: every literal syntax that models write, converted to JSON text while it
//! arrives.
//!
//! ```text
//! {"a": [1, "x"]}   {'a': (1, 'x')}   name(a=[1, "x"])   {a:[1,<|"|>x<|"|>]}
//! ```
//!
//! [`ValueReader`] reads one value and writes JSON; [`TextReader`] reads one string as plain
//! text; [`Members`] finds keys and values of an object whose values the caller routes. The
//! text that a reader leaves unread is short, and is offered to it again with more text after it.

mod bare;
mod brackets;
mod container;
mod dialect;
mod escape;
mod held;
mod lost_end;
mod members;
mod number;
mod own_end;
mod prefix;
mod quote;
mod reader;
mod scalar;
mod scan;
mod string;
mod text;
mod transcoder;
mod typed;
mod unescape;

#[cfg(test)]
mod tests;

pub(crate) use brackets::{Brackets, InValue};
pub(crate) use dialect::{Syntax, Tolerated, Typing, ValueDialect};
pub(crate) use escape::{escape, is_plain};
pub(crate) use members::{Member, Members};
pub(crate) use own_end::is_of_bare_key;
pub(crate) use reader::{ValueKind, ValueReader};
pub use scan::{JsonPlace, JsonScan};
pub(crate) use text::TextReader;
pub(crate) use typed::{Fit, is_object, is_string_literal, json_or_string, may_be_null, typed};
pub(crate) use unescape::{Escape, Flavor, is_lone, unescape};

/// The state of a reading after the given text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Scanned {
    /// The value goes on; `used` bytes are done with, the rest is a short undecided tail.
    More { used: usize },
    /// Something is to be known at `used`; the reading goes on with the text from there.
    Noted { used: usize, note: Note },
    /// The value ended after `used` bytes.
    End { used: usize },
    /// The byte at `at` is not allowed there.
    Bad { at: usize, fault: ValueFault },
}

impl Scanned {
    /// The same place, seen from `offset` bytes earlier.
    fn after(self, offset: usize) -> Self {
        match self {
            Self::More { used } => Self::More { used: used.saturating_add(offset) },
            Self::Noted { used, note } => Self::Noted { used: used.saturating_add(offset), note },
            Self::End { used } => Self::End { used: used.saturating_add(offset) },
            Self::Bad { at, fault } => Self::Bad { at: at.saturating_add(offset), fault },
        }
    }
}

/// A report of a reader next to the JSON it writes. The position of a report does not depend on
/// cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// A value certainly begins here. Reported once, before any JSON is written.
    Begun,
    /// A value that ended here was not of the type its schema declares, and became a string.
    Mistyped,
    /// A tolerance of [`Syntax::Lenient`] is used from here on. Said once for each.
    Tolerated(Tolerated),
    /// The call's end, which is here, closes everything that was open.
    LostEnd,
    /// The end of a string was searched for in this many bytes, and is missing.
    Searched(usize),
}

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueFault {
    /// The text is not a value of the dialect.
    Syntax,
    /// The text is a literal that JSON cannot express.
    Inexpressible,
}
