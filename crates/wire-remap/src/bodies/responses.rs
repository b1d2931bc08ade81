//! The shape of OpenAI Responses.

use serde_json::{Map, Value, json};

use super::{
    shape::{BodyError, BodyShape, StreamEvent, TextField, TextId, TextKind},
    walk::{self, Members, Reading, Visit},
};
use crate::tally::Location;

/// `POST /v1/responses`, of OpenAI and compatible servers.
///
/// Events that repeat a whole text (`*.done`, `response.completed`) are decoded as whole texts.
/// Instructions and tools that a response repeats from its request are decoded too.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

const TEXT_PARTS: &[&str] = &["input_text", "output_text", "text"];

/// Streamed texts: stem of the event, kind, and name of the whole text in `done`.
const STREAMS: &[(&str, TextKind, &str)] = &[
    ("response.output_text", TextKind::Content, "text"),
    ("response.reasoning_text", TextKind::Reasoning, "text"),
    ("response.reasoning_summary_text", TextKind::ReasoningSummary, "text"),
    ("response.refusal", TextKind::Refusal, "refusal"),
    ("response.function_call_arguments", TextKind::Arguments, "arguments"),
    ("response.custom_tool_call_input", TextKind::Input, "input"),
    ("response.mcp_call_arguments", TextKind::Arguments, "arguments"),
    ("response.code_interpreter_call_code", TextKind::Input, "code"),
    ("response.apply_patch_call_operation_diff", TextKind::Input, "diff"),
];

impl BodyShape for OpenAiResponses {
    fn check_request(&self, body: &Value) -> Result<(), BodyError> {
        match walk::object(body)?.get("input") {
            None | Some(Value::String(_)) => Ok(()),
            Some(input) => walk::check_objects(input, "input"),
        }
    }

    fn request(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        walk::text(body.get_mut("instructions"), Location::System, visit);
        walk::text(body.get_mut("input"), Location::User, visit);
        let count = walk::items(body, "input").count();
        for (at, each) in walk::items(body, "input").enumerate() {
            let location = match each.get("role").and_then(Value::as_str) {
                Some("system") => Location::System,
                Some("developer") => Location::Developer,
                Some("assistant") if at + 1 == count => Location::Prefill,
                Some("assistant") => Location::Assistant,
                _ => Location::User,
            };
            item(each, location, visit);
        }
        walk::format(body.pointer_mut("/text/format"), visit);
        if let Some(variables) =
            body.pointer_mut("/prompt/variables").and_then(Value::as_object_mut)
        {
            for variable in variables.values_mut() {
                match variable {
                    Value::String(_) => walk::text(Some(variable), Location::User, visit),
                    _ => part(variable, Location::User, visit),
                }
            }
        }
        tools(body, visit);
    }

