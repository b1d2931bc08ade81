//! The parts of a clean chunk, in order.

use llm_stream_guard::chat::{Chunk, Content, Delta, ToolCallDelta};
use serde_json::{Value, json};

/// One part of the first choice of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'c> {
    Reasoning(&'c str),
    Text(&'c str),
    /// The start of a call.
    Call {
        index: u32,
        id: &'c str,
        name: &'c str,
    },
    /// The next piece of a call's arguments.
    Arguments {
        index: u32,
        text: &'c str,
    },
    /// Upstream's word for why it ended.
    Finish(&'c str),
}

/// Calls `on` with the parts of `chunk`. A clean chunk has parts of one kind, and the start of a
/// call comes first.
pub(super) fn parts<'c>(chunk: &'c Chunk, mut on: impl FnMut(Part<'c>)) {
    for choice in chunk.choices.iter().filter(|choice| choice.index == 0) {
        delta(&choice.delta, &mut on);
        if let Some(reason) = choice.finish_reason.value() {
            on(Part::Finish(reason));
        }
    }
}

/// Calls `on` with the parts of a message, or of a piece of one.
pub(super) fn delta<'c>(delta: &'c Delta, on: &mut impl FnMut(Part<'c>)) {
    let mut some = |text: Option<&'c str>, part: fn(&'c str) -> Part<'c>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            on(part(text));
        }
    };
    some(delta.reasoning_text(), Part::Reasoning);
    match delta.content.value() {
        Some(Content::Text(text)) => some(Some(text), Part::Text),
        Some(Content::Parts(parts)) => {
            parts
                .iter()
                .for_each(|part| some(part.get("text").and_then(Value::as_str), Part::Text));
        }
        None => {}
    }
    // These dialects have no field for a refusal.
    some(delta.extra.get("refusal").and_then(Value::as_str), Part::Text);
    for (place, ToolCallDelta { index, id, function, .. }) in (0..).zip(&delta.tool_calls) {
        let (index, function) = (index.unwrap_or(place), function.as_ref());
        if let (Some(id), Some(name)) = (id, function.and_then(|it| it.name.as_deref())) {
            on(Part::Call { index, id, name });
        }
        let arguments = function.and_then(|it| it.arguments.as_deref());
        if let Some(text) = arguments.filter(|text| !text.is_empty()) {
            on(Part::Arguments { index, text });
        }
    }
}

/// A number of tokens that upstream counted; 0 if it did not.
pub(super) fn tokens(usage: Option<&Value>, path: &str) -> u64 {
    usage.and_then(|usage| usage.pointer(path)?.as_u64()).unwrap_or(0)
}

/// Returns the number of reasoning tokens that upstream or the guard counted, and whether it is an
/// estimate.
pub(super) fn reasoning_tokens(usage: Option<&Value>) -> Value {
    let details = usage.and_then(|usage| usage.get("completion_tokens_details"));
    let mut said = json!({"reasoning_tokens": tokens(details, "/reasoning_tokens")});
    let name = "reasoning_tokens_estimated";
    if let (Some(fields), Some(estimated)) =
        (said.as_object_mut(), details.and_then(|details| details.get(name)))
    {
        fields.insert(name.to_owned(), estimated.clone());
    }
    said
}
