//! Errors of rules that cannot make a jail.

use alloc::string::String;
use core::fmt;

/// An error: the rules cannot make a jail.
///
/// ```
/// let error = jail_match::Jail::builder().end("</a>").build().unwrap_err();
/// assert_eq!(error.to_string(), "jail: no start sequence: expected at least one");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JailError {
    pub(crate) entry: Entry,
    pub(crate) problem: JailProblem,
}

/// The faulty part of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Jail,
    Pool,
    Pair(usize),
    Mark { owner: Owner, role: &'static str, number: usize, text: String },
}

/// The owner of a faulty mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Pool,
    Pair(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JailProblem {
    NoStart,
    Empty,
    ZeroLimit,
    StartIsEnd(usize),
    NestsInItself(usize),
    TakenBy(Owner),
    NoSuchPair(usize),
    #[cfg(feature = "regex")]
    Unbounded,
    #[cfg(feature = "regex")]
    EmptyMatch,
    #[cfg(feature = "regex")]
    NoHold,
    #[cfg(feature = "regex")]
    BadPattern(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool => f.write_str("pool"),
            Self::Pair(n) => write!(f, "pair {n}"),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jail => f.write_str("jail"),
            Self::Pool => Owner::Pool.fmt(f),
            Self::Pair(n) => Owner::Pair(*n).fmt(f),
            Self::Mark { owner, role, number, text } => {
                write!(f, "{owner}, {role} {number} ({text:?})")
            }
        }
    }
}

impl fmt::Display for JailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.entry)?;
        match &self.problem {
            JailProblem::NoStart => f.write_str("no start sequence: expected at least one"),
            JailProblem::Empty => f.write_str("the sequence is empty"),
            JailProblem::ZeroLimit => f.write_str("a limit is 0: expected at least 1"),
            JailProblem::StartIsEnd(n) => {
                write!(f, "equals end {n}: expected a pair that binds the two")
            }
            JailProblem::NestsInItself(n) => {
                write!(f, "equals end {n}: such a pair cannot open in itself")
            }
            JailProblem::TakenBy(owner) => write!(f, "{owner} has the same start"),
            JailProblem::NoSuchPair(n) => write!(f, "names pair {n}, which does not exist"),
            #[cfg(feature = "regex")]
            JailProblem::Unbounded => f.write_str(
                "the expression has no maximum length: expected one in bytes (`Mark::hold`)",
            ),
            #[cfg(feature = "regex")]
            JailProblem::EmptyMatch => f.write_str("it may match the empty text"),
            #[cfg(feature = "regex")]
            JailProblem::NoHold => f.write_str("the hold is 0: expected at least 1 byte"),
            #[cfg(feature = "regex")]
            JailProblem::BadPattern(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for JailError {}