    fn response(&self, body: &mut Value, visit: &mut dyn FnMut(TextField<'_>)) {
        walk::text(body.get_mut("instructions"), Location::System, visit);
        for each in walk::items(body, "output") {
            item(each, Location::Content, visit);
        }
        tools(body, visit);
    }

    fn event(&self, event: &mut Value, visit: &mut dyn FnMut(StreamEvent<'_>)) {
        let Some(kind) = walk::kind(event).map(alloc::string::String::from) else { return };
        for &(stem, field, done) in STREAMS {
            let id = id(event, field);
            match kind.strip_prefix(stem) {
                Some(".delta") => {
                    if let Some(Value::String(text)) = event.get_mut("delta") {
                        visit(StreamEvent::Delta { id, text });
                    }
                }
                Some(".done") => {
                    if let Some(Value::String(text)) = event.get_mut(done) {
                        let (location, syntax) = (field.location(), field.syntax());
                        visit(StreamEvent::Whole(TextField { location, syntax, text }));
                    }
                    let (choice, part) = (Some(id.choice), Some(id.part));
                    visit(StreamEvent::End { choice, part, field: Some(field) });
                }
                _ => {}
            }
        }
        let mut whole = |field: TextField<'_>| visit(StreamEvent::Whole(field));
        if let Some(response) = event.get_mut("response") {
            self.response(response, &mut whole);
        }
        if let Some(added) = event.get_mut("item") {
            item(added, Location::Content, &mut whole);
        }
        if let Some(added) = event.get_mut("part") {
            part(added, Location::Content, &mut whole);
        }
        let ends = ["response.completed", "response.incomplete", "response.failed"];
        if ends.contains(&&*kind) {
            visit(StreamEvent::End { choice: None, part: None, field: None });
        }
    }

    fn leftover(&self, event: &mut Value, id: TextId, text: &str) -> Option<Value> {
        let mut tail = self.tail(id, text);
        // Calls of several types share a kind of text. The event that ends the text has the type.
        let kind = walk::kind(event).and_then(|kind| kind.strip_suffix(".done"));
        let ended =
            STREAMS.iter().find(|(stem, field, _)| Some(*stem) == kind && *field == id.field);
        if let Some((stem, ..)) = ended {
            tail["type"] = alloc::format!("{stem}.delta").into();
        }
        if let (Some(id), Value::Object(tail)) = (event.get("item_id"), &mut tail) {
            tail.insert("item_id".into(), id.clone());
        }
        Some(tail)
    }

    fn tail(&self, id: TextId, text: &str) -> Value {
        let stem = STREAMS.iter().find(|(_, field, _)| *field == id.field);
        let stem = stem.map_or("response.output_text", |(stem, _, _)| stem);
        let mut event = Map::new();
        event.insert("type".into(), alloc::format!("{stem}.delta").into());
        event.insert("output_index".into(), id.choice.into());
        match id.field {
            TextKind::ReasoningSummary => event.insert("summary_index".into(), id.part.into()),
            TextKind::Arguments | TextKind::Input => None,
            _ => event.insert("content_index".into(), id.part.into()),
        };
        event.insert("delta".into(), json!(text));
        Value::Object(event)
    }
}

fn id(event: &Value, field: TextKind) -> TextId {
    let index = |name: &str| event.get(name).and_then(Value::as_u64);
    let part = if field == TextKind::ReasoningSummary { "summary_index" } else { "content_index" };
    TextId { choice: index("output_index").unwrap_or(0), part: index(part).unwrap_or(0), field }
}

/// Visits an item of the input or the output.
fn item(item: &mut Value, location: Location, visit: &mut Visit<'_>) {
    match walk::kind(item) {
        Some("message") | None => parts(item.get_mut("content"), location, visit),
        Some("reasoning") => {
            parts(item.get_mut("summary"), Location::Reasoning, visit);
            parts(item.get_mut("content"), Location::Reasoning, visit);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            parts(item.get_mut("output"), Location::ToolResult, visit);
        }
        Some("mcp_list_tools") => {
            for tool in walk::items(item, "tools") {
                walk::tool(tool, "input_schema", visit);
            }
        }
        _ => walk::members(item, ITEMS, visit),
    }
}

/// Items that are calls, and results of calls that the server runs.
const ITEMS: &[Members] = &[
    ("function_call", &[("/arguments", Location::Arguments, Reading::Arguments)]),
    ("custom_tool_call", &[("/input", Location::Arguments, Reading::Text)]),
    ("mcp_approval_request", &[("/arguments", Location::Arguments, Reading::Arguments)]),
    (
        "mcp_call",
        &[
            ("/arguments", Location::Arguments, Reading::Arguments),
            ("/output", Location::ToolResult, Reading::Text),
            ("/error", Location::ToolResult, Reading::Strings),
        ],
    ),
    ("local_shell_call", &[("/action/command", Location::Arguments, Reading::Strings)]),
    ("local_shell_call_output", &[("/output", Location::ToolResult, Reading::Text)]),
    ("shell_call", &[("/action/commands", Location::Arguments, Reading::Strings)]),
    ("shell_call_output", &[("/output", Location::ToolResult, Reading::Strings)]),
    ("apply_patch_call", &[("/operation/diff", Location::Arguments, Reading::Text)]),
    ("apply_patch_call_output", &[("/output", Location::ToolResult, Reading::Text)]),
    (
        "code_interpreter_call",
        &[
            ("/code", Location::Arguments, Reading::Text),
            ("/outputs", Location::ToolResult, Reading::Strings),
        ],
    ),
];

/// Visits a string or a list of parts.
fn parts(content: Option<&mut Value>, location: Location, visit: &mut Visit<'_>) {
    match content {
        Some(Value::Array(parts)) => {
            parts.iter_mut().for_each(|each| part(each, location, visit));
        }
        text => walk::text(text, location, visit),
    }
}

fn part(part: &mut Value, location: Location, visit: &mut Visit<'_>) {
    match walk::kind(part) {
        Some("reasoning_text" | "summary_text") => {
            walk::text(part.get_mut("text"), Location::Reasoning, visit);
        }
        Some("refusal") => {
            // A refusal in a request is history.
            let answer = location == Location::Content;
            let location = if answer { Location::Refusal } else { location };
            walk::text(part.get_mut("refusal"), location, visit);
        }
        Some(kind) if TEXT_PARTS.contains(&kind) => {
            walk::text(part.get_mut("text"), location, visit);
        }
        _ => {}
    }
}

fn tools(body: &mut Value, visit: &mut Visit<'_>) {
    for tool in walk::items(body, "tools") {
        walk::tool(tool, "parameters", visit);
    }
}
