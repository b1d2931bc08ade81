//! The shape of OpenAI chat completions, and of the older completions with a raw prompt.

use serde_json::{Value, json};

use super::{
    shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
    walk::{self, Visit},
};
use crate::tally::Location;

/// `POST /v1/chat/completions` and `/v1/completions`, of OpenAI, vLLM, SGLang, llama.cpp, Ollama
/// and others.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiChat;

const TEXT_PARTS: &[&str] = &["text", "input_text", "output_text"];

impl BodyShape for OpenAiChat {
    fn check_request(&self, body: &Value) -> Result<(), BodyError> {
        let members = walk::object(body)?;
        match (members.get("messages"), members.get("prompt")) {
            (Some(messages), _) => walk::check_objects(messages, "messages"),
            (None, Some(Value::String(_) | Value::Array(_))) => Ok(()),
            (None, Some(prompt)) => {
                Err(BodyError::new("prompt", "a string or an array", Some(prompt)))
            }
            (None, None) => Err(BodyError::new("messages", "an array", None)),
        }
    }

    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        let count = walk::items(body, "messages").count();
        for (at, message) in walk::items(body, "messages").enumerate() {
            request_message(message, at + 1 == count, visit);
        }
        match body.get_mut("prompt") {
            Some(Value::Array(prompts)) => prompts
                .iter_mut()
                .for_each(|prompt| walk::text(Some(prompt), Location::Prompt, visit)),
            prompt => walk::text(prompt, Location::Prompt, visit),
        }
        walk::text(body.get_mut("suffix"), Location::Prompt, visit);
        for name in ["stop", "bad_words"] {
            if let Some(words) = body.get_mut(name) {
                walk::strings(words, Location::Stop, visit);
            }
        }
        if let Some(prediction) = body.get_mut("prediction") {
            walk::content(prediction.get_mut("content"), Location::Prediction, TEXT_PARTS, visit);
        }
        for tool in walk::items(body, "tools") {
            for kind in ["function", "custom"] {
                if let Some(definition) = tool.get_mut(kind) {
                    walk::tool(definition, "parameters", visit);
                }
            }
        }
        walk::format(body.pointer_mut("/response_format/json_schema"), visit);
        if let Some(documents) = body.get_mut("documents") {
            walk::strings(documents, Location::ToolResult, visit);
        }
        for function in walk::items(body, "functions") {
            walk::tool(function, "parameters", visit);
        }
    }

    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        for choice in walk::items(body, "choices") {
            if let Some(message) = choice.get_mut("message") {
                walk::content(message.get_mut("content"), Location::Content, TEXT_PARTS, visit);
                walk::text(message.get_mut("refusal"), Location::Refusal, visit);
                reasoning(message, visit);
                calls(message, visit);
            }
            walk::text(choice.get_mut("text"), Location::Content, visit);
            matched_stop(choice, visit);
        }
    }

    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>)) {
        for (at, choice) in walk::items(event, "choices").enumerate() {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
            let id = |part, field| TextId { choice: index, part, field };
            let mut delta = |value: Option<&mut Value>, id| {
                if let Some(Value::String(text)) = value {
                    visit(StreamEvent::Delta { id, text });
                }
            };
            delta(choice.get_mut("text"), id(0, TextKind::Content));
            if let Some(message) = choice.get_mut("delta") {
                for (name, field) in FIELDS {
                    delta(message.get_mut(*name), id(0, *field));
                }
                for (at, call) in walk::items(message, "tool_calls").enumerate() {
                    let part = call.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
                    let arguments = call.pointer_mut("/function/arguments");
                    delta(arguments, id(part, TextKind::Arguments));
                    delta(call.pointer_mut("/custom/input"), id(part, TextKind::Input));
                }
                // `function_call`, the older form, holds a single call without a number.
                let arguments = message.pointer_mut("/function_call/arguments");
                delta(arguments, id(u64::MAX, TextKind::Arguments));
            }
            matched_stop(choice, &mut |field| visit(StreamEvent::Whole(field)));
            if choice.get("finish_reason").is_some_and(|reason| !reason.is_null()) {
                visit(StreamEvent::End { choice: Some(index), part: None, field: None });
            }
        }
    }

    fn leftover(&self, event: &mut Value, id: TextId, text: &str) -> Option<Value> {
        let tail = self.tail(id, text);
        let mut at = 0u64;
        let choice = walk::items(event, "choices").find(|choice| {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(at);
            at += 1;
            index == id.choice
        })?;
        if let Some(Value::String(written)) =
            choice.get_mut("text").filter(|_| id.field == TextKind::Content)
        {
            written.push_str(text);
            return None;
        }
        let addition = tail.pointer("/choices/0/delta").cloned().unwrap_or_default();
        append(choice.as_object_mut()?.entry("delta").or_insert_with(|| json!({})), addition);
        None
    }

    fn tail(&self, id: TextId, text: &str) -> Value {
        let delta = match id.field {
            TextKind::Arguments if id.part == u64::MAX => {
                json!({"function_call": {"arguments": text}})
            }
            TextKind::Arguments => {
                json!({"tool_calls": [{"index": id.part, "function": {"arguments": text}}]})
            }
            TextKind::Input => {
                json!({"tool_calls": [{"index": id.part, "custom": {"input": text}}]})
            }
            field => {
                let name = FIELDS.iter().find(|(_, f)| *f == field).map_or("content", |(n, _)| n);
                json!({ name: text })
            }
        };
        let choice = json!({"index": id.choice, "delta": delta, "finish_reason": null});
        json!({"object": "chat.completion.chunk", "choices": [choice]})
    }
}

