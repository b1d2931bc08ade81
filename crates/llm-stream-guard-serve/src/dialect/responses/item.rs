//! Items of a response's output.

use llm_stream_guard::{
    Outcome,
    chat::{Delta, condensed_object},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, json};

use super::tools::{ToolKind, ToolName};

/// The prefix of events for the reasoning summary, which repeats the reasoning. Many clients show
/// only the summary.
const SUMMARY: &str = "response.reasoning_summary";
/// The status of an item that has not ended.
const IN_PROGRESS: &str = "in_progress";
const SUMMARY_DELTA: &str = "response.reasoning_summary_text.delta";

/// An item of the output: reasoning, a message or a call, up to the current event.
#[derive(Debug)]
pub(super) struct Item {
    id: String,
    status: &'static str,
    text: String,
    /// The signature of the reasoning, which only the server that wrote it can read.
    signature: String,
    kind: ItemKind,
}

#[derive(Debug, PartialEq, Eq)]
enum ItemKind {
    Reasoning,
    Message,
    Call(Called),
    /// A call of a tool that takes text. The item's text holds the call's JSON arguments.
    Custom(Called),
    /// A call of the tool that searches for tools.
    Search(Called),
}

/// A call and its tool.
#[derive(Debug, PartialEq, Eq)]
struct Called {
    id: String,
    name: String,
    namespace: Option<String>,
    /// Further fields of upstream's call.
    fields: Map<String, Value>,
}

impl Called {
    /// Adds the tool's namespace, if it has one, and the further fields to `item`.
    fn to_json(&self, mut item: Value) -> Value {
        for (name, value) in &self.fields {
            if item.get(name).is_none() {
                item[name] = value.clone();
            }
        }
        if let Some(namespace) = &self.namespace {
            item["namespace"] = namespace.as_str().into();
        }
        item
    }
}

impl Item {
    /// Returns the item that `delta` begins, if any. `id` is the item's id without a prefix, and
    /// `tools` are those that take text or have a namespace.
    pub(super) fn begun(delta: Delta<'_>, id: String, tools: &[ToolName]) -> Option<Self> {
        let (prefix, kind) = match delta {
            Delta::Reasoning(_) | Delta::Signature(_) => ("rs", ItemKind::Reasoning),
            // There is no field for a refusal.
            Delta::Content(_) | Delta::Refusal(_) => ("msg", ItemKind::Message),
            Delta::CallStart { id, name, fields, .. } => {
                let tool = tools.iter().find(|tool| tool.function == name);
                let namespace = tool.and_then(|tool| tool.namespace.clone());
                let name = tool.map_or(name, |tool| &tool.name).to_owned();
                let called = Called { id: id.into(), name, namespace, fields: fields.clone() };
                match tool.map_or(ToolKind::Function, |tool| tool.kind) {
                    ToolKind::Custom => ("ctc", ItemKind::Custom(called)),
                    ToolKind::Search => ("tsc", ItemKind::Search(called)),
                    ToolKind::Function => ("fc", ItemKind::Call(called)),
                }
            }
            _ => return None,
        };
        let id = format!("{prefix}_{id}");
        let (text, signature) = (String::new(), String::new());
        Some(Self { id, status: IN_PROGRESS, text, signature, kind })
    }

    /// Returns whether `delta` continues the item.
    pub(super) fn takes(&self, delta: Delta<'_>) -> bool {
        matches!(
            (&self.kind, delta),
            (ItemKind::Reasoning, Delta::Reasoning(_) | Delta::Signature(_))
                | (ItemKind::Message, Delta::Content(_) | Delta::Refusal(_))
                | (
                    ItemKind::Call(_) | ItemKind::Custom(_) | ItemKind::Search(_),
                    Delta::CallArguments { .. }
                )
        )
    }

