//! Settings of a guard as data: the keyword arguments of Python, the object of JavaScript, the
//! arguments of the command, and the fields of the proxy's endpoint and configuration.
//!
//! A new option is a field of [`GuardSettings`] and a line in [`GuardSettings::builder_for`]. Every
//! door that reads JSON then takes it.

mod error;
mod field;
mod tokens;
mod word;

use jail_match::{Limits, Whitespace};
#[cfg(feature = "response-templates")]
use response_templates::ResponseTemplate;
use serde::Deserialize;
use serde_json::{Map, Value};
use think_filter::Start;
use toolcall_parsers::{ArgumentTypes, CallsInCode, Ids, Tools};

pub use self::{error::SettingsError, tokens::TokenSettings, word::Word};
use crate::{
    chat::{ChatGuard, ChatOptions},
    guard::{CallOptions, Delivery, Guard, GuardBuilder, ReasoningOptions},
    profile::{Profile, named_profile, profile_for_model},
};

/// The settings of a guard.
///
/// One of [`model`](Self::model), [`family`](Self::family), [`profile`](Self::profile), `template`
/// and `family_file` names the format, or the request's model does. A setting that is `null` counts as
/// absent. Unknown settings are refused.
///
/// ```
/// use llm_stream_guard::{End, GuardSettings};
/// use serde_json::json;
/// let settings = GuardSettings::from_json(&json!({"family": "qwen3", "whitespace": "trim"}))?;
/// let message = settings.builder()?.build()?.parse("<think>\nhm\n</think>\n\nHi.", End::Stop)?;
/// assert_eq!((&*message.reasoning, &*message.content), ("hm", "Hi."));
///
/// let error = GuardSettings::from_json(&json!({"start": "end"})).unwrap_err();
/// assert_eq!(error.to_string(), "start: expected one of `content`, `reasoning`, found `end`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GuardSettings {
    /// Id of the model, such as `Qwen/Qwen3-8B`.
    pub model: Option<String>,
    /// Name of a family, such as `qwen3`, or of a tool-call family or reasoning format alone.
    pub family: Option<String>,
    /// A checkpoint's response template, or the `tokenizer_config.json` that holds one: an object,
    /// or its text.
    #[cfg(feature = "response-templates")]
    #[serde(deserialize_with = "field::template")]
    pub template: Option<ResponseTemplate>,
    /// A profile of your own.
    pub profile: Option<Profile>,
    /// A family's file, such as [`DerivedFamily::file`](crate::DerivedFamily::file): the text of
    /// TOML or JSON, or an object with the keys of the JSON. A family of TOML has the name `own`.
    #[cfg(feature = "toml")]
    #[serde(deserialize_with = "field::family_file")]
    pub family_file: Option<Profile>,
    /// The tools that the request declared.
    #[serde(deserialize_with = "field::tools")]
    pub tools: Option<Tools>,
    /// The body of the request that the text answers; see [`GuardBuilder::request`].
    pub request: Option<Value>,
    /// The rendered prompt, or its last turn; see [`GuardBuilder::prompt`].
    pub prompt: Option<String>,
    /// Where the text begins, in place of the model's own start.
    #[serde(deserialize_with = "word::read")]
    pub start: Option<Start>,
    /// Policy for white space around markup, in place of the family's.
    #[serde(deserialize_with = "word::read")]
    pub whitespace: Option<Whitespace>,
    /// The suffix that the checkpoint's tokenizer puts into tags; see [`Profile::token_suffix`].
    pub token_suffix: Option<String>,
    /// Added tokens of the tokenizer; see [`GuardBuilder::marker_tokens`].
    pub marker_tokens: Option<TokenSettings>,
    /// How generated ids of calls are made. Counted ids give each message the same ids.
    #[serde(deserialize_with = "word::read")]
    pub ids: Option<Ids>,
    /// How the events of a call are delivered.
    #[serde(deserialize_with = "word::read")]
    pub delivery: Option<Delivery>,
    /// Policy for calls inside code of the answer.
    #[serde(deserialize_with = "word::read")]
    pub in_code: Option<CallsInCode>,
    /// Policy for strings in arguments of calls whose schema declares another type.
    #[serde(deserialize_with = "word::read")]
    pub argument_types: Option<ArgumentTypes>,
    /// Limits of held text.
    pub limits: Option<LimitSettings>,
}

/// Limits of held text. Missing limits have the values of [`Limits::default`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LimitSettings {
    /// See [`Limits::candidate`].
    pub candidate: Option<usize>,
    /// See [`Limits::whitespace`].
    pub whitespace: Option<usize>,
    /// See [`Limits::depth`].
    pub depth: Option<usize>,
}

impl From<LimitSettings> for Limits {
    fn from(LimitSettings { candidate, whitespace, depth }: LimitSettings) -> Self {
        let default = Self::default();
        Self {
            candidate: candidate.unwrap_or(default.candidate),
            whitespace: whitespace.unwrap_or(default.whitespace),
            depth: depth.unwrap_or(default.depth),
            ..default
        }
    }
}

impl GuardSettings {
    /// Reads the settings from an object.
    ///
    /// # Errors
    /// Returns the first setting that is unknown or has an invalid value, with what was expected.
    pub fn from_json(settings: &Value) -> Result<Self, SettingsError> {
        let Some(given) = settings.as_object() else {
            return Err(SettingsError::new("", "expected an object of settings"));
        };
        if let Some(name) = given.keys().find(|name| !Self::fields().contains(&name.as_str())) {
            return Err(SettingsError::unknown(name, Self::fields()));
        }
        let read = Self::deserialize(settings).map_err(|error| {
            // Every setting is optional, so the faulty one fails alone, too.
            let alone = |(name, value): (&String, &Value)| {
                let one = Map::from_iter([(name.clone(), value.clone())]);
                let error = Self::deserialize(&Value::Object(one)).err()?;
                Some(SettingsError::new(name, &error))
            };
            given.iter().find_map(alone).unwrap_or_else(|| SettingsError::new("", &error))
        })?;
        let limits = Limits::from(read.limits.unwrap_or_default());
        limits.check().map_err(|error| SettingsError::new("limits", error))?;
        Ok(read)
    }

