//! The shape of Anthropic messages.

use serde_json::{Value, json};

use super::{
    shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
    walk::{self, Members, Reading, Visit},
};
use crate::tally::Location;

/// `POST /v1/messages`, of Anthropic and compatible servers.
///
/// A thinking block with a signature is left unchanged, because changed text would not match its
/// signature.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnthropicMessages;

const TEXT_PARTS: &[&str] = &["text"];

impl BodyShape for AnthropicMessages {
    fn check_request(&self, body: &Value) -> Result<(), BodyError> {
        match walk::object(body)?.get("messages") {
            Some(messages) => walk::check_objects(messages, "messages"),
            None => Err(BodyError::new("messages", "an array", None)),
        }
    }

    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        walk::content(body.get_mut("system"), Location::System, TEXT_PARTS, visit);
        let count = walk::items(body, "messages").count();
        for (at, message) in walk::items(body, "messages").enumerate() {
            let location = match message.get("role").and_then(Value::as_str) {
                Some("assistant") if at + 1 == count => Location::Prefill,
                Some("assistant") => Location::Assistant,
                Some("system") => Location::System,
                _ => Location::User,
            };
            blocks(message.get_mut("content"), location, visit);
        }
        if let Some(stop) = body.get_mut("stop_sequences") {
            walk::strings(stop, Location::Stop, visit);
        }
        for tool in walk::items(body, "tools") {
            walk::tool(tool, "input_schema", visit);
        }
    }

    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        blocks(body.get_mut("content"), Location::Content, visit);
        walk::text(body.get_mut("stop_sequence"), Location::Stop, visit);
    }

    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>)) {
        let part = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        let end = |part| StreamEvent::End { choice: Some(0), part, field: None };
        let mut whole = |value: Option<&mut Value>| {
            walk::text(value, Location::Stop, &mut |field| visit(StreamEvent::Whole(field)));
        };
        match walk::kind(event) {
            Some("content_block_start") => {
                let start = event.get_mut("content_block");
                deltas(
                    start,
                    &[("text", TextKind::Content), ("thinking", TextKind::Reasoning)],
                    part,
                    visit,
                );
            }
            Some("content_block_delta") => {
                deltas(event.get_mut("delta"), FIELDS, part, visit);
            }
            Some("content_block_stop") => visit(end(Some(part))),
            Some("message_delta") => whole(event.pointer_mut("/delta/stop_sequence")),
            Some("message_stop") => visit(end(None)),
            _ => {}
        }
    }

    fn leftover(&self, _: &mut Value, id: TextId, text: &str) -> Option<Value> {
        Some(self.tail(id, text))
    }

    fn tail(&self, id: TextId, text: &str) -> Value {
        let delta = match id.field {
            TextKind::Reasoning => json!({"type": "thinking_delta", "thinking": text}),
            TextKind::Arguments => json!({"type": "input_json_delta", "partial_json": text}),
            _ => json!({"type": "text_delta", "text": text}),
        };
        json!({"type": "content_block_delta", "index": id.part, "delta": delta})
    }
}

const FIELDS: &[(&str, TextKind)] = &[
    ("text", TextKind::Content),
    ("thinking", TextKind::Reasoning),
    ("partial_json", TextKind::Arguments),
];

fn deltas(
    value: Option<&mut Value>,
    fields: &[(&str, TextKind)],
    part: u64,
    visit: &mut dyn FnMut(StreamEvent<'_>),
) {
    let Some(value) = value else { return };
    for &(name, field) in fields {
        if let Some(Value::String(text)) = value.get_mut(name) {
            visit(StreamEvent::Delta { id: TextId { choice: 0, part, field }, text });
        }
    }
}

/// Blocks other than text, thinking and those that hold blocks.
const BLOCKS: &[Members] = &[
    ("tool_use", &[("/input", Location::Arguments, Reading::Strings)]),
    ("server_tool_use", &[("/input", Location::Arguments, Reading::Strings)]),
    ("mcp_tool_use", &[("/input", Location::Arguments, Reading::Strings)]),
    ("code_execution_tool_result", OUTPUT),
    ("bash_code_execution_tool_result", OUTPUT),
    ("text_editor_code_execution_tool_result", OUTPUT),
];

const OUTPUT: &[(&str, Location, Reading)] = &[
    ("/content/stdout", Location::ToolResult, Reading::Text),
    ("/content/stderr", Location::ToolResult, Reading::Text),
    ("/content/content", Location::ToolResult, Reading::Text),
];

fn block(each: &mut Value, location: Location, visit: &mut Visit<'_>) {
    let signed = each.get("signature").and_then(Value::as_str).is_some_and(|s| !s.is_empty());
    match walk::kind(each) {
        Some("text") => walk::text(each.get_mut("text"), location, visit),
        Some("thinking") if !signed => {
            walk::text(each.get_mut("thinking"), Location::Reasoning, visit);
        }
        Some("tool_result" | "mcp_tool_result") => {
            blocks(each.get_mut("content"), Location::ToolResult, visit);
        }
        Some("search_result") => {
            walk::text(each.get_mut("title"), location, visit);
            blocks(each.get_mut("content"), location, visit);
        }
        Some("document") => {
            walk::text(each.get_mut("title"), location, visit);
            walk::text(each.get_mut("context"), location, visit);
            let Some(source) = each.get_mut("source") else { return };
            match walk::kind(source) {
                Some("text") => walk::text(source.get_mut("data"), location, visit),
                Some("content") => blocks(source.get_mut("content"), location, visit),
                _ => {}
            }
        }
        _ => walk::members(each, BLOCKS, visit),
    }
}

/// Visits a string or a list of blocks.
fn blocks(content: Option<&mut Value>, location: Location, visit: &mut Visit<'_>) {
    match content {
        Some(Value::Array(list)) => list.iter_mut().for_each(|each| block(each, location, visit)),
        text => walk::text(text, location, visit),
    }
}
