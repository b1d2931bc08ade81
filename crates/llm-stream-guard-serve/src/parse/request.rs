//! A request to parse a text, and the guard for it.

use std::sync::Arc;

use llm_stream_guard::{
    AddedTokens, End, Guard, GuardBuilder, Profile, Start, Tools, Whitespace, named_profile,
    profile_for_model,
};
use serde_json::{Value, value::RawValue};

use super::{Intake as _, answer::Collected, fault, reader::ChatReader};
use crate::{
    body::{Body, each},
    error::{Fault, expected},
    families::{Families, Family, starting},
};

/// The fields of a request.
const FIELDS: [&str; 10] = [
    "text",
    "chunks",
    "added_tokens",
    "model",
    "family",
    "tools",
    "prompt",
    "start",
    "finish",
    "whitespace",
];

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
        if let Some(name) = body.names().find(|name| !FIELDS.contains(name)) {
            let what = format!("unknown field; known are {}", FIELDS.join(", "));
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
        let family = self.family(families)?;
        let tokens = self.added_tokens(&family)?;
        let builder = self.builder(family.clone())?;
        let by_tokens = tokens
            .as_ref()
            .map(|tokens| built("added_tokens", builder.clone().marker_tokens(tokens.texts())));
        let (guard, by_tokens) = (built("family", builder)?, by_tokens.transpose()?);
        let end = match self.word("finish")?.as_deref() {
            None => None,
            Some("stop") => Some(End::Stop),
            Some("length") => Some(End::Length),
            Some(_) => return Err(expected("finish", "`stop` or `length`")),
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

    /// Returns the family that the request names or holds, or the family of its model.
    ///
    /// A request holds the content of a family's file, not its path: files of the server are not
    /// for its clients.
    fn family(&mut self, families: &Families) -> Result<Family, Fault> {
        if let Some(file @ Value::Object(_)) = self.body.get("family")? {
            let profile = Profile::from_family_json(&file.to_string());
            return profile.map(Family::from).map_err(|error| fault("family", error));
        }
        match (self.word("family")?, self.word("model")?) {
            (Some(name), _) => {
                named_profile(&name).map(Family::from).map_err(|error| fault("family", error))
            }
            (None, Some(id)) => match families.find(&id) {
                Some(family) => Ok(Arc::unwrap_or_clone(family)),
                None => profile_for_model(&id)
                    .map(|profile| families.with_tokens(Arc::new(profile.into()), &id))
                    .map(Arc::unwrap_or_clone)
                    .map_err(|error| fault("model", error)),
            },
            (None, None) => Err(expected("model", "the model's id, or `family`")),
        }
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

    fn builder(&mut self, family: Family) -> Result<GuardBuilder, Fault> {
        let family = match self.word("whitespace")?.as_deref() {
            None => family,
            Some("framing") => family.with_whitespace(Whitespace::Framing),
            Some("verbatim") => family.with_whitespace(Whitespace::Verbatim),
            Some("trim") => family.with_whitespace(Whitespace::Trim),
            Some(_) => return Err(expected("whitespace", "`framing`, `verbatim` or `trim`")),
        };
        let mut builder = family.builder();
        if let Some(tools) = self.body.get("tools")? {
            let tools = Tools::from_json(&tools).map_err(|error| fault("tools", error))?;
            builder = builder.tools(tools);
        }
        if let Some(prompt) = self.word("prompt")? {
            builder = builder.prompt(&prompt);
        }
        builder = match self.word("start")?.as_deref() {
            None => builder,
            Some("reasoning") => builder.reasoning(starting(Start::Reasoning)),
            Some("content") => builder.reasoning(starting(Start::Content)),
            Some(_) => return Err(expected("start", "`reasoning` or `content`")),
        };
        Ok(builder)
    }

    /// Removes a field and returns its string.
    fn word(&mut self, name: &str) -> Result<Option<String>, Fault> {
        match self.body.get(name)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(expected(name, "a string")),
        }
    }
}

/// Builds the guard, or returns a fault at `field`.
fn built(field: &str, builder: GuardBuilder) -> Result<Guard, Fault> {
    builder.build().map_err(|error| fault(field, error))
}
