//! The error of a family that cannot be compiled.

use alloc::{format, string::String};
use core::fmt;

use super::Compiler;
use crate::{
    family::{FamilyError, Form},
    machine::arguments::parameters::Unreadable,
};

/// The error of a family that cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    field: String,
    problem: String,
}

impl CompileError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { field: String::from("calls"), problem: problem.into() }
    }

    /// Returns the error with another field.
    pub(crate) fn in_field(self, field: impl Into<String>) -> Self {
        Self { field: field.into(), ..self }
    }

    /// Returns the faulty field of the family's file, such as `calls.parameter`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl From<CompileError> for FamilyError {
    fn from(error: CompileError) -> Self {
        Self::new(error.field, error.problem)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.field, self.problem)
    }
}

impl core::error::Error for CompileError {}

impl Compiler<'_> {
    /// Returns the error of field `key` of `form`.
    pub(super) fn fault(&self, fault: Unreadable, form: &Form, key: &str) -> CompileError {
        let n = self.family.forms.iter().position(|it| it == form).unwrap_or_default();
        let index = if self.family.forms.len() > 1 { format!("[{n}]") } else { String::new() };
        CompileError::new(fault.0).in_field(format!("calls{index}.{key}"))
    }
}
