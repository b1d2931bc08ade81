//! Items of a response's output.

use llm_stream_guard::chat::Delta;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::tools::{INPUT, ToolName};

/// The prefix of events for the reasoning summary, which repeats the reasoning. Many clients show
/// only the summary.
const SUMMARY: &str = "response.reasoning_summary";
const SUMMARY_DELTA: &str = "response.reasoning_summary_text.delta";

/// An item of the output: reasoning, a message or a call, up to the current event.
#[derive(Debug)]
pub(super) struct Item {
    id: String,
    status: &'static str,
    text: String,
    kind: ItemKind,
}

#[derive(Debug, PartialEq, Eq)]
enum ItemKind {
    Reasoning,
    Message,
    Call(Called),
    /// A call of a tool that takes text. The item's text holds the call's JSON arguments.
    Custom(Called),
}

/// A call and its tool.
#[derive(Debug, PartialEq, Eq)]
struct Called {
    index: u32,
    id: String,
    name: String,
    namespace: Option<String>,
}

impl Called {
    /// Adds the tool's namespace to `item`, if it has one.
    fn to_json(&self, mut item: Value) -> Value {
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
            Delta::Reasoning(_) => ("rs", ItemKind::Reasoning),
            // There is no field for a refusal.
            Delta::Content(_) | Delta::Refusal(_) => ("msg", ItemKind::Message),
            Delta::CallStart { index, id, name } => {
                let tool = tools.iter().find(|tool| tool.function == name);
                let namespace = tool.and_then(|tool| tool.namespace.clone());
                let name = tool.map_or(name, |tool| &tool.name).to_owned();
                let called = Called { index, id: id.into(), name, namespace };
                match tool.is_some_and(|tool| tool.is_custom) {
                    true => ("ctc", ItemKind::Custom(called)),
                    false => ("fc", ItemKind::Call(called)),
                }
            }
            _ => return None,
        };
        let id = format!("{prefix}_{id}");
        Some(Self { id, status: "in_progress", text: String::new(), kind })
    }

    /// Returns whether `delta` continues the item.
    pub(super) fn takes(&self, delta: Delta<'_>) -> bool {
        matches!(
            (&self.kind, delta),
            (ItemKind::Reasoning, Delta::Reasoning(_))
                | (ItemKind::Message, Delta::Content(_) | Delta::Refusal(_))
                | (ItemKind::Call(_) | ItemKind::Custom(_), Delta::CallArguments { .. })
        )
    }

    /// Takes a delta and returns its events, without the item's index.
    pub(super) fn grow(&mut self, delta: Delta<'_>) -> Vec<Value> {
        let text = match delta {
            Delta::Reasoning(text) | Delta::Content(text) | Delta::Refusal(text) => text,
            Delta::CallArguments { fragment, .. } => fragment,
            _ => return Vec::new(),
        };
        self.text.push_str(text);
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
            ItemKind::Custom(_) => Vec::new(),
        }
    }

    /// Returns the events after the one that adds the item, without the item's index.
    pub(super) fn beginnings(&self) -> Vec<Value> {
        match self.kind {
            ItemKind::Reasoning => {
                vec![self.part_event("added", ""), self.summary_event("added", "")]
            }
            ItemKind::Message => vec![self.part_event("added", "")],
            ItemKind::Call(_) | ItemKind::Custom(_) => Vec::new(),
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
            ItemKind::Call(_) | ItemKind::Custom(_) => {}
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
        let mut arguments: Value = serde_json::from_str(&self.text).ok()?;
        match arguments.get_mut(INPUT)?.take() {
            Value::String(input) => Some(input),
            _ => None,
        }
    }

    /// Ends the item. A call is incomplete if its arguments are not one JSON text, or if `broken`
    /// has its index.
    pub(super) fn done(&mut self, broken: &[u32]) {
        if self.status == "in_progress" {
            self.status = if self.is_broken(broken) { "incomplete" } else { "completed" };
        }
    }

    /// Ends the item where the answer was cut. A whole call stays complete.
    pub(super) fn cut(&mut self, broken: &[u32]) {
        let whole = self.is_call() && !self.is_broken(broken);
        self.status = if whole { "completed" } else { "incomplete" };
    }

    fn is_broken(&self, broken: &[u32]) -> bool {
        match &self.kind {
            ItemKind::Reasoning | ItemKind::Message => false,
            ItemKind::Call(call) => {
                broken.contains(&call.index)
                    || serde_json::from_str::<IgnoredAny>(&self.text).is_err()
            }
            ItemKind::Custom(call) => broken.contains(&call.index) || self.input().is_none(),
        }
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, ItemKind::Call(_) | ItemKind::Custom(_))
    }

    fn part(&self, text: &str) -> Value {
        match self.kind {
            ItemKind::Reasoning => json!({"type": "reasoning_text", "text": text}),
            _ => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { id, status, text, kind } = self;
        // The item has no part before its first text.
        let content = if text.is_empty() { json!([]) } else { json!([self.part(text)]) };
        match kind {
            ItemKind::Reasoning => {
                let summary = json!({"type": "summary_text", "text": text});
                let summary = if text.is_empty() { json!([]) } else { json!([summary]) };
                json!({
                    "type": "reasoning", "id": id, "status": status, "summary": summary,
                    "content": content,
                })
            }
            ItemKind::Message => json!({
                "type": "message", "id": id, "status": status, "role": "assistant",
                "content": content,
            }),
            ItemKind::Call(call) => call.to_json(json!({
                "type": "function_call", "id": id, "status": status, "call_id": call.id,
                "name": call.name, "arguments": text,
            })),
            ItemKind::Custom(call) => call.to_json(json!({
                "type": "custom_tool_call", "id": id, "status": status, "call_id": call.id,
                "name": call.name, "input": self.input().unwrap_or_else(|| text.clone()),
            })),
        }
    }
}
