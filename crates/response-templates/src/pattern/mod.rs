//! Patterns: the expressions of boundaries, run over text that arrives in pieces.
//!
//! An expression is parsed by the syntax of Python's `regex` module, compiled to a program, and run
//! by a [`Search`], which reads each character once and says at any time whether the leftmost
//! match is certain, could still come, or is nowhere yet. Where several alternatives match, the one
//! written first counts, not the longest.

mod ahead;
mod class;
mod compile;
mod flags;
mod program;
mod search;
mod step;
mod syntax;
mod whole;

pub(crate) use compile::{compile, literals};
pub(crate) use program::{Around as TextAround, Program};
pub(crate) use search::{Found, Search};
pub(crate) use syntax::{Fault, FaultKind};
pub(crate) use whole::{Matches, Scan, group};
