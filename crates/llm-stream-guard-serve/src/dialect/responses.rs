//! OpenAI's responses: `POST /v1/responses`.

mod item;
mod request;
mod tools;

use llm_stream_guard::chat::{ChatSink, ChatStep, Delta};
use serde_json::{Map, Value, json};

pub(crate) use self::request::{gather_tools, request};
use self::{
    item::Item,
    tools::{ADDITIONAL, ToolName, tool_names},
};
use super::{
    encoded::{Encoder, write},
    fields::KEEP_ALIVE,
    turns::Turns,
    usage::{reasoning_tokens, tokens},
};
use crate::error::Fault;

/// Fields of a request that its response repeats, with their default values.
const REPEATED: [(&str, &str); 13] = [
    ("background", "false"),
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("reasoning", "null"),
    ("temperature", "null"),
    ("text", "{\"format\":{\"type\":\"text\"}}"),
    ("tool_choice", "\"auto\""),
    ("tools", "[]"),
    ("top_p", "null"),
    ("truncation", "\"disabled\""),
];

/// Returns the names of a request's fields that the writer of its response needs.
pub(crate) fn asked() -> impl Iterator<Item = &'static str> {
    REPEATED.iter().map(|(name, _)| *name).chain(["model", ADDITIONAL])
}

/// A response, up to the current event.
#[derive(Debug)]
struct Response {
    /// Fields repeated from the request, and fields that describe the response.
    envelope: Value,
    items: Vec<Item>,
    reason: Option<String>,
    usage: Option<Value>,
    /// Tools that take text or have a namespace.
    tools: Vec<ToolName>,
}

impl Response {
    fn new(asked: &Value) -> Self {
        let mut envelope = json!({
            "object": "response",
            "id": "resp_0",
            "created_at": 0,
            "model": asked.get("model").cloned().unwrap_or_else(|| "".into()),
            "error": null,
            "incomplete_details": null,
            "store": false,
        });
        for (name, default) in REPEATED {
            let said = asked.get(name).filter(|it| !it.is_null()).cloned();
            envelope[name] =
                said.unwrap_or_else(|| serde_json::from_str(default).unwrap_or_default());
        }
        let tools = tool_names(asked);
        Self { envelope, items: Vec::new(), reason: None, usage: None, tools }
    }

    /// Reads upstream's fields that describe the response.
    fn describe(&mut self, fields: &Map<String, Value>) {
        if let Some(id) = fields.get("id").and_then(Value::as_str) {
            self.envelope["id"] = format!("resp_{id}").into();
        }
        for (name, theirs) in [("created_at", "created"), ("model", "model")] {
            if let Some(value) = fields.get(theirs).filter(|it| !it.is_null()) {
                self.envelope[name] = value.clone();
            }
        }
    }

    /// Returns the item that `delta` begins, if any.
    fn begun(&self, delta: Delta<'_>) -> Option<Item> {
        let id = self.envelope["id"].as_str().unwrap_or_default().trim_start_matches("resp_");
        Item::begun(delta, format!("{id}_{}", self.items.len()), &self.tools)
    }

    /// Ends the response, and returns its status: `completed` or `incomplete`.
    fn end(&mut self) -> &'static str {
        let cut = match self.reason.as_deref() {
            Some("length" | "max_tokens") => Some("max_output_tokens"),
            Some("content_filter") => Some("content_filter"),
            _ => None,
        };
        if let Some(reason) = cut {
            self.envelope["incomplete_details"] = json!({"reason": reason});
        }
        if cut.is_some() { "incomplete" } else { "completed" }
    }

    /// Ends the last item where the answer was cut, unless it has ended.
    fn cut(&mut self) {
        self.items.iter_mut().last().into_iter().for_each(Item::cut);
    }

    /// Ends the last item, unless it has ended.
    fn done(&mut self) {
        self.items.iter_mut().last().into_iter().for_each(Item::done);
    }

    /// Takes a delta that neither begins nor continues an item. Returns `false` for others.
    fn take(&mut self, delta: Delta<'_>) -> bool {
        match delta {
            Delta::Role(_) => {}
            Delta::Finish { reason, .. } => self.reason = Some(reason.to_owned()),
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            Delta::CallEnd { outcome, .. } => {
                self.items.iter_mut().last().into_iter().for_each(|item| item.end_call(outcome));
            }
            _ => return false,
        }
        true
    }

    fn to_json(&self, status: &str) -> Value {
        let mut response = self.envelope.clone();
        response["status"] = status.into();
        response["output"] = self.items.iter().map(Item::to_json).collect();
        response["usage"] = self.usage.as_ref().map_or(Value::Null, |usage| {
            let usage = Some(usage);
            json!({
                "input_tokens": tokens(usage, "/prompt_tokens"),
                "input_tokens_details": {
                    "cached_tokens": tokens(usage, "/prompt_tokens_details/cached_tokens"),
                },
                "output_tokens": tokens(usage, "/completion_tokens"),
                "output_tokens_details": reasoning_tokens(usage),
                "total_tokens": tokens(usage, "/total_tokens"),
            })
        });
        response
    }
}

/// The encoder of a response's events. `response.created` is first, then for each item `added`,
/// deltas and `done`. The last event has the whole response. Every event has a number.
#[derive(Debug)]
pub(crate) struct ResponsesEvents {
    response: Response,
    started: bool,
    number: u64,
    /// Whether the last item is still open.
    open: bool,
    turns: Turns,
}

