//! Converts keyword arguments into a guard.

use llm_stream_guard::{
    Guard, GuardBuilder, GuardSettings, Ids, Profile, SettingsError as Refused, TokenSettings,
    Tools,
    chat::{ChatGuard, ChatOptions},
};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};

use crate::{SettingsError, convert::to_json};

/// Creates an exception for a setting.
pub(crate) fn fault(error: impl std::fmt::Display) -> PyErr {
    SettingsError::new_err(error.to_string())
}

/// Creates an exception for refused settings. An unknown keyword is a `TypeError`, as in every
/// function of Python.
fn refused(error: Refused) -> PyErr {
    match error.is_unknown() {
        true => PyTypeError::new_err(error.to_string()),
        false => fault(error),
    }
}

/// The settings of keyword arguments. `None` counts as absent.
#[derive(Debug)]
pub(crate) struct Settings(GuardSettings);

impl Settings {
    /// Reads keyword arguments.
    ///
    /// # Errors
    /// A keyword is unknown, or a value is invalid.
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Self(GuardSettings::default())) };
        let given = to_json(given.as_any()).map_err(fault)?;
        GuardSettings::from_json(&given).map(Self).map_err(refused)
    }

    /// Returns the profile that the settings name, changed by the settings that belong to a
    /// profile.
    ///
    /// # Errors
    /// Not exactly one setting names the profile, or its name is unknown.
    pub(crate) fn profile(&self) -> PyResult<Profile> {
        self.0.profile().map_err(refused)
    }

    /// Returns the tools that the settings declare.
    pub(crate) fn tools(&self) -> Option<&Tools> {
        self.0.tools.as_ref()
    }

    /// Returns the texts that are single tokens of the tokenizer.
    pub(crate) fn marker_tokens(&self) -> Vec<&str> {
        self.0.marker_tokens.as_ref().map(TokenSettings::texts).unwrap_or_default()
    }

    /// Returns the builder of the guard for `profile` with all other settings. `ids` is the default
    /// policy for ids.
    pub(crate) fn builder(&self, profile: &Profile, ids: Ids) -> GuardBuilder {
        let mut settings = self.0.clone();
        settings.ids.get_or_insert(ids);
        settings.builder_for(profile)
    }

    /// Builds the guard for the settings, and returns it with its profile.
    pub(crate) fn guard(&self, ids: Ids) -> PyResult<(Profile, Guard)> {
        let profile = self.profile()?;
        let guard = self.builder(&profile, ids).build().map_err(fault)?;
        Ok((profile, guard))
    }

    /// Builds the guard of chat chunks.
    pub(crate) fn chat(&self) -> PyResult<ChatGuard> {
        self.0.chat(ChatOptions::default()).map_err(refused)
    }
}
