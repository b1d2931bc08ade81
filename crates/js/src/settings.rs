//! The settings of a guard, which the package's functions take as an object.
//!
//! JavaScript spells names in camel case:
//!
//! ```text
//! {"family": "qwen3", "tokenSuffix": ":6124c78e"}    of JavaScript
//! {"family": "qwen3", "token_suffix": ":6124c78e"}   of the library
//! ```

#[cfg(feature = "names")]
use llm_stream_guard::Tools;
#[cfg(feature = "chat")]
use llm_stream_guard::chat::{ChatGuard, ChatOptions};
use llm_stream_guard::{
    End, Guard, GuardBuilder, GuardSettings, Profile, SettingsError, TokenSettings,
};
use serde_json::{Map, Value};
use wasm_bindgen::JsValue;

#[cfg(feature = "family-files")]
use crate::family_files;
use crate::{fault, not_in_core, profiles};

/// The settings that only the whole module has: their readers are a large part of it.
const ONLY_WHOLE: [&str; 2] = ["familyFile", "template"];

/// The settings, of which one names the format of the text.
const NAMES: [&str; 5] = ["model", "family", "template", "profile", "family_file"];

/// The settings of an object. `null` counts as absent.
#[derive(Debug)]
pub(crate) struct Settings {
    read: GuardSettings,
    /// Whether a setting names the format, and not only the model of the request.
    is_named: bool,
}

impl Settings {
    /// Reads the JSON text of settings.
    pub(crate) fn read(json: &str) -> Result<Self, JsValue> {
        let given: Map<String, Value> = serde_json::from_str(json).map_err(fault)?;
        let mut settings = Map::new();
        for (name, value) in given {
            match GuardSettings::fields().iter().find(|known| camel_case(known) == name) {
                Some(known) if !value.is_null() => {
                    settings.insert((*known).to_owned(), value);
                }
                None if !value.is_null() || !ONLY_WHOLE.contains(&&*name) => {
                    return Err(unexpected(&name));
                }
                _ => {}
            }
        }
        let named: Vec<_> = NAMES.into_iter().filter(|&name| settings.contains_key(name)).collect();
        let is_named = !named.is_empty();
        let is_by_id = named.iter().all(|&name| name == "model");
        #[cfg(feature = "family-files")]
        let read = family_files::read(settings);
        #[cfg(not(feature = "family-files"))]
        let read = GuardSettings::from_json(&settings.into());
        let mut read = read.map_err(refused)?;
        if is_by_id {
            read = profiles::looked_up(read);
        }
        Ok(Self { read, is_named })
    }

    /// Returns the profile as [`Settings::profile`] does. Returns `None` if nothing names it, or only
    /// the model of the request, which is unknown.
    pub(crate) fn known_profile(&self) -> Result<Option<Profile>, JsValue> {
        match self.profile() {
            Err(_) if !self.is_named => Ok(None),
            named => named.map(Some),
        }
    }

    /// Returns whether delimiters are remapped. Only a profile of the program's own can say so.
    pub(crate) fn remaps(&self) -> bool {
        self.read.profile.as_ref().is_some_and(|profile| profile.remap.is_some())
    }

    /// Returns whether the settings have ids of tokens.
    pub(crate) fn has_token_ids(&self) -> bool {
        matches!(self.read.marker_tokens, Some(TokenSettings::WithIds(_)))
    }

    /// Returns the profile that the settings name, changed by the settings that belong to a
    /// profile.
    pub(crate) fn profile(&self) -> Result<Profile, JsValue> {
        self.read.profile().map_err(unnamed)
    }

    /// Returns the tools that the settings declare.
    #[cfg(feature = "names")]
    pub(crate) fn tools(&self) -> Option<&Tools> {
        self.read.tools.as_ref()
    }

    /// Returns the builder of the guard for `profile` with all other settings.
    pub(crate) fn builder(&self, profile: &Profile) -> GuardBuilder {
        self.read.builder_for(profile)
    }

    /// Builds the guard for the settings, and returns it with its profile.
    pub(crate) fn guard(&self) -> Result<(Profile, Guard), JsValue> {
        let profile = self.profile()?;
        let guard = self.builder(&profile).build().map_err(fault)?;
        Ok((profile, guard))
    }

    /// Builds the guard of chat chunks.
    #[cfg(feature = "chat")]
    pub(crate) fn chat(&self, options: ChatOptions) -> Result<ChatGuard, JsValue> {
        self.profile()?;
        self.read.chat(options).map_err(refused)
    }
}

/// Reads the settings that only chat completions have: `calls` and `brokenCalls`.
#[cfg(feature = "chat")]
pub(crate) fn chat_options(json: &str) -> Result<ChatOptions, JsValue> {
    let given: Map<String, Value> = serde_json::from_str(json).map_err(fault)?;
    let mut options = ChatOptions::default();
    for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let read = match name.as_str() {
            "calls" => serde_json::from_value(value).map(|calls| options.calls = calls),
            _ => serde_json::from_value(value).map(|broken| options.broken_calls = broken),
        };
        read.map_err(|error| fault(format!("{name}: {error}")))?;
    }
    Ok(options)
}

/// Returns an exception for a setting that is not known here.
fn unexpected(name: &str) -> JsValue {
    if ONLY_WHOLE.contains(&name) {
        return not_in_core(name, "does not read it");
    }
    let names = GuardSettings::fields().iter().map(|name| camel_case(name));
    let names = names.collect::<Vec<_>>().join(", ");
    fault(format!("unexpected setting `{name}`; expected one of {names}"))
}

/// Returns an exception for refused settings, with the name that JavaScript has for the setting.
fn refused(error: SettingsError) -> JsValue {
    match error.field() {
        "" => fault(error.problem()),
        name => fault(format!("{}: {}", camel_case(name), error.problem())),
    }
}

/// Returns an exception for settings that name no profile. Its first word is the error's code.
fn unnamed(error: SettingsError) -> JsValue {
    let code = match error.field() {
        "model" | "request" => "unknown_model",
        "family" => "unknown_family",
        _ => return refused(error),
    };
    // The library's advice is for those who use the command.
    let problem = error.problem().split(". What to do:").next().unwrap_or_default();
    let advice = "`families` lists all names, and `detect` finds the family of a text";
    fault(format!("[{code}] {}: {problem}. What to do: {advice}", camel_case(error.field())))
}

/// Returns `token_suffix` as `tokenSuffix`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        joined.push_str(&first.to_ascii_uppercase());
        joined.push_str(rest);
    }
    joined
}

/// Reads the word for how a stream ended.
pub(crate) fn end(text: &str) -> Result<End, JsValue> {
    text.parse().map_err(fault)
}