    /// Adds a delta, and returns the text that it added.
    pub(super) fn add<'d>(&mut self, delta: Delta<'d>) -> &'d str {
        let text = match delta {
            Delta::Reasoning(text) | Delta::Content(text) | Delta::Refusal(text) => text,
            Delta::CallArguments { fragment, .. } => fragment,
            Delta::Signature(text) => {
                self.signature.push_str(text);
                ""
            }
            _ => "",
        };
        self.text.push_str(text);
        text
    }

    /// Adds a delta and returns its events, without the item's index.
    pub(super) fn grow(&mut self, delta: Delta<'_>) -> Vec<Value> {
        let text = self.add(delta);
        if text.is_empty() {
            return Vec::new();
        }
        match self.kind {
            ItemKind::Reasoning => vec![
                self.event("response.reasoning_text.delta", "delta", text),
                self.event(SUMMARY_DELTA, "delta", text),
            ],
            ItemKind::Message => vec![self.event("response.output_text.delta", "delta", text)],
            ItemKind::Call(_) => {
                vec![self.event("response.function_call_arguments.delta", "delta", text)]
            }
            // The tool's input is known only when its arguments are whole.
            ItemKind::Custom(_) | ItemKind::Search(_) => Vec::new(),
        }
    }

    /// Returns the events after the one that adds the item, without the item's index.
    pub(super) fn beginnings(&self) -> Vec<Value> {
        match self.kind {
            ItemKind::Reasoning => {
                vec![self.part_event("added", ""), self.summary_event("added", "")]
            }
            ItemKind::Message => vec![self.part_event("added", "")],
            ItemKind::Call(_) | ItemKind::Custom(_) | ItemKind::Search(_) => Vec::new(),
        }
    }

    /// Returns the events that end the item's text, without the item's index.
    pub(super) fn endings(&self) -> Vec<Value> {
        let text = &self.text;
        match &self.kind {
            ItemKind::Reasoning => vec![
                self.event("response.reasoning_text.done", "text", text),
                self.part_event("done", text),
                self.event("response.reasoning_summary_text.done", "text", text),
                self.summary_event("done", text),
            ],
            ItemKind::Message => {
                vec![
                    self.event("response.output_text.done", "text", text),
                    self.part_event("done", text),
                ]
            }
            ItemKind::Call(called) => {
                let mut done =
                    self.event("response.function_call_arguments.done", "arguments", text);
                done["name"] = called.name.as_str().into();
                vec![done]
            }
            ItemKind::Search(_) => Vec::new(),
            ItemKind::Custom(_) => {
                let input = self.input().unwrap_or_else(|| text.clone());
                vec![
                    self.event("response.custom_tool_call_input.delta", "delta", &input),
                    self.event("response.custom_tool_call_input.done", "input", &input),
                ]
            }
        }
    }

    fn event(&self, name: &str, key: &str, text: &str) -> Value {
        let mut event = json!({"type": name, "item_id": self.id, key: text});
        match self.kind {
            ItemKind::Reasoning if name.starts_with(SUMMARY) => event["summary_index"] = 0.into(),
            ItemKind::Reasoning => event["content_index"] = 0.into(),
            ItemKind::Message => {
                event["content_index"] = 0.into();
                event["logprobs"] = json!([]);
            }
            ItemKind::Call(_) | ItemKind::Custom(_) | ItemKind::Search(_) => {}
        }
        event
    }

    fn part_event(&self, what: &str, text: &str) -> Value {
        json!({
            "type": format!("response.content_part.{what}"), "item_id": self.id, "content_index": 0,
            "part": self.part(text),
        })
    }

    fn summary_event(&self, what: &str, text: &str) -> Value {
        json!({
            "type": format!("response.reasoning_summary_part.{what}"), "item_id": self.id,
            "summary_index": 0, "part": {"type": "summary_text", "text": text},
        })
    }

    /// Returns the input of a tool that takes text, if the call's arguments are whole.
    fn input(&self) -> Option<String> {
        /// The arguments of such a tool: `input` alone is read.
        #[derive(Deserialize)]
        struct Arguments {
            input: String,
        }

        let arguments: Arguments = serde_json::from_str(&self.text).ok()?;
        Some(arguments.input)
    }

    /// Ends a call. A call that does not run is incomplete, as is one whose arguments are not one
    /// JSON text.
    pub(super) fn end_call(&mut self, outcome: Outcome) {
        let runs = outcome.runs();
        let is_whole = match &self.kind {
            ItemKind::Reasoning | ItemKind::Message => return,
            ItemKind::Call(_) | ItemKind::Search(_) => {
                serde_json::from_str::<IgnoredAny>(&self.text).is_ok()
            }
            ItemKind::Custom(_) => self.input().is_some(),
        };
        self.status = if runs && is_whole { "completed" } else { "incomplete" };
    }

    /// Ends the item, unless it has ended.
    pub(super) fn done(&mut self) {
        if self.status == IN_PROGRESS {
            self.status = "completed";
        }
    }

    /// Ends the item where the answer was cut. A call that has ended keeps its status.
    pub(super) fn cut(&mut self) {
        let is_call = !matches!(self.kind, ItemKind::Reasoning | ItemKind::Message);
        if !is_call || self.status == IN_PROGRESS {
            self.status = "incomplete";
        }
    }

    fn part(&self, text: &str) -> Value {
        match self.kind {
            ItemKind::Reasoning => json!({"type": "reasoning_text", "text": text}),
            _ => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { id, status, text, signature, kind } = self;
        // The item has no part before its first text.
        let content = if text.is_empty() { json!([]) } else { json!([self.part(text)]) };
        match kind {
            ItemKind::Reasoning => {
                let summary = json!({"type": "summary_text", "text": text});
                let summary = if text.is_empty() { json!([]) } else { json!([summary]) };
                let mut item = json!({
                    "type": "reasoning", "id": id, "status": status, "summary": summary,
                    "content": content,
                });
                if !signature.is_empty() {
                    item["encrypted_content"] = signature.as_str().into();
                }
                item
            }
            ItemKind::Message => json!({
                "type": "message", "id": id, "status": status, "role": "assistant",
                "content": content,
            }),
            ItemKind::Call(call) => call.to_json(json!({
                "type": "function_call", "id": id, "status": status, "call_id": call.id,
                "name": call.name, "arguments": text,
            })),
            ItemKind::Search(call) => {
                let arguments = condensed_object(text);
                call.to_json(json!({
                    "type": "tool_search_call", "id": id, "status": status, "call_id": call.id,
                    "execution": "client", "arguments": arguments.unwrap_or_else(|| json!({})),
                }))
            }
            ItemKind::Custom(call) => call.to_json(json!({
                "type": "custom_tool_call", "id": id, "status": status, "call_id": call.id,
                "name": call.name, "input": self.input().unwrap_or_else(|| text.clone()),
            })),
        }
    }
}
