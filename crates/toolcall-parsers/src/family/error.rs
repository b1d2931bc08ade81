//! The error of a family's file.

use alloc::{
    boxed::Box,
    string::{String, ToString},
};
use core::fmt;

use crate::template::TemplateError;

/// An error in a family's file, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyError {
    file: String,
    line: Option<usize>,
    field: String,
    problem: String,
    template: Option<Box<TemplateError>>,
}

impl FamilyError {
    /// Creates an error of `field`, such as `calls[1].section[0]`. An empty field means the whole
    /// file.
    pub fn new(field: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self {
            file: String::new(),
            line: None,
            field: field.into(),
            problem: problem.to_string(),
            template: None,
        }
    }

    pub(super) fn template(field: impl Into<String>, error: TemplateError) -> Self {
        Self { template: Some(Box::new(error.clone())), ..Self::new(field, error) }
    }

    /// Returns the error with a file name and a line.
    #[must_use]
    pub fn in_file(self, file: impl Into<String>, line: Option<usize>) -> Self {
        Self { file: file.into(), line, ..self }
    }

    /// Returns the name of the file, or an empty text if it is unknown.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the line in the file, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the field, such as `calls[1].section[0]`, or an empty text if no single field is
    /// wrong.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the description of the problem.
    #[must_use]
    pub fn problem(&self) -> &str {
        self.problem.trim_end()
    }

    /// Returns the error in the field's template, if that is the problem.
    #[must_use]
    pub fn in_template(&self) -> Option<&TemplateError> {
        self.template.as_deref()
    }
}

impl fmt::Display for FamilyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
        }
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if !self.file.is_empty() || self.line.is_some() {
            f.write_str(" ")?;
        }
        if !self.field.is_empty() {
            write!(f, "`{}`: ", self.field)?;
        }
        f.write_str(self.problem())
    }
}

impl core::error::Error for FamilyError {}
