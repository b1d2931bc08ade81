//! Builds a guard from the command line. Each error names its place.

use std::path::Path;

use llm_stream_guard::{Guard, GuardBuilder, GuardSettings, Profile, Start, Tools};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::{
    args::{ReadingArgs, SettingArgs},
    error::{Error, misuse},
};

/// Returns the guard for streams of `profile`. Each choice uses a clone of it.
///
/// # Errors
/// A file of tools is malformed, a limit is zero, or `--start reasoning` is set for a
/// family without reasoning.
pub(crate) fn guard(args: &ReadingArgs, profile: &Profile) -> Result<Guard, Error> {
    builder(args, profile)?.build().map_err(misuse)
}

/// Returns the builder of the guard for streams of `profile`.
pub(crate) fn builder(args: &ReadingArgs, profile: &Profile) -> Result<GuardBuilder, Error> {
    builder_with(&read_settings(&args.settings)?, profile)
}

/// Returns the builder of the guard for streams of `profile` with settings that were read.
pub(super) fn builder_with(
    settings: &GuardSettings,
    profile: &Profile,
) -> Result<GuardBuilder, Error> {
    let own = profile.response_template.is_some() || profile.format.is_some();
    if settings.start == Some(Start::Reasoning) && profile.reasoning.is_none() && !own {
        return Err(misuse(format!(
            "--start reasoning: `{}` has no reasoning format, so nothing would end it",
            profile.name
        )));
    }
    Ok(settings.builder_for(profile))
}

/// Returns the settings of the arguments. Limits of zero are refused where the guard is built.
pub(super) fn read_settings(args: &SettingArgs) -> Result<GuardSettings, Error> {
    let mut settings = GuardSettings::from(args);
    settings.tools = args.tools.as_deref().map(read_tools).transpose()?;
    if let Some(path) = &args.prompt {
        let fault = |error| misuse(format!("--prompt {}: {error}", path.display()));
        settings.prompt = Some(std::fs::read_to_string(path).map_err(fault)?);
    }
    Ok(settings)
}

/// Reads a file of tools.
///
/// # Errors
/// The file cannot be read or is not an array of tools. The error names file, line and column.
pub(crate) fn read_tools(path: &Path) -> Result<Tools, Error> {
    let fault =
        |error: &dyn std::fmt::Display| misuse(format!("--tools {}: {error}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| fault(&error))?;
    let entries: Vec<Entry> = serde_json::from_slice(&bytes).map_err(|error| fault(&error))?;
    let entries = Value::Array(entries.into_iter().map(|Entry(entry)| entry).collect());
    Tools::from_json(&entries).map_err(|error| fault(&error))
}

/// A tool. Checks during parsing give its errors a line and column.
struct Entry(Value);

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entry = Value::deserialize(deserializer)?;
        let function = entry.get("function").unwrap_or(&entry);
        match function.get("name") {
            Some(Value::String(_)) => Ok(Self(entry)),
            _ => Err(D::Error::custom(
                "expected a tool, an object with a string at `function.name` or `name`, \
                 before this place",
            )),
        }
    }
}
