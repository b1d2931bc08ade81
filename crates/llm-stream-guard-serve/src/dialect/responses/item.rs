//! Items of a response's output.

#![expect(clippy::indexing_slicing, reason = "`event` makes an object")]

use serde_json::{Value, json};

use super::super::parts::Part;

/// Reasoning, a message or a call, as far as it goes.
#[derive(Debug)]
pub(super) struct Item {
    id: String,
    status: &'static str,
    text: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Reasoning,
    Message,
    Call { id: String, name: String },
}

impl Item {
    /// The item that `part` begins, if it begins one. `id` is what ids of the response share.
    pub(super) fn begun(part: Part<'_>, id: String) -> Option<Self> {
        let (prefix, kind) = match part {
            Part::Reasoning(_) => ("rs", Kind::Reasoning),
            Part::Text(_) => ("msg", Kind::Message),
            Part::Call { id, name, .. } => ("fc", Kind::Call { id: id.into(), name: name.into() }),
            Part::Arguments { .. } | Part::Finish(_) => return None,
        };
        let id = format!("{prefix}_{id}");
        Some(Self { id, status: "in_progress", text: String::new(), kind })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Whether `part` is more of it.
    pub(super) fn takes(&self, part: Part<'_>) -> bool {
        matches!(
            (&self.kind, part),
            (Kind::Reasoning, Part::Reasoning(_))
                | (Kind::Message, Part::Text(_))
                | (Kind::Call { .. }, Part::Arguments { .. })
        )
    }

    /// Takes a part in; the event that tells it, without the item's index.
    pub(super) fn grow(&mut self, part: Part<'_>) -> Option<Value> {
        let (Part::Reasoning(text) | Part::Text(text) | Part::Arguments { text, .. }) = part else {
            return None;
        };
        self.text.push_str(text);
        let name = match self.kind {
            Kind::Reasoning => "response.reasoning_text.delta",
            Kind::Message => "response.output_text.delta",
            Kind::Call { .. } => "response.function_call_arguments.delta",
        };
        Some(self.event(name, "delta", text))
    }

    /// The events that end its text, without the item's index.
    pub(super) fn endings(&self) -> Vec<Value> {
        let name = match self.kind {
            Kind::Reasoning => "response.reasoning_text.done",
            Kind::Message => "response.output_text.done",
            Kind::Call { .. } => "response.function_call_arguments.done",
        };
        let key = if self.is_call() { "arguments" } else { "text" };
        let mut done = self.event(name, key, &self.text);
        if let Kind::Call { name, .. } = &self.kind {
            done["name"] = name.as_str().into();
            return vec![done];
        }
        let part = json!({
            "type": "response.content_part.done", "item_id": self.id, "content_index": 0,
            "part": self.part(&self.text),
        });
        vec![done, part]
    }

    fn event(&self, name: &str, key: &str, text: &str) -> Value {
        let mut event = json!({"type": name, "item_id": self.id, key: text});
        if !self.is_call() {
            event["content_index"] = 0.into();
        }
        if self.kind == Kind::Message {
            event["logprobs"] = json!([]);
        }
        event
    }

    /// Nothing of it is missing.
    pub(super) fn done(&mut self) {
        if self.status == "in_progress" {
            self.status = "completed";
        }
    }

    /// It was cut.
    pub(super) fn cut(&mut self) {
        self.status = "incomplete";
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, Kind::Call { .. })
    }

    /// The part its text stands in, still empty; calls have none.
    pub(super) fn empty_part(&self) -> Option<Value> {
        (!self.is_call()).then(|| self.part(""))
    }

    fn part(&self, text: &str) -> Value {
        match self.kind {
            Kind::Reasoning => json!({"type": "reasoning_text", "text": text}),
            _ => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { id, status, text, kind } = self;
        // Before its first text there is no part.
        let content = if text.is_empty() { json!([]) } else { json!([self.part(text)]) };
        match kind {
            Kind::Reasoning => json!({
                "type": "reasoning", "id": id, "status": status, "summary": [], "content": content,
            }),
            Kind::Message => json!({
                "type": "message", "id": id, "status": status, "role": "assistant",
                "content": content,
            }),
            Kind::Call { id: call, name } => json!({
                "type": "function_call", "id": id, "status": status, "call_id": call,
                "name": name, "arguments": text,
            }),
        }
    }
}
