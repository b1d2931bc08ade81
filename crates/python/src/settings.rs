//! Converts keyword arguments into a guard.

use std::sync::Arc;

use llm_stream_guard::{
    CompileRow, Guard, GuardBuilder, GuardSettings, Ids, Profile, RowSettings,
    SettingsError as Refused, TokenSettings, Tools,
    chat::{ChatGuard, ChatOptions, TokenText},
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyDict, PyString},
};
use serde_json::{Map, Value};

pub(crate) use crate::convert::fault;
use crate::convert::{text_of, to_json};

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
        let mut settings = Map::new();
        for (name, value) in given.iter() {
            let name = text_of(name.cast::<PyString>()?)?.into_owned();
            // An unknown setting is refused whatever its value is.
            let value = match GuardSettings::fields().contains(&name.as_str()) {
                true => to_json(&value).map_err(|error| fault(format!("{name}: {error}")))?,
                false => Value::Null,
            };
            settings.insert(name, value);
        }
        GuardSettings::from_json(&Value::Object(settings)).map(Self).map_err(refused)
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

    /// Returns the request that the settings have.
    pub(crate) fn request(&self) -> Option<&Value> {
        self.0.request.as_ref()
    }

    /// Returns the texts that are single tokens of the tokenizer.
    pub(crate) fn marker_tokens(&self) -> Vec<&str> {
        self.0.marker_tokens.as_ref().map(TokenSettings::texts).unwrap_or_default()
    }

    /// Returns whether the marker tokens have ids.
    pub(crate) fn has_token_ids(&self) -> bool {
        matches!(self.0.marker_tokens, Some(TokenSettings::WithIds(_)))
    }

    /// Returns the divider of texts for `guard`, if the marker tokens have ids.
    pub(crate) fn token_text(&self, guard: &Guard) -> Option<TokenText> {
        match &self.0.marker_tokens {
            Some(TokenSettings::WithIds(tokens)) => Some(TokenText::new(guard, tokens)),
            _ => None,
        }
    }

    /// Returns the builder of the guard for `profile` with all other settings. `ids` is the default
    /// policy for ids.
    pub(crate) fn builder(&self, profile: &Profile, ids: Ids) -> GuardBuilder {
        self.with_ids(ids).builder_for(profile)
    }

    /// Returns the settings with a policy for ids: `ids`, if they have none.
    fn with_ids(&self, ids: Ids) -> GuardSettings {
        let mut settings = self.0.clone();
        settings.ids.get_or_insert(ids);
        settings
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

    /// Returns a function that compiles the guards of rows. If each row names its family or model,
    /// the settings need not name one.
    pub(crate) fn compile_row(&self, each_is_named: bool) -> PyResult<CompileRow> {
        let settings = self.with_ids(Ids::counting());
        let named = match self.names_profile() || !each_is_named {
            true => Some(self.profile()?),
            false => None,
        };
        if let Some(profile) = &named {
            settings.builder_for(profile).build().map_err(fault)?;
        }
        Ok(Arc::new(move |row: &RowSettings<'_>| {
            let builder = settings.builder_for(&*row.profile(named.as_ref())?);
            row.set_in(builder)?.build().map_err(|error| error.to_string())
        }))
    }

    /// Returns whether a setting names the profile.
    fn names_profile(&self) -> bool {
        let GuardSettings { model, family, template, profile, family_file, request, .. } = &self.0;
        let by_request = request.as_ref().is_some_and(|body| body.get("model").is_some());
        let named = model.is_some() || family.is_some() || template.is_some();
        named || profile.is_some() || family_file.is_some() || by_request
    }
}