    /// Returns the names of all settings.
    #[must_use]
    pub fn fields() -> &'static [&'static str] {
        field::names::<Self>()
    }

    /// Returns the profile that the settings name, changed by the settings that belong to a
    /// profile.
    ///
    /// # Errors
    /// Returns an error if not exactly one setting names the profile, or if the name is unknown.
    pub fn profile(&self) -> Result<Profile, SettingsError> {
        self.named().map(|profile| self.adjusted(&profile))
    }

    /// Returns the profile that the settings name.
    fn named(&self) -> Result<Profile, SettingsError> {
        let Self { model, family, profile, .. } = self;
        #[cfg(feature = "response-templates")]
        let template = self.template.as_ref().map(|it| Profile::of_template(it.clone()));
        #[cfg(not(feature = "response-templates"))]
        let template: Option<Profile> = None;
        #[cfg(feature = "toml")]
        let file = self.family_file.as_ref();
        #[cfg(not(feature = "toml"))]
        let file: Option<&Profile> = None;
        let given = [template.as_ref(), profile.as_ref(), file];
        let own = given.into_iter().flatten().next();
        let given = given.map(|given| given.is_some());
        let given = given.into_iter().chain([model.is_some(), family.is_some()]);
        let one_of = |names: &str| {
            let template = if cfg!(feature = "response-templates") { ", `template`" } else { "" };
            let file = if cfg!(feature = "toml") { ", `family_file`" } else { "" };
            SettingsError::new("", format!("{names}`model`, `family`{template}, `profile`{file}"))
        };
        if given.filter(|&given| given).count() > 1 {
            return Err(one_of("expected only one of "));
        }
        let of_model =
            |name, id: &str| profile_for_model(id).map_err(|error| SettingsError::new(name, error));
        match (model, family, own) {
            (Some(id), ..) => of_model("model", id),
            (_, Some(name), _) => {
                named_profile(name).map_err(|error| SettingsError::new("family", error))
            }
            (.., Some(own)) => Ok(own.clone()),
            (None, None, None) => {
                let id = self.request.as_ref().and_then(|body| body.get("model")?.as_str());
                let id = id.ok_or_else(|| {
                    let mut error = one_of("expected one of ");
                    error.add(", or a `request` with a model");
                    error
                })?;
                of_model("request", id)
            }
        }
    }

    /// Returns `profile` with the settings that belong to a profile.
    fn adjusted(&self, profile: &Profile) -> Profile {
        let mut profile = profile.clone();
        profile.whitespace = self.whitespace.unwrap_or(profile.whitespace);
        if let Some(suffix) = &self.token_suffix {
            profile.token_suffix = Some(suffix.clone());
        }
        profile
    }

    /// Returns a builder with these settings.
    ///
    /// # Errors
    /// As [`GuardSettings::profile`].
    pub fn builder(&self) -> Result<GuardBuilder, SettingsError> {
        self.named().map(|profile| self.builder_for(&profile))
    }

    /// Returns a builder with these settings for `profile`, in place of the profile that the
    /// settings name.
    #[must_use]
    pub fn builder_for(&self, profile: &Profile) -> GuardBuilder {
        let (mut calls, mut reasoning) = (CallOptions::default(), ReasoningOptions::default());
        calls.ids = self.ids.clone().unwrap_or_default();
        calls.in_code = self.in_code.unwrap_or_default();
        calls.argument_types = self.argument_types.unwrap_or_default();
        reasoning.start = self.start;
        let mut builder = Guard::builder(&self.adjusted(profile))
            .calls(calls)
            .reasoning(reasoning)
            .delivery(self.delivery.unwrap_or_default())
            .limits(self.limits.unwrap_or_default().into());
        if let Some(prompt) = &self.prompt {
            builder = builder.prompt(prompt);
        }
        if let Some(tokens) = &self.marker_tokens {
            builder = builder.marker_tokens(tokens.texts());
        }
        if let Some(request) = &self.request {
            builder = builder.request(request);
        }
        // The setting replaces the request's tools.
        if let Some(tools) = &self.tools {
            builder = builder.tools(tools.clone());
        }
        builder
    }

    /// Returns the guard of chat chunks with these settings. Chunks with token ids are read by
    /// their ids if the marker tokens have ids, and all others by their text.
    ///
    /// # Errors
    /// As [`GuardSettings::profile`] and [`GuardBuilder::build`]. Marker tokens without ids are
    /// refused, because chunks have ids.
    pub fn chat(&self, options: ChatOptions) -> Result<ChatGuard, SettingsError> {
        let builder = self.builder()?;
        let build =
            |builder: GuardBuilder| builder.build().map_err(|error| SettingsError::new("", error));
        let by_text = build(builder.clone().marker_tokens([""; 0]))?;
        let chat = ChatGuard::new(by_text, options);
        match &self.marker_tokens {
            None => Ok(chat),
            Some(tokens) if tokens.texts().is_empty() => Ok(chat),
            Some(TokenSettings::WithIds(tokens)) => Ok(chat.token_ids(build(builder)?, tokens)),
            Some(TokenSettings::Texts(_)) => {
                let problem =
                    "expected a mapping from texts to ids, because chunks are read by ids";
                Err(SettingsError::new("marker_tokens", problem))
            }
        }
    }
}
