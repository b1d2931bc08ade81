//! Text completions, `POST /v1/completions`.
//!
//! A choice has `text`, and also the fields of a chat completion's message: reasoning,
//! `tool_calls`.

use llm_stream_guard::chat::{
    ChatChunk as _, ChatStep, Chunk, Completion, Content, Field, MessageDelta,
};
use serde_json::{Map, Value};

use super::{
    chat,
    encoded::{Encoder, write_json},
    fields::{KEEP_ALIVE, expected},
};
use crate::{
    body::{Body, each},
    error::Fault,
};

/// Fields of chat completions that decide how the answer is read. They are not sent to upstream.
const OURS: [&str; 3] = ["tools", "tool_choice", "parallel_tool_calls"];

/// Returns the request if its answer can be guarded: one prompt, which the answer does not repeat.
///
/// # Errors
/// The request has several prompts, or asks to repeat the prompt. The fault names the field.
pub(crate) fn request(body: Body) -> Result<Body, Fault> {
    if body.is("echo", "true") {
        return Err(expected("echo", "`false` where the answer is guarded"));
    }
    if let Some(prompts) = body.text("prompt").filter(|prompt| prompt.get().starts_with('[')) {
        let (mut count, mut tokens) = (0_usize, true);
        each(prompts, "prompt", &mut |_, prompt| {
            count = count.saturating_add(1);
            tokens &= prompt.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
            Ok(())
        })?;
        if count > 1 && !tokens {
            return Err(expected("prompt", "one prompt where the answer is guarded"));
        }
    }
    Ok(body)
}

/// Removes the fields that are not sent to upstream.
pub(crate) fn strip(body: &mut Body) {
    OURS.iter().for_each(|name| drop(body.take_text(name)));
}

/// Writes the events of a completion.
#[derive(Debug)]
pub(crate) struct CompletionsEvents;

impl Encoder for CompletionsEvents {
    fn read(&self, said: Value) -> Option<Chunk> {
        let mut chunk = said.into_chunk().ok()?;
        for choice in &mut chunk.choices {
            if let Some(Value::String(text)) = choice.extra.shift_remove("text") {
                choice.delta.content = Field::Value(Content::Text(text));
            }
        }
        Some(chunk)
    }

    fn step(&mut self, step: ChatStep<'_>, out: &mut Vec<u8>) {
        step.chunks(|chunk, _| write_chunk(chunk, out));
    }

    fn end(&mut self, _: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("data: {}\n\n", chat::fault(fault)).as_bytes());
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(KEEP_ALIVE);
    }
}

/// Writes a chunk as an event of a text completion.
fn write_chunk(chunk: Chunk, out: &mut Vec<u8>) {
    let Chunk { choices, usage, fields: mut event } = chunk;
    let choices = choices.into_iter().map(|choice| {
        let mut fields = beside(&choice.delta);
        fields.insert("index".into(), choice.index.into());
        fields.insert("finish_reason".into(), choice.finish_reason.into_value().into());
        fields.insert("logprobs".into(), choice.logprobs.into_value().into());
        fields.extend(choice.extra);
        Value::from(fields)
    });
    event.insert("choices".into(), choices.collect());
    if !usage.is_missing() {
        event.insert("usage".into(), usage.into_value().into());
    }
    out.extend_from_slice(b"data: ");
    write_json(&event.into(), out);
    out.extend_from_slice(b"\n\n");
}

/// Converts upstream's whole answer into the form of a chat completion.
#[must_use]
pub(crate) fn read(mut said: Value) -> Value {
    let choices = said.get_mut("choices").and_then(Value::as_array_mut);
    for choice in choices.into_iter().flatten().filter_map(Value::as_object_mut) {
        let text = choice.shift_remove("text").unwrap_or_default();
        choice.insert("message".into(), [("content".to_owned(), text)].into_iter().collect());
    }
    said
}

/// Returns a whole completion.
#[must_use]
pub(crate) fn whole(completion: &Completion) -> Value {
    // Strings, numbers and maps with string keys are always valid JSON.
    let mut said = serde_json::to_value(completion).unwrap_or_default();
    let choices = said.get_mut("choices").and_then(Value::as_array_mut);
    let choices = choices.into_iter().flatten().filter_map(Value::as_object_mut);
    for (choice, read) in choices.zip(&completion.choices) {
        choice.shift_remove("message");
        choice.extend(beside(&read.message));
    }
    said
}

/// Returns the further fields of a delta, or of a message, as fields of a choice.
fn beside(delta: &MessageDelta) -> Map<String, Value> {
    let text = delta.text().unwrap_or_default().into();
    let said = serde_json::to_value(delta).unwrap_or_default();
    let Value::Object(mut fields) = said else { return Map::new() };
    fields.retain(|name, value| name != "role" && !value.is_null());
    fields.shift_remove("content");
    fields.insert("text".into(), text);
    fields
}
