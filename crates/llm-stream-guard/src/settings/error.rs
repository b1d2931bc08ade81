//! The error of settings.

use std::fmt;

/// An error: a setting is unknown, or has an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    field: String,
    problem: String,
    is_unknown: bool,
}

impl SettingsError {
    /// Creates an error in the setting `field`, or in all of them if it is empty.
    pub(super) fn new(field: &str, problem: impl fmt::Display) -> Self {
        Self { field: field.to_owned(), problem: problem.to_string(), is_unknown: false }
    }

    /// Creates an error for a setting that is not among `known`.
    pub(super) fn unknown(field: &str, known: &[&str]) -> Self {
        let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let problem = format!("unexpected setting `{field}`; expected one of {known}");
        Self { is_unknown: true, ..Self::new(field, problem) }
    }

    /// Adds text to the problem.
    pub(super) fn add(&mut self, text: &str) {
        self.problem.push_str(text);
    }

    /// Returns the name of the setting, or empty text if the error is not about one setting.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns what is wrong with the setting.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns whether no setting has this name.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.is_unknown
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The problem of an unknown setting has its name.
        if !self.field.is_empty() && !self.is_unknown {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for SettingsError {}
