//! The family and the settings of a model in a configuration.

use std::{fmt, path::Path, str::FromStr};

use llm_stream_guard::{Profile, profile, profile_for_model};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    checkpoint::CheckpointTokens,
    endpoint::EndpointName,
    settings::{ModelSettings, SettingSeed},
};

/// The name of a family: a profile's name, a model's id, the file of a family (TOML, or JSON by its
/// extension), or a JSON file with a checkpoint's own response template.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyName {
    written: String,
    profile: Profile,
    is_own: bool,
}

impl FamilyName {
    /// Returns the profile of the family.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Reads the family of a checkpoint from a file with its response template.
    ///
    /// # Errors
    /// As [`read_template`].
    pub fn of_template(path: &Path) -> Result<Self, String> {
        let profile = read_template(path)?;
        Ok(Self { written: path.display().to_string(), profile, is_own: false })
    }

    /// Returns whether the family comes from a file.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }
}

/// Reads the file of a checkpoint that has a response template: `tokenizer_config.json`, or the
/// template alone.
///
/// # Errors
/// The file cannot be read, or has no valid template. The error names file, field, key and
/// position.
pub fn read_template(path: &Path) -> Result<Profile, String> {
    let fault = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
    Profile::from_response_template(&text).map_err(|error| fault(&error))
}

/// Returns whether a JSON file holds a template or a tokenizer's configuration, not a family.
fn is_template(path: &Path) -> bool {
    const KEYS: [&str; 5] = [
        "response_template",
        "response_schema",
        "chat_template",
        "start_anchor",
        "start_anchor_pattern",
    ];
    let read = std::fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok());
    read.is_some_and(|it: serde_json::Value| {
        it.is_string() || KEYS.iter().any(|key| it.get(key).is_some())
    })
}

impl FromStr for FamilyName {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let path = Path::new(written);
        let of = |profile, is_own| Self { written: written.to_owned(), profile, is_own };
        let ends = |wanted: &str| path.extension().is_some_and(|kind| kind == wanted);
        if ends("json") && is_template(path) {
            return Self::of_template(path);
        }
        if ends("toml") || ends("json") {
            let profile = Profile::from_family_file(path).map_err(|error| error.to_string())?;
            return Ok(of(profile, true));
        }
        match profile(written) {
            Ok(profile) => Ok(of(profile, false)),
            Err(unknown) => match profile_for_model(written) {
                Ok(profile) => Ok(of(profile, false)),
                Err(_) => Err(unknown.to_string()),
            },
        }
    }
}

impl Serialize for FamilyName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The settings for the models of a pattern: a family, or a table with more.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Model {
    /// Family of the models, if the requested id does not name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<FamilyName>,
    /// Delimiters that are replaced on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remap: Option<Remap>,
    /// Where the models find the tools of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsIn>,
    /// The checkpoint of the models, if it differs from [`super::Config::checkpoint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointTokens>,
    /// The server of the models, if it differs from [`super::Config::upstream`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<EndpointName>,
    /// The model's id at the server. Answers have the id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Settings of the guard: where answers begin, white space, limits.
    #[serde(flatten)]
    pub settings: ModelSettings,
}

/// A replacement of delimiters on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remap {
    /// `<tool_call>` and its kin, exact.
    Hermes,
    /// A bare swap of the same.
    HermesPlain,
}

impl Remap {
    /// Returns the name of the remapping in a [`Profile`].
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Hermes => "hermes",
            Self::HermesPlain => "hermes_plain",
        }
    }
}

/// Where models find the tools of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolsIn {
    /// In the request: the chat template declares them.
    Request,
    /// In the messages, as text. The request has no tools.
    Prompt,
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> de::Visitor<'de> for Either {
            type Value = Model;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a family's name, or a table with `profile`, `upstream` or `model`")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Model, E> {
                let profile = Some(name.parse().map_err(E::custom)?);
                Ok(Model { profile, ..Model::default() })
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Model, A::Error> {
                let mut table = Model::default();
                let Model { profile, remap, tools, checkpoint, upstream, model, settings } =
                    &mut table;
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "profile" => *profile = Some(map.next_value()?),
                        "remap" => *remap = Some(map.next_value()?),
                        "tools" => *tools = Some(map.next_value()?),
                        "checkpoint" => *checkpoint = Some(map.next_value()?),
                        "upstream" => *upstream = Some(map.next_value()?),
                        "model" => *model = Some(map.next_value()?),
                        name if ModelSettings::names().any(|known| known == name) => {
                            map.next_value_seed(SettingSeed { name, settings })?;
                        }
                        _ => return Err(unknown(&name)),
                    }
                }
                Ok(table)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// The fields of a model's table besides [`ModelSettings`].
const FIELDS: [&str; 6] = ["profile", "remap", "tools", "checkpoint", "upstream", "model"];

/// Returns the error for an unknown field of a model's table.
fn unknown<E: de::Error>(name: &str) -> E {
    let known = FIELDS.into_iter().chain(ModelSettings::names());
    let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
    E::custom(format!("unknown field `{name}`, expected one of {}", known.join(", ")))
}
