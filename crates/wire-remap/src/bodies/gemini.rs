//! The shape of Gemini's `generateContent`.

use serde_json::{Value, json};

use super::{
    shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
    walk::{self, Visit},
};
use crate::tally::Location;

/// `models/{model}:generateContent` and `:streamGenerateContent`, of Google and compatible servers.
///
/// Members may be in camel case or snake case. A part with a thought signature is left unchanged,
/// because changed text would not match its signature.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeminiContents;

impl BodyShape for GeminiContents {
    fn check_request(&self, body: &Value) -> Result<(), BodyError> {
        match walk::object(body)?.get("contents") {
            Some(contents) => walk::check_objects(contents, "contents"),
            None => Err(BodyError::new("contents", "an array", None)),
        }
    }

    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        for name in ["systemInstruction", "system_instruction"] {
            if let Some(system) = body.get_mut(name) {
                parts(system, Location::System, visit);
            }
        }
        let count = walk::items(body, "contents").count();
        for (at, content) in walk::items(body, "contents").enumerate() {
            let location = match content.get("role").and_then(Value::as_str) {
                Some("model") if at + 1 == count => Location::Prefill,
                Some("model") => Location::Assistant,
                Some("function") => Location::ToolResult,
                _ => Location::User,
            };
            parts(content, location, visit);
        }
        for config in ["generationConfig", "generation_config"] {
            let Some(config) = body.get_mut(config) else { continue };
            for name in ["stopSequences", "stop_sequences"] {
                if let Some(stop) = config.get_mut(name) {
                    walk::strings(stop, Location::Stop, visit);
                }
            }
            for name in ["responseSchema", "responseJsonSchema", "response_schema"] {
                walk::tool(config, name, visit);
            }
        }
        for tool in walk::items(body, "tools") {
            for list in ["functionDeclarations", "function_declarations"] {
                for function in walk::items(tool, list) {
                    walk::tool(function, "parameters", visit);
                    for name in ["parametersJsonSchema", "response", "responseJsonSchema"] {
                        if let Some(schema) = function.get_mut(name) {
                            walk::schema(schema, visit);
                        }
                    }
                }
            }
        }
    }

    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        for candidate in walk::items(body, "candidates") {
            if let Some(content) = candidate.get_mut("content") {
                parts(content, Location::Content, visit);
            }
        }
    }

    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>)) {
        for (at, candidate) in walk::items(event, "candidates").enumerate() {
            let choice = index(candidate, at);
            if let Some(content) = candidate.get_mut("content") {
                for part in walk::items(content, "parts") {
                    let field =
                        if is_thought(part) { TextKind::Reasoning } else { TextKind::Content };
                    let signed = is_signed(part);
                    if let Some(Value::String(text)) = part.get_mut("text").filter(|_| !signed) {
                        visit(StreamEvent::Delta { id: TextId { choice, part: 0, field }, text });
                    }
                    // Calls and code that the server ran arrive whole.
                    others(part, &mut |field| visit(StreamEvent::Whole(field)));
                }
            }
            let ends = ["finishReason", "finish_reason"];
            if ends.iter().any(|name| candidate.get(*name).is_some_and(|it| !it.is_null())) {
                visit(StreamEvent::End { choice: Some(choice), part: None, field: None });
            }
        }
    }

    fn leftover(&self, event: &mut Value, id: TextId, text: &str) -> Option<Value> {
        let mut candidates = walk::items(event, "candidates").enumerate();
        let (_, candidate) = candidates.find(|(at, it)| index(it, *at) == id.choice)?;
        let content = candidate.as_object_mut()?.entry("content").or_insert_with(|| json!({}));
        let parts = content.as_object_mut()?.entry("parts").or_insert_with(|| json!([]));
        parts.as_array_mut()?.push(text_part(id, text));
        None
    }

    fn tail(&self, id: TextId, text: &str) -> Value {
        let content = json!({"role": "model", "parts": [text_part(id, text)]});
        json!({"candidates": [{"index": id.choice, "content": content}]})
    }
}

fn text_part(id: TextId, text: &str) -> Value {
    if id.field == TextKind::Reasoning {
        json!({"text": text, "thought": true})
    } else {
        json!({ "text": text })
    }
}

fn index(candidate: &Value, at: usize) -> u64 {
    candidate.get("index").and_then(Value::as_u64).unwrap_or(at as u64)
}

fn is_thought(part: &Value) -> bool {
    part.get("thought") == Some(&Value::Bool(true))
}

fn is_signed(part: &Value) -> bool {
    ["thoughtSignature", "thought_signature"].iter().any(|name| part.get(*name).is_some())
}

/// Visits the texts of a content's parts.
fn parts(content: &mut Value, location: Location, visit: &mut Visit<'_>) {
    walk::items(content, "parts").for_each(|part| one(part, location, visit));
}

/// Paths and locations of the texts of a part other than `text`.
const MEMBERS: [(&str, Location); 8] = [
    ("/functionCall/args", Location::Arguments),
    ("/function_call/args", Location::Arguments),
    ("/functionResponse/response", Location::ToolResult),
    ("/function_response/response", Location::ToolResult),
    ("/executableCode/code", Location::Arguments),
    ("/executable_code/code", Location::Arguments),
    ("/codeExecutionResult/output", Location::ToolResult),
    ("/code_execution_result/output", Location::ToolResult),
];

fn one(part: &mut Value, location: Location, visit: &mut Visit<'_>) {
    let location = if is_thought(part) { Location::Reasoning } else { location };
    if !is_signed(part) {
        walk::text(part.get_mut("text"), location, visit);
    }
    others(part, visit);
}

fn others(part: &mut Value, visit: &mut Visit<'_>) {
    for (path, location) in MEMBERS {
        if let Some(member) = part.pointer_mut(path) {
            walk::strings(member, location, visit);
        }
    }
}
