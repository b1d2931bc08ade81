//! Why a table was refused.

use alloc::string::String;
use core::fmt;

/// Why a [`RemapTable`](crate::RemapTable) was refused; nothing was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemapTableError {
    pub(crate) entry: usize,
    pub(crate) marker: String,
    pub(crate) problem: Problem,
}

/// What is wrong with a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The table has no entry.
    NoEntries,
    /// The table has more entries than [`RemapTable::MAX_ENTRIES`](crate::RemapTable::MAX_ENTRIES).
    TooManyEntries,
    /// The marker is the empty string.
    Empty,
    /// A wire marker of one character has no place for an escape; needed in exact mode only.
    TooShort,
    /// The same string stands in another place of the table.
    Same {
        /// The entry with the same marker.
        other: usize,
    },
    /// The marker contains a marker of another place of the table.
    Contains {
        /// The entry whose marker it contains.
        other: usize,
        /// That marker.
        part: String,
    },
    /// The end of the marker is the beginning of a marker (perhaps of itself), so a text could
    /// hold both at once.
    Overlaps {
        /// The entry whose marker begins like this one ends.
        other: usize,
        /// That marker.
        next: String,
        /// What they share.
        shared: String,
    },
    /// JSON may hold the marker between its strings, as it may `{}`: documents would break.
    JsonSyntax,
    /// The marker contains the escape character.
    HoldsEscape(char),
    /// The nonce is not 1 to 32 ASCII letters and digits.
    BadNonce,
    /// [`Provenance`](crate::Provenance) asks for `EscapeLiteral`, which plain mode cannot spell.
    PlainCannotEscape,
}

impl RemapTableError {
    /// Position of the offending entry, in the order in which markers were added.
    #[must_use]
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// The offending marker; a form derived from it (garbled, truncated) if that is what clashes.
    #[must_use]
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl fmt::Display for RemapTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::NoEntries => return f.write_str("remap table: expected at least one entry"),
            Problem::TooManyEntries => {
                return write!(
                    f,
                    "remap table: more than {} entries",
                    crate::RemapTable::MAX_ENTRIES
                );
            }
            Problem::BadNonce => {
                return write!(
                    f,
                    "remap table: nonce {:?}: expected 1 to 32 ASCII letters or digits",
                    self.marker
                );
            }
            Problem::PlainCannotEscape => {
                return f.write_str(
                    "remap regime: EscapeLiteral needs a table in exact mode, found plain mode",
                );
            }
            _ => write!(f, "remap table: entry {}: marker {:?} ", self.entry, self.marker)?,
        }
        match &self.problem {
            Problem::Empty => f.write_str("is empty"),
            Problem::TooShort => {
                f.write_str("has one character, exact mode needs two to escape it")
            }
            Problem::JsonSyntax => {
                f.write_str("is made of JSON's own signs and would be replaced between its strings")
            }
            Problem::Same { other } => write!(f, "is also a marker of entry {other}"),
            Problem::Contains { other, part } => {
                write!(f, "contains {part:?} of entry {other}")
            }
            Problem::Overlaps { other, next, shared } => write!(
                f,
                "ends with {shared:?}, with which {next:?} of entry {other} begins, so one text could hold both"
            ),
            Problem::HoldsEscape(c) => {
                write!(f, "contains the escape character {c:?}; choose another with `escape`")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for RemapTableError {}
