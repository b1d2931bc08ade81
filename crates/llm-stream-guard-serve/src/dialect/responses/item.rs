//! Items of a response's output.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{super::parts::Part, tools::INPUT};

/// Many clients show the summary of reasoning and not the reasoning: it has the same text.
const SUMMARY: &str = "response.reasoning_summary";
const SUMMARY_DELTA: &str = "response.reasoning_summary_text.delta";

/// Reasoning, a message or a call, as far as it goes.
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
    Call {
        index: u32,
        id: String,
        name: String,
    },
    /// A call of a tool that takes text; the item's text is its arguments.
    Custom {
        index: u32,
        id: String,
        name: String,
    },
}

impl Item {
    /// The item that `part` begins, if it begins one. `id` is what ids of the response share,
    /// `custom` the names of tools that take text.
    pub(super) fn begun(part: Part<'_>, id: String, custom: &[String]) -> Option<Self> {
        let (prefix, kind) = match part {
            Part::Reasoning(_) => ("rs", ItemKind::Reasoning),
            Part::Text(_) => ("msg", ItemKind::Message),
            Part::Call { index, id, name } if custom.iter().any(|custom| custom == name) => {
                ("ctc", ItemKind::Custom { index, id: id.into(), name: name.into() })
            }
            Part::Call { index, id, name } => {
                ("fc", ItemKind::Call { index, id: id.into(), name: name.into() })
            }
            Part::Arguments { .. } | Part::Finish(_) => return None,
        };
        let id = format!("{prefix}_{id}");
        Some(Self { id, status: "in_progress", text: String::new(), kind })
    }

    /// Whether `part` is more of it.
    pub(super) fn takes(&self, part: Part<'_>) -> bool {
        matches!(
            (&self.kind, part),
            (ItemKind::Reasoning, Part::Reasoning(_))
                | (ItemKind::Message, Part::Text(_))
                | (ItemKind::Call { .. } | ItemKind::Custom { .. }, Part::Arguments { .. })
        )
    }

    /// Takes a part and returns its events, without the item's index.
    pub(super) fn grow(&mut self, part: Part<'_>) -> Vec<Value> {
        let (Part::Reasoning(text) | Part::Text(text) | Part::Arguments { text, .. }) = part else {
            return Vec::new();
        };
        self.text.push_str(text);
        match self.kind {
            ItemKind::Reasoning => vec![
                self.event("response.reasoning_text.delta", "delta", text),
                self.event(SUMMARY_DELTA, "delta", text),
            ],
            ItemKind::Message => vec![self.event("response.output_text.delta", "delta", text)],
            ItemKind::Call { .. } => {
                vec![self.event("response.function_call_arguments.delta", "delta", text)]
            }
            // Its text is known when its arguments are whole.
            ItemKind::Custom { .. } => Vec::new(),
        }
    }

    /// Returns the events after the one that adds the item, without the item's index.
    pub(super) fn beginnings(&self) -> Vec<Value> {
        match self.kind {
            ItemKind::Reasoning => {
                vec![self.part_event("added", ""), self.summary_event("added", "")]
            }
            ItemKind::Message => vec![self.part_event("added", "")],
            ItemKind::Call { .. } | ItemKind::Custom { .. } => Vec::new(),
        }
    }

    /// The events that end its text, without the item's index.
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
            ItemKind::Call { name, .. } => {
                let mut done =
                    self.event("response.function_call_arguments.done", "arguments", text);
                done["name"] = name.as_str().into();
                vec![done]
            }
            ItemKind::Custom { .. } => {
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
            ItemKind::Call { .. } | ItemKind::Custom { .. } => {}
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

    /// The text that a tool is given, if the call's arguments are whole.
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

    /// The answer was cut in it; a call may have been whole by then.
    pub(super) fn cut(&mut self, broken: &[u32]) {
        let whole = self.is_call() && !self.is_broken(broken);
        self.status = if whole { "completed" } else { "incomplete" };
    }

    fn is_broken(&self, broken: &[u32]) -> bool {
        match &self.kind {
            ItemKind::Reasoning | ItemKind::Message => false,
            ItemKind::Call { index, .. } => {
                broken.contains(index) || serde_json::from_str::<IgnoredAny>(&self.text).is_err()
            }
            ItemKind::Custom { index, .. } => broken.contains(index) || self.input().is_none(),
        }
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, ItemKind::Call { .. } | ItemKind::Custom { .. })
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
            ItemKind::Call { id: call, name, .. } => json!({
                "type": "function_call", "id": id, "status": status, "call_id": call,
                "name": name, "arguments": text,
            }),
            ItemKind::Custom { id: call, name, .. } => json!({
                "type": "custom_tool_call", "id": id, "status": status, "call_id": call,
                "name": name, "input": self.input().unwrap_or_else(|| text.clone()),
            }),
        }
    }
}