const FIELDS: &[(&str, TextKind)] = &[
    ("content", TextKind::Content),
    ("reasoning", TextKind::Reasoning),
    ("reasoning_content", TextKind::ReasoningContent),
    ("thinking", TextKind::Thinking),
    ("refusal", TextKind::Refusal),
];

fn request_message(message: &mut Value, last: bool, visit: &mut Visit<'_>) {
    let location = match message.get("role").and_then(Value::as_str) {
        Some("system") => Location::System,
        Some("developer") => Location::Developer,
        Some("assistant") if last => Location::Prefill,
        Some("assistant") => Location::Assistant,
        Some("tool" | "function") => Location::ToolResult,
        _ => Location::User,
    };
    walk::content(message.get_mut("content"), location, TEXT_PARTS, visit);
    walk::text(message.get_mut("refusal"), location, visit);
    reasoning(message, visit);
    calls(message, visit);
}

fn reasoning(message: &mut Value, visit: &mut Visit<'_>) {
    for name in ["reasoning", "reasoning_content", "thinking"] {
        walk::text(message.get_mut(name), Location::Reasoning, visit);
    }
    for detail in walk::items(message, "reasoning_details") {
        // Changed text would not match its signature.
        if detail.get("signature").is_none_or(Value::is_null) {
            walk::text(detail.get_mut("text"), Location::Reasoning, visit);
            walk::text(detail.get_mut("summary"), Location::Reasoning, visit);
        }
    }
}

fn calls(message: &mut Value, visit: &mut Visit<'_>) {
    for call in walk::items(message, "tool_calls") {
        walk::arguments(call.pointer_mut("/function/arguments"), visit);
        walk::text(call.pointer_mut("/custom/input"), Location::Arguments, visit);
    }
    walk::arguments(message.pointer_mut("/function_call/arguments"), visit);
}

/// Visits the stop sequence that fired, which some servers report.
fn matched_stop(choice: &mut Value, visit: &mut Visit<'_>) {
    for name in ["stop_reason", "matched_stop"] {
        walk::text(choice.get_mut(name), Location::Stop, visit);
    }
}

/// Appends one delta to another: joins strings, and matches tool calls by index.
fn append(to: &mut Value, addition: Value) {
    match (to, addition) {
        (Value::String(to), Value::String(text)) => to.push_str(&text),
        (Value::Object(to), Value::Object(members)) => {
            for (name, member) in members {
                if name == "index" {
                    to.insert(name, member);
                } else {
                    append(to.entry(name).or_insert(Value::Null), member);
                }
            }
        }
        (Value::Array(to), Value::Array(calls)) => {
            for call in calls {
                let found = to.iter_mut().find(|old| old.get("index") == call.get("index"));
                match found {
                    Some(old) => append(old, call),
                    None => to.push(call),
                }
            }
        }
        (to, addition) => *to = addition,
    }
}
