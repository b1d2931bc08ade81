//! The error of a refused table.

use alloc::string::String;
use core::fmt;

/// An error: a [`RemapTable`](crate::RemapTable) was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemapTableError {
    pub(crate) entry: usize,
    pub(crate) marker: String,
    pub(crate) problem: Problem,
}

/// A rule that a table broke.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The table has no entry.
    NoEntries,
    /// The table has more entries than [`RemapTable::MAX_ENTRIES`](crate::RemapTable::MAX_ENTRIES).
    TooManyEntries,
    /// The marker is the empty string.
    Empty,
    /// The wire marker has one character, so that no escape can be inserted. Exact mode only.
    TooShort,
    /// Another entry, or the other marker of this entry, has the same text.
    Same {
        /// Index of the entry with the same marker.
        other: usize,
    },
    /// The marker contains another marker of the table.
    Contains {
        /// Index of the entry whose marker is contained.
        other: usize,
        /// The contained marker.
        part: String,
    },
    /// The end of the marker is the beginning of another marker, or of itself. Both could then
    /// match in one text and share characters.
    Overlaps {
        /// Index of the entry whose marker begins with the shared text.
        other: usize,
        /// The marker that begins with the shared text.
        next: String,
        /// The text that both markers share.
        shared: String,
    },
    /// JSON may contain the marker outside of strings (`{}`), so remapping would damage documents.
    JsonSyntax,
    /// The marker contains the escape character.
    HoldsEscape(char),
    /// The nonce is not 1 to 32 ASCII letters and digits.
    BadNonce,
    /// [`Provenance`](crate::Provenance) asks for `EscapeLiteral`, which plain mode cannot write.
    PlainCannotEscape,
}

impl RemapTableError {
    /// Returns the index of the faulty entry, in the order of the pairs.
    #[must_use]
    pub fn entry(&self) -> usize {
        self.entry
    }

    /// Returns the faulty marker. It may be a garbled or truncated form of a declared marker.
    #[must_use]
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// Returns the broken rule.
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
            Problem::JsonSyntax => f.write_str(
                "may occur in JSON outside of strings, where a remap would damage documents",
            ),
            Problem::Same { other } => write!(f, "is also a marker of entry {other}"),
            Problem::Contains { other, part } => {
                write!(f, "contains {part:?} of entry {other}")
            }
            Problem::Overlaps { other, next, shared } => write!(
                f,
                "ends with {shared:?}, the beginning of {next:?} of entry {other}, so one text could contain both"
            ),
            Problem::HoldsEscape(c) => {
                write!(f, "contains the escape character {c:?}; choose another with `escape`")
            }
            _ => Ok(()),
        }
    }
}

impl core::error::Error for RemapTableError {}
