//! Anthropic's messages: `POST /v1/messages`.

mod request;

use llm_stream_guard::{
    Outcome,
    chat::{ChatSink, ChatStep, Delta, condensed_object},
};
use serde_json::{Map, Value, json};

pub(crate) use self::request::request;
use super::{
    content::text_part,
    encoded::{Encoder, write},
    turns::Turns,
    usage::{reasoning_tokens, tokens},
};
use crate::error::{Fault, Kind};

/// The encoder of a message's events.
///
/// Blocks follow each other, each with `content_block_start`, deltas and `content_block_stop`.
/// `message_delta` has the stop reason and the token counts at the end.
#[derive(Debug, Default)]
pub(crate) struct MessagesEvents {
    started: bool,
    open: Option<Block>,
    turns: Turns,
    /// Number of blocks begun.
    blocks: u64,
    reason: Option<String>,
    usage: Option<Value>,
    stops: Vec<String>,
    /// The stop string that ended the message, if upstream names it.
    stop: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Thinking,
    Text,
    Call,
}

impl MessagesEvents {
    /// Creates an encoder for the answer to the request `asked`.
    #[must_use]
    pub(crate) fn new(asked: &Value) -> Self {
        Self { stops: stops(asked), ..Self::default() }
    }

    /// Begins the message. `fields` are those of upstream's first chunk.
    fn start(&mut self, fields: &Map<String, Value>, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.started, true) {
            let mut message = message(fields);
            // Upstream counts at the end; `message_delta` has the counts.
            message["usage"] = json!({"input_tokens": 0, "output_tokens": 0});
            write(&json!({"type": "message_start", "message": message}), out);
            write(&json!({"type": "ping"}), out);
        }
    }

    /// Writes the waiting calls.
    fn rest(&mut self, out: &mut Vec<u8>) {
        std::mem::take(&mut self.turns).rest(&mut |delta| self.delta(delta, out));
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<u8>) {
        match delta {
            Delta::Around(fields) => self.start(fields, out),
            Delta::Reasoning(text) => {
                self.block(Block::Thinking, thinking(""), out);
                self.grow(json!({"type": "thinking_delta", "thinking": text}), out);
            }
            // There is no field for a refusal.
            Delta::Content(text) | Delta::Refusal(text) => {
                self.block(Block::Text, json!({"type": "text", "text": ""}), out);
                self.grow(json!({"type": "text_delta", "text": text}), out);
            }
            Delta::Signature(text) => {
                self.block(Block::Thinking, thinking(""), out);
                self.grow(json!({"type": "signature_delta", "signature": text}), out);
            }
            Delta::CallStart { id, name, fields, .. } => {
                self.close(out);
                self.block(Block::Call, tool_use(id, name, fields), out);
            }
            Delta::CallArguments { fragment, .. } => {
                self.grow(json!({"type": "input_json_delta", "partial_json": fragment}), out);
            }
            Delta::CallEnd { outcome, seal, .. } => {
                // Clients complete the JSON of a block that ends early. The stop reason tells them
                // of a call that was cut, but not of a malformed one.
                if outcome == Outcome::Malformed {
                    self.grow(json!({"type": "input_json_delta", "partial_json": seal}), out);
                }
                self.close(out);
            }
            Delta::Finish { reason, fields } => {
                self.reason = Some(reason.to_owned());
                self.stop = named(fields);
            }
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            _ => {}
        }
    }

    fn block(&mut self, kind: Block, block: Value, out: &mut Vec<u8>) {
        if self.open == Some(kind) {
            return;
        }
        self.close(out);
        let index = self.blocks;
        write(&json!({"type": "content_block_start", "index": index, "content_block": block}), out);
        self.open = Some(kind);
        self.blocks += 1;
    }

    fn grow(&self, delta: Value, out: &mut Vec<u8>) {
        let index = self.blocks.saturating_sub(1);
        write(&json!({"type": "content_block_delta", "index": index, "delta": delta}), out);
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            let index = self.blocks.saturating_sub(1);
            write(&json!({"type": "content_block_stop", "index": index}), out);
        }
    }
}

impl Encoder for MessagesEvents {
    fn step(&mut self, step: ChatStep<'_>, out: &mut Vec<u8>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.step(&step, &mut |delta| self.delta(delta, out));
        self.turns = turns;
    }

    fn end(&mut self, stopped: bool, out: &mut Vec<u8>) {
        self.start(&Map::new(), out);
        self.rest(out);
        self.close(out);
        // If upstream missed several stop strings, it is unknown which one ended the message.
        let which = self.stop.take().or_else(|| match self.stops.as_slice() {
            [only] if stopped => Some(only.clone()),
            _ => None,
        });
        let stopped = stopped || which.is_some();
        let delta = ending(self.reason.as_deref(), stopped, which);
        let usage = usage(self.usage.as_ref());
        write(&json!({"type": "message_delta", "delta": delta, "usage": usage}), out);
        write(&json!({"type": "message_stop"}), out);
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.rest(out);
        write(&self::fault(fault), out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        write(&json!({"type": "ping"}), out);
    }
}

/// A whole message, made of its deltas.
#[derive(Debug, Default)]
pub(crate) struct WholeMessage {
    fields: Map<String, Value>,
    content: Vec<Value>,
    /// Arguments of the last call.
    arguments: String,
    turns: Turns,
    reason: Option<String>,
    stop: Option<String>,
    usage: Option<Value>,
}

impl WholeMessage {
    fn delta(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Around(fields) => {
                for (name, value) in fields {
                    self.fields.entry(name).or_insert_with(|| value.clone());
                }
            }
            Delta::Reasoning(text) => self.text("thinking", text),
            Delta::Signature(text) => {
                self.text("thinking", "");
                self.grow("signature", text);
            }
            Delta::Content(text) | Delta::Refusal(text) => self.text("text", text),
            Delta::CallStart { id, name, fields, .. } => {
                self.arguments.clear();
                self.content.push(tool_use(id, name, fields));
            }
            Delta::CallArguments { fragment, .. } => self.arguments.push_str(fragment),
            Delta::CallEnd { outcome, .. } => self.end_call(outcome),
            Delta::Finish { reason, fields } => {
                self.reason = Some(reason.to_owned());
                self.stop = named(fields);
            }
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            _ => {}
        }
    }

