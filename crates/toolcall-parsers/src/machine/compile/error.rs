//! What is wrong with a family that does not compile.

use alloc::string::String;
use core::fmt;

/// Why a family cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    problem: String,
}

impl CompileError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { problem: problem.into() }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl core::error::Error for CompileError {}
