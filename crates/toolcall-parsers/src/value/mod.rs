//! Argument values in every literal syntax that models write, converted to JSON while they arrive.
//!
//! ```text
//! {"a": [1, "x"]}   {'a': (1, 'x')}   name(a=[1, "x"])   {a:[1,<|"|>x<|"|>]}
//! ```
//!
//! All four become `{"a": [1, "x"]}`.
//!
//! - [`ValueReader`] reads one value and writes JSON.
//! - [`TextReader`] reads one string as plain text.
//! - [`Members`] finds the keys and values of an object that the caller reads.
//!
//! The text that a reader leaves unread is short. It is offered again with more text after it.

mod bare;
mod brackets;
mod container;
mod dialect;
mod escape;
mod held;
mod inner_quotes;
mod members;
mod mend;
mod missing_end;
mod number;
mod own_end;
mod prefix;
mod quote;
mod quoted_call;
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

pub(crate) use brackets::{Brackets, InValue, OpenQuote};
pub(crate) use dialect::{Syntax, Tolerated, Typing, ValueDialect};
pub(crate) use escape::{escape, is_long_and_ends, is_plain};
pub(crate) use members::{Member, Members};
pub(crate) use mend::MendScan;
pub(crate) use own_end::is_of_bare_key;
pub(crate) use reader::{ValueKind, ValueReader};
pub use scan::{JsonPlace, JsonScan};
pub(crate) use text::TextReader;
pub(crate) use typed::{
    Fit, is_object, is_scalar, is_string_literal, json, json_or_string, may_be_null, typed,
};
pub(crate) use unescape::{Escape, Flavor, is_lone, unescape};

/// The result of reading a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Scanned {
    /// The value continues. `used` bytes were read, and the rest is a short undecided tail.
    More { used: usize },
    /// A note for the caller, after `used` bytes. Reading continues with the text from there.
    Noted { used: usize, note: Note },
    /// The value ended after `used` bytes.
    End { used: usize },
    /// The byte at `at` is not allowed there.
    Bad { at: usize, fault: ValueFault },
}

impl Scanned {
    /// Returns the result relative to a position `offset` bytes earlier.
    fn after(self, offset: usize) -> Self {
        match self {
            Self::More { used } => Self::More { used: used.saturating_add(offset) },
            Self::Noted { used, note } => Self::Noted { used: used.saturating_add(offset), note },
            Self::End { used } => Self::End { used: used.saturating_add(offset) },
            Self::Bad { at, fault } => Self::Bad { at: at.saturating_add(offset), fault },
        }
    }
}

/// A note of a reader, besides the JSON it writes. Its position does not depend on chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// A value certainly begins here. Reported once, before any JSON is written.
    Begun,
    /// The value that ended here does not have its declared type, and became a string.
    Mistyped,
    /// A deviation from JSON was accepted here. Reported once for each kind.
    Tolerated(Tolerated),
    /// The call's end is here, and closed all open strings and brackets.
    MissingEnd,
    /// A search for the end of a string failed after examining this number of bytes.
    Searched(usize),
}

/// The reason why a value cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueFault {
    /// The text is not a value of the dialect.
    Syntax,
    /// The text is a literal that JSON cannot express.
    Inexpressible,
}