    /// Adds text to the last block of this kind, or begins one. The kind is also the name of the
    /// field for the text.
    fn text(&mut self, kind: &str, text: &str) {
        if self.content.last().is_none_or(|last| last["type"] != kind) {
            self.content.push(match kind {
                "thinking" => thinking(""),
                _ => text_part("".into()),
            });
        }
        self.grow(kind, text);
    }

    fn grow(&mut self, field: &str, text: &str) {
        if let Some(Value::String(whole)) = self.content.last_mut().and_then(|it| it.get_mut(field))
        {
            whole.push_str(text);
        }
    }

    /// Ends the last call. The arguments of a call that does not run are text in its `input`, as
    /// Anthropic's manual describes.
    fn end_call(&mut self, outcome: Outcome) {
        let arguments = std::mem::take(&mut self.arguments);
        let input = condensed_object(&arguments).filter(|_| outcome.runs());
        if let Some(call) = self.content.last_mut() {
            call["input"] = input.unwrap_or_else(|| json!({"INVALID_JSON": arguments}));
        }
    }

    /// Returns the message and its usage as upstream wrote it.
    pub(crate) fn into_json(mut self) -> (Value, Option<Value>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.rest(&mut |delta| self.delta(delta));
        let mut message = message(&self.fields);
        message["content"] = self.content.into();
        let stopped = self.stop.is_some();
        let ending = ending(self.reason.as_deref(), stopped, self.stop);
        for key in ["stop_reason", "stop_sequence"] {
            message[key] = ending[key].clone();
        }
        message["usage"] = usage(self.usage.as_ref());
        (message, self.usage)
    }
}

impl ChatSink for WholeMessage {
    fn step(&mut self, step: ChatStep<'_>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.step(&step, &mut |delta| self.delta(delta));
        self.turns = turns;
    }
}

/// Error types that clients know.
const TYPES: [&str; 9] = [
    "api_error",
    "authentication_error",
    "billing_error",
    "invalid_request_error",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "timeout_error",
];

/// Returns Anthropic's error object for a fault.
#[must_use]
pub(crate) fn fault(fault: &Fault) -> Value {
    let kind = match (fault.status.as_u16(), fault.kind) {
        (401, _) => "authentication_error",
        (403, _) => "permission_error",
        (404, _) => "not_found_error",
        (413, _) => "request_too_large",
        (429, _) => "rate_limit_error",
        (503 | 529, _) => "overloaded_error",
        (_, Kind::Timeout) => "timeout_error",
        (400..=499, _) => "invalid_request_error",
        _ => "api_error",
    };
    let kind = fault.error_type().filter(|said| TYPES.contains(said)).unwrap_or(kind);
    let field = fault.field.as_ref().map_or_else(String::new, |field| format!("`{field}`: "));
    let message = format!("{field}{}", fault.message);
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// Returns a message without content. `fields` are those of upstream's answer.
fn message(fields: &Map<String, Value>) -> Value {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    json!({
        "id": format!("msg_{}", text("id").unwrap_or("0")),
        "type": "message",
        "role": "assistant",
        "model": text("model").unwrap_or_default(),
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": ""})
}

/// Returns the block of a call without input. `fields` are further fields of upstream's call.
fn tool_use(id: &str, name: &str, fields: &Map<String, Value>) -> Value {
    let mut block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    for (name, value) in fields {
        if block.get(name).is_none() {
            block[name] = value.clone();
        }
    }
    block
}

fn stops(asked: &Value) -> Vec<String> {
    let list = asked.get("stop_sequences").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Returns the stop string that a server reports with its finish reason.
fn named(choice: &Map<String, Value>) -> Option<String> {
    choice.get("stop_reason")?.as_str().map(str::to_owned)
}

fn ending(reason: Option<&str>, stopped: bool, which: Option<String>) -> Value {
    let (reason, which) = match reason {
        Some("length" | "max_tokens") => ("max_tokens", None),
        Some("tool_calls" | "function_call") => ("tool_use", None),
        Some("content_filter") => ("refusal", None),
        _ if stopped => ("stop_sequence", which),
        _ => ("end_turn", None),
    };
    json!({"stop_reason": reason, "stop_sequence": which})
}

fn usage(usage: Option<&Value>) -> Value {
    json!({
        "input_tokens": tokens(usage, "/prompt_tokens"),
        "output_tokens": tokens(usage, "/completion_tokens"),
        "cache_read_input_tokens": tokens(usage, "/prompt_tokens_details/cached_tokens"),
        "output_tokens_details": reasoning_tokens(usage),
    })
}
