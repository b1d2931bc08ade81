//! Settings of a guard in a configuration, and in requests for `/parse`.

use llm_stream_guard::{GuardSettings, SettingsError};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// Settings of a guard, except those that name a family or belong to one request.
///
/// The settings are kept as they were written, so that they can be printed and combined.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct ModelSettings {
    written: Map<String, Value>,
    #[serde(skip)]
    settings: GuardSettings,
}

/// Settings that a configuration makes in other ways, or that belong to one request.
const ELSEWHERE: [&str; 10] = [
    "model",
    "family",
    "template",
    "profile",
    "family_file",
    "tools",
    "request",
    "prompt",
    "marker_tokens",
    "limits",
];

impl ModelSettings {
    /// Returns the names of the settings that a model can have.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let all = GuardSettings::fields().iter().copied();
        all.filter(|name| !ELSEWHERE.contains(name))
    }

    /// Returns the settings.
    pub(crate) fn get(&self) -> &GuardSettings {
        &self.settings
    }

    /// Returns the names of the settings that are set.
    pub(crate) fn set_names(&self) -> impl Iterator<Item = &str> {
        self.written.keys().map(String::as_str)
    }

    /// Returns these settings overridden by `others`.
    ///
    /// # Errors
    /// Returns the first of `others` that is invalid.
    pub(crate) fn with(&self, others: Map<String, Value>) -> Result<GuardSettings, SettingsError> {
        let mut written = self.written.clone();
        written.extend(others);
        GuardSettings::from_json(&Value::Object(written))
    }

    /// Adds a setting, or replaces it.
    fn add(&mut self, name: &str, value: Value) -> Result<(), SettingsError> {
        let others = Map::from_iter([(name.to_owned(), value)]);
        self.settings = self.with(others.clone())?;
        self.written.extend(others);
        Ok(())
    }
}

impl PartialEq for ModelSettings {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

/// Reads the value of a setting into the settings, so that an error has the place of the value.
pub(super) struct SettingSeed<'s> {
    pub(super) name: &'s str,
    pub(super) settings: &'s mut ModelSettings,
}

impl<'de> de::DeserializeSeed<'de> for SettingSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let value = Value::deserialize(from)?;
        self.settings.add(self.name, value).map_err(|error| de::Error::custom(error.problem()))
    }
}