impl ResponsesEvents {
    /// Creates an encoder for the answer to the request `asked`.
    #[must_use]
    pub(crate) fn new(asked: &Value) -> Self {
        let (response, turns) = (Response::new(asked), Turns::default());
        Self { response, started: false, number: 0, open: false, turns }
    }

    fn write(&mut self, mut event: Value, out: &mut Vec<u8>) {
        event["sequence_number"] = self.number.into();
        self.number += 1;
        write(&event, out);
    }

    /// Begins the response. `fields` are those of upstream's first chunk.
    fn start(&mut self, fields: &Map<String, Value>, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.response.describe(fields);
        for name in ["response.created", "response.in_progress"] {
            let response = self.response.to_json("in_progress");
            self.write(json!({"type": name, "response": response}), out);
        }
    }

    /// Writes the waiting calls.
    fn rest(&mut self, out: &mut Vec<u8>) {
        std::mem::take(&mut self.turns).rest(&mut |delta| self.delta(delta, out));
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<u8>) {
        match delta {
            Delta::Around(fields) => self.start(fields, out),
            Delta::CallEnd { .. } => {
                self.response.take(delta);
                self.close(out);
            }
            delta if self.response.take(delta) => {}
            delta => {
                let goes_on =
                    self.open && self.response.items.last().is_some_and(|it| it.takes(delta));
                if !goes_on {
                    self.close(out);
                    let item = self.response.begun(delta);
                    item.into_iter().for_each(|item| self.open(item, out));
                }
                self.grow(delta, out);
            }
        }
    }

    fn open(&mut self, item: Item, out: &mut Vec<u8>) {
        let index = self.response.items.len();
        let added = json!({"type": "response.output_item.added", "output_index": index, "item": item.to_json()});
        let beginnings = item.beginnings();
        self.response.items.push(item);
        self.open = true;
        self.write(added, out);
        for mut event in beginnings {
            event["output_index"] = index.into();
            self.write(event, out);
        }
    }

    fn grow(&mut self, delta: Delta<'_>, out: &mut Vec<u8>) {
        let index = self.response.items.len().saturating_sub(1);
        let Some(item) = self.response.items.last_mut() else { return };
        for mut event in item.grow(delta) {
            event["output_index"] = index.into();
            self.write(event, out);
        }
    }

    /// Ends the open item, and writes its last events.
    fn close(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.open, false) {
            return;
        }
        let index = self.response.items.len().saturating_sub(1);
        let Some(item) = self.response.items.last_mut() else { return };
        item.done();
        let mut events = item.endings();
        events.push(json!({"type": "response.output_item.done", "item": item.to_json()}));
        for mut event in events {
            event["output_index"] = index.into();
            self.write(event, out);
        }
    }
}

impl Encoder for ResponsesEvents {
    fn step(&mut self, step: ChatStep<'_>, out: &mut Vec<u8>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.step(&step, &mut |delta| self.delta(delta, out));
        self.turns = turns;
    }

    fn end(&mut self, _: bool, out: &mut Vec<u8>) {
        self.start(&Map::new(), out);
        self.rest(out);
        let how = self.response.end();
        if how == "incomplete" && self.open {
            self.response.cut();
        }
        self.close(out);
        let response = self.response.to_json(how);
        self.write(json!({"type": format!("response.{how}"), "response": response}), out);
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.start(&Map::new(), out);
        self.rest(out);
        if self.open {
            self.response.cut();
        }
        self.response.envelope["error"] = json!({"code": code(fault), "message": fault.message});
        let response = self.response.to_json("failed");
        self.write(json!({"type": "response.failed", "response": response}), out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(KEEP_ALIVE);
    }
}

/// Returns the code of an error, which responses write as text.
fn code(fault: &Fault) -> Value {
    match (fault.error_code(), fault.error_type()) {
        (Some(Value::String(code)), _) => code.as_str().into(),
        (_, Some(kind)) => kind.into(),
        (Some(code), None) => code.to_string().into(),
        (None, None) => "server_error".into(),
    }
}

/// A whole response, made of its deltas.
#[derive(Debug)]
pub(crate) struct WholeResponse {
    response: Response,
    turns: Turns,
}

impl WholeResponse {
    /// Creates the response to the request `asked`.
    pub(crate) fn new(asked: &Value) -> Self {
        Self { response: Response::new(asked), turns: Turns::default() }
    }

    fn delta(&mut self, delta: Delta<'_>) {
        let response = &mut self.response;
        if let Delta::Around(fields) = delta {
            return response.describe(fields);
        }
        if response.take(delta) {
            return;
        }
        if response.items.last().is_none_or(|item| !item.takes(delta)) {
            response.done();
            let begun = response.begun(delta);
            response.items.extend(begun);
        }
        if let Some(item) = response.items.last_mut() {
            item.add(delta);
        }
    }

    /// Returns the response and its usage as upstream wrote it.
    pub(crate) fn into_json(mut self) -> (Value, Option<Value>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.rest(&mut |delta| self.delta(delta));
        let how = self.response.end();
        if how == "incomplete" {
            self.response.cut();
        }
        self.response.done();
        (self.response.to_json(how), self.response.usage)
    }
}

impl ChatSink for WholeResponse {
    fn step(&mut self, step: ChatStep<'_>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.step(&step, &mut |delta| self.delta(delta));
        self.turns = turns;
    }
}
