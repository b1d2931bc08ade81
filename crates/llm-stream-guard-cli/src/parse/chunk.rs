//! Chunks of a chat completion: what each of their fields does to which choice.

use llm_stream_guard::End;
use serde_json::Value;

use crate::parse::{
    choices::{Choices, Step},
    native::Fragment,
    shown::Note,
};

/// What the chunks said about the stream as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// `[DONE]` came.
    pub(super) done: bool,
    /// There were chunks at all.
    pub(super) chunks: bool,
    /// The server reported an error.
    pub(super) error: bool,
}

/// Takes the data of one event: chunks, and perhaps `[DONE]`.
pub(super) fn payload(name: &str, data: &[u8], seen: &mut Seen, choices: &mut Choices<'_>) {
    let text = as_text(data, choices);
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    loop {
        // Not `[DONE]` read as the start of a JSON array.
        let rest = text[values.byte_offset()..].trim();
        match rest {
            "" => return,
            "[DONE]" => {
                seen.done = true;
                return;
            }
            _ => {}
        }
        match values.next() {
            Some(Ok(value)) if name == "error" && value.get("error").is_none() => {
                stream_error(&value, seen, choices);
            }
            Some(Ok(value)) => chunk(&value, text.len(), seen, choices),
            Some(Err(error)) => {
                note_bad("bad_chunk", rest.len(), &error, choices);
                return;
            }
            None => return,
        }
    }
}

/// Takes one line of JSON lines: a string is text of choice 0, an object a chunk.
pub(super) fn json_line(line: &[u8], seen: &mut Seen, choices: &mut Choices<'_>) {
    let text = as_text(line, choices);
    if text.trim().is_empty() {
        return;
    }
    match serde_json::from_str(&text) {
        Ok(Value::String(text)) => choices.step(0, Step::Text(text.as_bytes())),
        Ok(value @ Value::Object(_)) => chunk(&value, text.len(), seen, choices),
        Ok(_) => note_bad("bad_line", text.len(), &"expected a JSON string or a chunk", choices),
        Err(error) => note_bad("bad_line", text.len(), &error, choices),
    }
}

fn as_text<'d>(data: &'d [u8], choices: &mut Choices<'_>) -> std::borrow::Cow<'d, str> {
    let broken = data.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if broken > 0 {
        let count = Some(broken as u64);
        choices.note(Note { kind: "invalid_utf8", count, ..Note::default() });
    }
    String::from_utf8_lossy(data)
}

fn note_bad(kind: &str, bytes: usize, problem: &dyn std::fmt::Display, choices: &mut Choices<'_>) {
    let message = problem.to_string();
    let (bytes, message) = (Some(bytes as u64), Some(message.as_str()));
    choices.note(Note { kind, bytes, message, ..Note::default() });
}

fn chunk(value: &Value, bytes: usize, seen: &mut Seen, choices: &mut Choices<'_>) {
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        stream_error(error, seen, choices);
    } else if value.get("choices").is_none() {
        choices.note(Note { kind: "no_chunk", bytes: Some(bytes as u64), ..Note::default() });
    }
    // A usage chunk has an empty list or none.
    for (position, choice) in list(value.get("choices")).iter().enumerate() {
        seen.chunks = true;
        let index = choice.get("index").and_then(Value::as_u64).unwrap_or(position as u64);
        one_choice(u32::try_from(index).unwrap_or(u32::MAX), choice, seen, choices);
    }
}

fn stream_error(error: &Value, seen: &mut Seen, choices: &mut Choices<'_>) {
    seen.error = true;
    let message = message_of(error);
    choices.note(Note { kind: "error", message: Some(&message), ..Note::default() });
}

fn message_of(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}

fn one_choice(index: u32, choice: &Value, seen: &mut Seen, choices: &mut Choices<'_>) {
    // `message` where the response was not streamed.
    let delta = ["delta", "message"].into_iter().find_map(|key| choice.get(key)).unwrap_or(choice);
    let reasoning = ["reasoning_content", "reasoning"].into_iter();
    let reasoning = reasoning.filter_map(|key| delta.get(key)?.as_str()).find(|t| !t.is_empty());
    if let Some(text) = reasoning {
        choices.step(index, Step::Reasoning(text));
    }
    match delta.get("content").or_else(|| choice.get("text")) {
        Some(Value::String(text)) if !text.is_empty() => {
            choices.step(index, Step::Text(text.as_bytes()));
        }
        Some(Value::Array(parts)) => {
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                choices.step(index, Step::Text(text.as_bytes()));
            }
        }
        _ => {}
    }
    for (position, call) in list(delta.get("tool_calls")).iter().enumerate() {
        choices.step(index, Step::Call(fragment(position, call)));
    }
    if let Some(error) = choice.get("error").filter(|error| !error.is_null()) {
        seen.error = true;
        let message = message_of(error);
        let note = Note { kind: "error", message: Some(&message), ..Note::default() };
        choices.step(index, Step::Note(note));
    }
    if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
        let end = if reason == "length" { End::Length } else { End::Stop };
        choices.step(index, Step::End(end));
    }
}

fn fragment(position: usize, call: &Value) -> Fragment<'_> {
    let function = call.get("function").unwrap_or(call);
    Fragment {
        index: call.get("index").and_then(Value::as_u64).unwrap_or(position as u64),
        id: call.get("id").and_then(Value::as_str),
        name: function.get("name").and_then(Value::as_str),
        arguments: function.get("arguments").and_then(Value::as_str),
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
