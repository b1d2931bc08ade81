//! Builds a guard from the command line. Each error names its place.

use std::path::Path;

use llm_stream_guard::{
    CallOptions, Delivery, End, Guard, GuardBuilder, Ids, Limits, Profile, ReasoningOptions, Start,
    Tools, Whitespace,
};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::{
    args::{DeliveryArg, FinishArg, ReadingArgs, StartArg, WhitespaceArg},
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
    let mut profile = profile.clone();
    if let Some(whitespace) = args.whitespace {
        profile.whitespace = match whitespace {
            WhitespaceArg::Framing => Whitespace::Framing,
            WhitespaceArg::Verbatim => Whitespace::Verbatim,
            WhitespaceArg::Trim => Whitespace::Trim,
        };
    }
    // Counted ids give the same output for the same recording.
    let mut calls = CallOptions::default();
    calls.ids = Ids::counting();
    let mut builder = Guard::builder(&profile)
        .calls(calls)
        .tools(args.tools.as_deref().map(read_tools).transpose()?.unwrap_or_default())
        .limits(limits(args))
        .delivery(match args.delivery {
            DeliveryArg::Streaming => Delivery::Streaming,
            DeliveryArg::Atomic => Delivery::Atomic,
        });
    if let Some(start) = args.start {
        let own = profile.response_template.is_some() || profile.format.is_some();
        if start == StartArg::Reasoning && profile.reasoning.is_none() && !own {
            return Err(misuse(format!(
                "--start reasoning: `{}` has no reasoning format, so nothing would end it",
                profile.name
            )));
        }
        let mut reasoning = ReasoningOptions::default();
        reasoning.start = Some(match start {
            StartArg::Reasoning => Start::Reasoning,
            StartArg::Content => Start::Content,
        });
        builder = builder.reasoning(reasoning);
    }
    if let Some(path) = &args.prompt {
        let fault = |error| misuse(format!("--prompt {}: {error}", path.display()));
        builder = builder.prompt(&std::fs::read_to_string(path).map_err(fault)?);
    }
    Ok(builder)
}

/// Returns how the stream ended, if the arguments say so.
#[must_use]
pub(crate) fn end(args: &ReadingArgs) -> Option<End> {
    args.finish.map(|finish| match finish {
        FinishArg::Stop => End::Stop,
        FinishArg::Length => End::Length,
    })
}

/// Limits of zero are refused where the guard is built.
fn limits(args: &ReadingArgs) -> Limits {
    let default = Limits::default();
    Limits {
        candidate: args.limit_candidate.unwrap_or(default.candidate),
        whitespace: args.limit_whitespace.unwrap_or(default.whitespace),
        depth: args.limit_depth.unwrap_or(default.depth),
        ..default
    }
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
