//! Patterns of boundaries and tags, searched for in text that arrives in pieces.
//!
//! A pattern is translated from the syntax of Python to that of `regex-syntax`, compiled to an NFA
//! of `regex-automata`, and run by a [`Search`]. A search reads each character once. After each
//! character it reports one of three answers:
//!
//! | pattern `a(?:bc)?` after | answer |
//! |---|---|
//! | `x` | nothing that was read is part of a match |
//! | `xa`, `xab` | a match may begin at offset 1 |
//! | `xab!` | `a` at offset 1 is the match, whatever follows |
//!
//! The leftmost match counts; of its alternatives the first in the pattern, not the longest.

mod compile;
mod scan;
mod search;
mod translate;

use alloc::string::String;

pub(crate) use compile::{Program, compile, literals};
pub(crate) use scan::{Matches, Scan, group};
pub(crate) use search::{Found, Neighbours, Search};

/// A pattern that was refused, and the character of the pattern where the fault is, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) at: usize,
}

/// The reason why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The text is not a pattern in the syntax of Python.
    Invalid(String),
    /// The pattern is valid, but uses the feature of this name.
    Unsupported(&'static str),
}
