//! A request to parse a text, and the guard for it.

use std::sync::Arc;

use llm_stream_guard::{
    AddedTokens, End, Guard, GuardBuilder, GuardSettings, Profile, SettingsError, named_profile,
    profile_for_model,
};
use serde_json::{Map, Value, value::RawValue};

use super::{Intake as _, answer::Collected, fault, reader::ChatReader};
use crate::{
    body::{Body, each},
    config::ModelSettings,
    error::{Fault, expected},
    families::{Families, Family},
};

/// The fields of a request that are not settings of the guard.
const OWN: [&str; 4] = ["text", "chunks", "added_tokens", "finish"];

/// Settings that a request cannot have: tokens come as `added_tokens`, formats and limits belong to
/// the configuration, and an answer is whole.
const REFUSED: [&str; 6] =
    ["template", "profile", "request", "marker_tokens", "delivery", "limits"];

/// Returns the names of the settings that a request can have.
fn setting_names() -> impl Iterator<Item = &'static str> {
    GuardSettings::fields().iter().copied().filter(|name| !REFUSED.contains(name))
}

/// A request to parse one text.
#[derive(Debug)]
pub(super) struct Request {
    body: Body,
    input: Input,
}

/// The text of the model.
#[derive(Debug)]
enum Input {
    Text(String),
    /// A list of strings and chunk objects.
    Chunks(Box<RawValue>),
}

impl Request {
    pub(super) fn read(mut body: Body) -> Result<Self, Fault> {
        let known: Vec<_> = OWN.into_iter().chain(setting_names()).collect();
        if let Some(name) = body.names().find(|name| !known.contains(name)) {
            let what = format!("unknown field; known are {}", known.join(", "));
            return Err(fault(name, what));
        }
        let input = match (body.take("text")?, body.take_text("chunks")) {
            (Some(Value::String(text)), None) => Input::Text(text),
            (None, Some(chunks)) => Input::Chunks(chunks),
            (None, None) => return Err(expected("text", "a string, or `chunks`")),
            (Some(_), None) => return Err(expected("text", "a string")),
            (Some(_), Some(_)) => return Err(fault("chunks", "give `text` or `chunks`, not both")),
        };
        Ok(Self { body, input })
    }

    /// Parses the text and returns the message.
    pub(super) fn answer(mut self, families: &Families) -> Result<Value, Fault> {
        let (settings, given) = self.settings()?;
        let family = match (self.own_family()?, &settings.family_file) {
            (None, None) => family(&settings, families)?,
            (Some(own), None) => own,
            (None, Some(file)) if settings.family.is_none() && settings.model.is_none() => {
                Family::from(file.clone())
            }
            (_, Some(_)) => {
                return Err(fault("family_file", "give it, or `model`, or `family`"));
            }
        };
        let tokens = self.added_tokens(&family)?;
        let settings = family.settings().with(given).map_err(refused)?;
        let builder = family.builder_with(&settings);
        let by_tokens = tokens
            .as_ref()
            .map(|tokens| built("added_tokens", builder.clone().marker_tokens(tokens.texts())));
        let (guard, by_tokens) = (built("family", builder)?, by_tokens.transpose()?);
        let end = match self.body.get("finish")? {
            None => None,
            Some(Value::String(word)) => {
                let end = word.parse::<End>();
                Some(end.map_err(|_| expected("finish", "`stop`, `length` or `aborted`"))?)
            }
            Some(_) => return Err(expected("finish", "a string")),
        };
        let mut collected = Collected::default();
        let mut reader = ChatReader::new(guard, None, &mut collected);
        if let (Some(guard), Some(tokens)) = (by_tokens, &tokens) {
            reader = reader.token_ids(guard, tokens);
        }
        match self.input {
            Input::Text(text) => reader.text(text),
            Input::Chunks(chunks) => each(&chunks, "chunks", &mut |number, chunk| {
                if !chunk.get().starts_with(['"', '{']) {
                    let what = "a string or an object";
                    return Err(expected(&format!("chunks[{number}]"), what));
                }
                reader.json("", chunk.get().as_bytes());
                Ok(())
            })?,
        }
        reader.finish(end, false);
        drop(reader);
        Ok(collected.into_json(family.name()))
    }

    /// Returns the family whose file the request holds.
    ///
    /// A request holds the content of a family's file, not its path: files of the server are not
    /// for its clients.
    fn own_family(&mut self) -> Result<Option<Family>, Fault> {
        let Some(file @ Value::Object(_)) = self.body.get("family")? else { return Ok(None) };
        let profile = Profile::from_family_json(&file.to_string());
        profile.map(Family::from).map(Some).map_err(|error| fault("family", error))
    }

    /// Returns the settings of the request, and their values.
    fn settings(&mut self) -> Result<(GuardSettings, Map<String, Value>), Fault> {
        let mut given = Map::new();
        for name in setting_names() {
            let own_family = |value: &Value| name == "family" && value.is_object();
            if let Some(value) = self.body.get(name)?.filter(|value| !own_family(value)) {
                given.insert(name.to_owned(), value);
            }
        }
        let settings = ModelSettings::default().with(given.clone()).map_err(refused)?;
        Ok((settings, given))
    }

    /// Returns the added tokens of the request, or of the configured checkpoint.
    fn added_tokens(&mut self, family: &Family) -> Result<Option<AddedTokens>, Fault> {
        let Some(list) = self.body.take_text("added_tokens") else {
            return Ok(family.tokens().cloned());
        };
        if matches!(self.input, Input::Text(_)) {
            return Err(fault("added_tokens", "expected `chunks` beside it: a text has no ids"));
        }
        match AddedTokens::from_json(&format!(r#"{{"added_tokens": {}}}"#, list.get())) {
            Ok(tokens) => Ok(Some(tokens)),
            Err(error) => {
                let what = format!("a list of objects with `id` and `content`: {error}");
                Err(expected("added_tokens", &what))
            }
        }
    }
}

/// Returns the family that the request names, or the family of its model.
fn family(settings: &GuardSettings, families: &Families) -> Result<Family, Fault> {
    match (&settings.family, &settings.model) {
        (Some(name), _) => {
            named_profile(name).map(Family::from).map_err(|error| fault("family", error))
        }
        (None, Some(id)) => match families.find(id) {
            Some(family) => Ok(Arc::unwrap_or_clone(family)),
            None => profile_for_model(id)
                .map(|profile| families.with_tokens(Arc::new(profile.into()), id))
                .map(Arc::unwrap_or_clone)
                .map_err(|error| fault("model", error)),
        },
        (None, None) => Err(expected("model", "the model's id, or `family`, or `family_file`")),
    }
}

/// Returns the fault of a refused setting.
fn refused(error: SettingsError) -> Fault {
    fault(error.field(), error.problem())
}

/// Builds the guard, or returns a fault at `field`.
fn built(field: &str, builder: GuardBuilder) -> Result<Guard, Fault> {
    builder.build().map_err(|error| fault(field, error))
}
