//! The settings of a guard, which the package's functions take as an object.

use std::str::FromStr;

use llm_stream_guard::{
    AddedToken, AddedTokens, CallOptions, End, Guard, GuardBuilder, Profile, ReasoningOptions,
    Tools, UnknownName, named_profile, profile_for_model,
};
use serde_json::{Map, Value};
use wasm_bindgen::JsValue;

use crate::fault;

/// The names of all settings, in the order of the documentation.
const NAMES: [&str; 11] = [
    "model",
    "family",
    "profile",
    "tools",
    "request",
    "prompt",
    "start",
    "whitespace",
    "tokenSuffix",
    "markerTokens",
    "ids",
];

/// Settings with known names. `null` counts as absent.
#[derive(Debug)]
pub(crate) struct Settings(Map<String, Value>);

impl Settings {
    /// Reads the JSON text of settings.
    pub(crate) fn read(json: &str) -> Result<Self, JsValue> {
        let settings: Map<String, Value> = serde_json::from_str(json).map_err(fault)?;
        if let Some(name) = settings.keys().find(|name| !NAMES.contains(&name.as_str())) {
            let known = NAMES.join(", ");
            return Err(fault(format!("unexpected setting `{name}`; expected one of {known}")));
        }
        Ok(Self(settings))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Result<Option<&str>, JsValue> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| fault(format!("{name}: expected a string")))?;
        Ok(Some(text))
    }

    /// Reads a setting that is one of several words.
    fn word<T: FromStr<Err = UnknownName>>(&self, name: &str) -> Result<Option<T>, JsValue> {
        let word = self.text(name)?.map(str::parse).transpose();
        word.map_err(|error| fault(format!("{name}: {error}")))
    }

    /// Returns the profile that the settings name, changed by the settings that belong to a
    /// profile.
    pub(crate) fn profile(&self) -> Result<Profile, JsValue> {
        let mut profile = self.named()?;
        if let Some(whitespace) = self.word("whitespace")? {
            profile.whitespace = whitespace;
        }
        if let Some(suffix) = self.text("tokenSuffix")? {
            profile.token_suffix = Some(suffix.to_owned());
        }
        Ok(profile)
    }

    fn named(&self) -> Result<Profile, JsValue> {
        let names = (self.text("model")?, self.text("family")?, self.get("profile"));
        match names {
            (Some(id), None, None) => profile_for_model(id).map_err(fault),
            (None, Some(name), None) => named_profile(name).map_err(fault),
            (None, None, Some(profile)) => serde_json::from_value(profile.clone())
                .map_err(|error| fault(format!("profile: {error}"))),
            (None, None, None) => {
                let request = self.get("request").and_then(|request| request.get("model"));
                let Some(id) = request.and_then(Value::as_str) else {
                    return Err(fault(
                        "expected one of `model`, `family`, `profile`, or a `request` with a model",
                    ));
                };
                profile_for_model(id).map_err(fault)
            }
            _ => Err(fault("expected only one of `model`, `family`, `profile`")),
        }
    }

    /// Returns the tools that the settings declare.
    pub(crate) fn tools(&self) -> Result<Option<Tools>, JsValue> {
        let tools = self.get("tools").map(Tools::from_json).transpose();
        tools.map_err(|error| fault(format!("tools: {error}")))
    }

    /// Returns the builder of the guard for `profile` with all other settings.
    pub(crate) fn builder(&self, profile: &Profile) -> Result<GuardBuilder, JsValue> {
        let (mut calls, mut reasoning) = (CallOptions::default(), ReasoningOptions::default());
        calls.ids = self.word("ids")?.unwrap_or_default();
        reasoning.start = self.word("start")?;
        let mut builder = Guard::builder(profile).calls(calls).reasoning(reasoning);
        if let Some(prompt) = self.text("prompt")? {
            builder = builder.prompt(prompt);
        }
        match self.get("markerTokens") {
            Some(Value::Array(texts)) => {
                let texts = texts.iter().filter_map(Value::as_str);
                builder = builder.marker_tokens(texts);
            }
            _ => builder = builder.marker_tokens(self.added_tokens()?.texts()),
        }
        if let Some(request) = self.get("request") {
            builder = builder.request(request);
        }
        if let Some(tools) = self.tools()? {
            builder = builder.tools(tools);
        }
        Ok(builder)
    }

    /// Reads the marker tokens from an object of texts and ids.
    pub(crate) fn added_tokens(&self) -> Result<AddedTokens, JsValue> {
        let expected = || fault("markerTokens: expected an object from texts to ids");
        let Some(ids) = self.get("markerTokens") else { return Ok(AddedTokens::default()) };
        let token = |(text, id): (&String, &Value)| {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok()).ok_or_else(expected)?;
            Ok(AddedToken::new(id, text))
        };
        ids.as_object().ok_or_else(expected)?.iter().map(token).collect()
    }

    /// Builds the guard for the settings, and returns it with its profile.
    pub(crate) fn guard(&self) -> Result<(Profile, Guard), JsValue> {
        let profile = self.profile()?;
        let guard = self.builder(&profile)?.build().map_err(fault)?;
        Ok((profile, guard))
    }
}

/// Reads the word for how a stream ended.
pub(crate) fn end(text: &str) -> Result<End, JsValue> {
    text.parse().map_err(fault)
}
