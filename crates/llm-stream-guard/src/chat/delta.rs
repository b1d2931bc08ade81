//! Deltas: single additions to an answer.

use serde_json::{Map, Value};
use toolcall_parsers::Outcome;

use crate::chat::model::chunk::{Content, MessageDelta, ToolCallDelta};

/// One addition to an answer. [`super::ChatStep::deltas`] lists those of a step of a stream,
/// [`MessageDelta::deltas`] those of a message or of a chunk's choice.
///
/// Log probabilities, content parts that are not text, and fields without a variant here are in
/// chunks only.
///
/// ```
/// use llm_stream_guard::chat::{Delta, MessageDelta};
/// let message: MessageDelta = serde_json::from_str(
///     r#"{"reasoning": "hm", "content": [{"type": "text", "text": "Hi."}]}"#)?;
/// let mut seen = Vec::new();
/// message.deltas(|delta| seen.push(delta));
/// assert_eq!(seen, [Delta::Reasoning("hm"), Delta::Content("Hi.")]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// The fields around the choices (`id`, `model`, ..), first in each step.
    Around(&'a Map<String, Value>),
    /// Role of the speaker, once.
    Role(&'a str),
    /// Text of the reasoning.
    Reasoning(&'a str),
    /// Signature of the reasoning, by which the server that wrote it recognises it
    /// (`thinking_blocks[].signature`).
    Signature(&'a str),
    /// Visible text of the answer.
    Content(&'a str),
    /// Text of a refusal to answer.
    Refusal(&'a str),
    /// The start of a call.
    CallStart {
        /// Position among the choice's calls.
        index: u32,
        /// Identifier of the started call.
        id: &'a str,
        /// Name of the called tool.
        name: &'a str,
        /// Further fields of a call that the server made, such as `extra_content`.
        fields: &'a Map<String, Value>,
    },
    /// An addition to the arguments of a call.
    CallArguments {
        /// Position among the choice's calls.
        index: u32,
        /// The next piece of JSON text.
        fragment: &'a str,
    },
    /// The end of a call. A stream has one for each call that it began.
    CallEnd {
        /// Position among the choice's calls.
        index: u32,
        /// Outcome of the call.
        outcome: Outcome,
        /// Text that makes the arguments invalid for every JSON reader, also for those that complete
        /// JSON that was cut. Empty if the call runs. A writer for clients that do not see the
        /// outcome adds it to the arguments, as chunks do.
        seal: &'a str,
    },
    /// The end of the choice.
    Finish {
        /// Finish reason from upstream or from the guard.
        reason: &'a str,
        /// Further fields of the choice, such as `stop_reason`.
        fields: &'a Map<String, Value>,
    },
    /// Token usage, last in its step.
    Usage(&'a Value),
}

impl MessageDelta {
    /// Calls `on` with each addition, in order.
    pub fn deltas<'d>(&'d self, mut on: impl FnMut(Delta<'d>)) {
        self.texts(&mut on);
        for (place, call) in (0..).zip(&self.tool_calls) {
            call.deltas(place, &mut on);
        }
    }

    /// Calls `on` with each addition that is not a call.
    pub(super) fn texts<'d>(&'d self, on: &mut impl FnMut(Delta<'d>)) {
        let mut some = |text: Option<&'d str>, delta: fn(&'d str) -> Delta<'d>| {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                on(delta(text));
            }
        };
        some(self.role.value().map(String::as_str), Delta::Role);
        some(self.reasoning_text(), Delta::Reasoning);
        let blocks = self.extra.get("thinking_blocks").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            some(block.get("signature").and_then(Value::as_str), Delta::Signature);
        }
        match self.content.value() {
            Some(Content::Text(text)) => some(Some(text), Delta::Content),
            Some(Content::Parts(parts)) => parts.iter().for_each(|part| {
                part_texts(part, |text, delta| some(Some(text), delta));
            }),
            None => {}
        }
        some(self.extra.get("refusal").and_then(Value::as_str), Delta::Refusal);
    }
}

/// Calls `on` with the texts of a content part. A part of reasoning holds text, or parts of text.
///
/// ```text
/// {"type": "text", "text": "Hi."}
/// {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
/// ```
fn part_texts<'d>(part: &'d Value, mut on: impl FnMut(&'d str, fn(&'d str) -> Delta<'d>)) {
    match part.get("thinking") {
        Some(Value::String(text)) => on(text, Delta::Reasoning),
        Some(Value::Array(inner)) => {
            let texts = inner.iter().filter_map(|part| part.get("text")?.as_str());
            texts.for_each(|text| on(text, Delta::Reasoning));
        }
        _ => {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                on(text, Delta::Content);
            }
        }
    }
}

impl ToolCallDelta {
    /// Calls `on` with the additions of a call, which is at `place` in its delta.
    pub(super) fn deltas<'d>(&'d self, place: u32, on: &mut impl FnMut(Delta<'d>)) {
        let (index, function) = (self.index.unwrap_or(place), self.function.as_ref());
        if let Some(id) = &self.id {
            let name = function.and_then(|it| it.name.as_deref()).unwrap_or_default();
            on(Delta::CallStart { index, id, name, fields: &self.extra });
        }
        let fragment = function.and_then(|it| it.arguments.as_deref());
        if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
            on(Delta::CallArguments { index, fragment });
        }
    }
}
