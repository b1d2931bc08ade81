//! Converts keyword arguments into a guard.

use std::str::FromStr;

use llm_stream_guard::{
    AddedToken, AddedTokens, CallOptions, Guard, GuardBuilder, Ids, Profile, ReasoningOptions,
    Start, Tools, UnknownName, named_profile, profile_for_model,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyMapping, PyString},
};
use serde_json::Value;

use crate::{
    SettingsError,
    convert::{to_json, word},
};

/// The names of all settings, in the order of the documentation.
const NAMES: [&str; 12] = [
    "model",
    "family",
    "template",
    "profile",
    "tools",
    "request",
    "prompt",
    "start",
    "whitespace",
    "token_suffix",
    "marker_tokens",
    "ids",
];

/// Creates an exception for a setting.
pub(crate) fn fault(error: impl std::fmt::Display) -> PyErr {
    SettingsError::new_err(error.to_string())
}

/// Keyword arguments with known names. `None` counts as absent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a, 'py>(Option<&'a Bound<'py, PyDict>>);

impl<'a, 'py> Settings<'a, 'py> {
    /// Checks the names of keyword arguments.
    pub(crate) fn new(given: Option<&'a Bound<'py, PyDict>>) -> PyResult<Self> {
        for name in given.into_iter().flat_map(|given| given.keys()) {
            let name = name.cast_into::<PyString>()?;
            let name = name.to_str()?;
            if !NAMES.contains(&name) {
                let known = NAMES.join(", ");
                let what = format!("unexpected setting `{name}`; expected one of {known}");
                return Err(pyo3::exceptions::PyTypeError::new_err(what));
            }
        }
        Ok(Self(given))
    }

    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(given) = self.0 else { return Ok(None) };
        Ok(given.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name)?.map(|value| value.extract::<String>()).transpose()
    }

    fn word<T: FromStr<Err = UnknownName>>(&self, name: &str) -> PyResult<Option<T>> {
        self.text(name)?.map(|text| word(name, &text)).transpose()
    }

    fn json(&self, name: &str) -> PyResult<Option<Value>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let read = to_json(&value).map_err(|error| fault(format!("{name}: {error}")));
        read.map(Some)
    }

    /// Returns the profile that the settings name, changed by the settings that belong to a
    /// profile.
    ///
    /// # Errors
    /// Not exactly one setting names the profile, its name is unknown, or its template is refused.
    pub(crate) fn profile(&self) -> PyResult<Profile> {
        let mut profile = self.named()?;
        if let Some(whitespace) = self.word("whitespace")? {
            profile.whitespace = whitespace;
        }
        if let Some(suffix) = self.text("token_suffix")? {
            profile.token_suffix = Some(suffix);
        }
        Ok(profile)
    }

    fn named(&self) -> PyResult<Profile> {
        let model = self.text("model")?;
        let family = self.text("family")?;
        let template = self.json("template")?;
        let profile = self.json("profile")?;
        match (model, family, template, profile) {
            (Some(id), None, None, None) => profile_for_model(&id).map_err(fault),
            (None, Some(name), None, None) => named_profile(&name).map_err(fault),
            (None, None, Some(template), None) => {
                let text = match template {
                    Value::String(text) => text,
                    object => object.to_string(),
                };
                Profile::from_response_template(&text).map_err(fault)
            }
            (None, None, None, Some(profile)) => {
                serde_json::from_value(profile).map_err(|error| fault(format!("profile: {error}")))
            }
            (None, None, None, None) => {
                let request = self.request()?;
                let Some(id) = request.get("model").and_then(Value::as_str) else {
                    return Err(fault(
                        "expected one of `model`, `family`, `template`, `profile`, or a `request` \
                         with a model",
                    ));
                };
                profile_for_model(id).map_err(fault)
            }
            _ => Err(fault("expected only one of `model`, `family`, `template`, `profile`")),
        }
    }

    /// Returns the tools that the settings declare.
    pub(crate) fn tools(&self) -> PyResult<Option<Tools>> {
        let Some(tools) = self.json("tools")? else { return Ok(None) };
        Tools::from_json(&tools).map(Some).map_err(|error| fault(format!("tools: {error}")))
    }

    /// Returns where the text begins, if a setting decides that.
    pub(crate) fn start(&self) -> PyResult<Option<Start>> {
        self.word("start")
    }

    /// Returns the texts that are single tokens of the tokenizer.
    pub(crate) fn marker_tokens(&self) -> PyResult<Vec<String>> {
        if let Some(tokens) = self.added_tokens()? {
            return Ok(tokens.texts().map(str::to_owned).collect());
        }
        let texts = self.get("marker_tokens")?;
        texts.map_or(Ok(Vec::new()), |texts| texts.extract())
    }

    /// Returns the marker tokens with their ids, if the setting has ids.
    pub(crate) fn added_tokens(&self) -> PyResult<Option<AddedTokens>> {
        let Some(given) = self.get("marker_tokens")? else { return Ok(None) };
        let Ok(ids) = given.cast::<PyMapping>() else { return Ok(None) };
        let token = |item: Bound<'_, PyAny>| {
            let (text, id): (String, u32) = item.extract()?;
            Ok(AddedToken::new(id, &text))
        };
        ids.items()?.iter().map(token).collect::<PyResult<AddedTokens>>().map(Some)
    }

    /// Returns the body of the request, or null.
    pub(crate) fn request(&self) -> PyResult<Value> {
        Ok(self.json("request")?.unwrap_or_default())
    }

    /// Returns the builder of the guard for `profile` with all other settings. `ids` is the default
    /// policy for ids.
    pub(crate) fn builder(&self, profile: &Profile, ids: Ids) -> PyResult<GuardBuilder> {
        let (mut calls, mut reasoning) = (CallOptions::default(), ReasoningOptions::default());
        calls.ids = self.word("ids")?.unwrap_or(ids);
        reasoning.start = self.start()?;
        let mut builder = Guard::builder(profile).calls(calls).reasoning(reasoning);
        if let Some(prompt) = self.text("prompt")? {
            builder = builder.prompt(&prompt);
        }
        builder = builder.marker_tokens(self.marker_tokens()?);
        if let Some(request) = self.json("request")? {
            builder = builder.request(&request);
        }
        if let Some(tools) = self.tools()? {
            builder = builder.tools(tools);
        }
        Ok(builder)
    }

    /// Builds the guard for the settings, and returns it with its profile.
    pub(crate) fn guard(&self, ids: Ids) -> PyResult<(Profile, Guard)> {
        let profile = self.profile()?;
        let guard = self.builder(&profile, ids)?.build().map_err(fault)?;
        Ok((profile, guard))
    }
}
