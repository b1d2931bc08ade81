//! Decoding of remapped delimiters in reasoning, refusals, arguments and parts, as they arrive. The
//! guard decodes the text of the content itself.

use serde_json::{Map, Value};
use wire_remap::{
    Location, Regime, RemapReport,
    bodies::{ResponseRemap, TextId, TextKind as Text},
};

use crate::chat::model::{
    chunk::{Choice, Content, FunctionDelta, MessageDelta, ToolCallDelta},
    field::{Field, append_to},
};

/// A decoder of one choice, except for the text of its content.
#[derive(Debug, Clone)]
pub(in crate::chat) struct ChoiceRemap {
    remap: ResponseRemap,
    /// Texts that have begun and not ended, in the order in which they began.
    open: Vec<TextId>,
}

/// Number of the call in the older form (`function_call`), which no other call has.
const ONLY: u64 = u64::MAX;

/// First number of text parts of content and of entries of `reasoning_details`.
const PARTS: u64 = 1 << 32;

impl ChoiceRemap {
    pub(in crate::chat) fn new(regime: &Regime) -> Option<Box<Self>> {
        regime.table()?;
        Some(Box::new(Self { remap: regime.response(), open: Vec::new() }))
    }

    /// Returns the counts of remapping so far.
    pub(in crate::chat) fn report(&self) -> RemapReport {
        self.remap.report()
    }

    /// Decodes the texts of a chunk. A text ends with the choice, or when another text continues;
    /// its held part is then emitted first.
    pub(in crate::chat) fn read(&mut self, choice: &mut Choice) {
        let delta = &mut choice.delta;
        let silent = self.open.is_empty() && delta.tool_calls.is_empty() && delta.extra.is_empty();
        if silent
            && delta.reasoning.value().is_none()
            && delta.reasoning_content.value().is_none()
            && !matches!(delta.content, Field::Value(Content::Parts(_)))
        {
            return;
        }
        let speaks = delta.text().is_some_and(|text| !text.is_empty());
        let mut said = Vec::new();
        each_text(delta, &mut |slot, text| {
            said.push(slot);
            self.decode(slot, text);
        });
        let ended = choice.finish_reason.value().is_some();
        if ended || speaks || !said.is_empty() {
            // Deltas of several calls may alternate, so that no call ends before the choice does.
            let is_call = |slot: &TextId| matches!(slot.field, Text::Arguments | Text::Input);
            let over = |slot: &TextId| ended || !is_call(slot) && !said.contains(slot);
            let over: Vec<TextId> = self.open.iter().copied().filter(over).collect();
            over.into_iter().for_each(|slot| self.end(slot, &mut choice.delta));
        }
    }

    /// Returns the held parts of texts that did not end.
    pub(in crate::chat) fn rest(&mut self, index: u32) -> Option<Choice> {
        let mut choice = Choice { index, ..Choice::default() };
        for slot in std::mem::take(&mut self.open) {
            self.end(slot, &mut choice.delta);
        }
        (choice.delta != MessageDelta::default()).then_some(choice)
    }

    fn decode(&mut self, slot: TextId, text: &mut String) {
        let mut out = String::with_capacity(text.len());
        if self.remap.push(slot, text, |piece| out.push_str(piece.text())) {
            *text = out;
            if !self.open.contains(&slot) {
                self.open.push(slot);
            }
        }
    }

    fn end(&mut self, slot: TextId, delta: &mut MessageDelta) {
        self.open.retain(|open| *open != slot);
        let mut rest = String::new();
        self.remap.end(slot, |piece| rest.push_str(piece.text()));
        if !rest.is_empty() {
            put(delta, slot, &rest);
        }
    }
}

/// Calls `on` with each text of a delta, except for the text of its content.
fn each_text(delta: &mut MessageDelta, on: &mut dyn FnMut(TextId, &mut String)) {
    let slot = |part, field| TextId { choice: 0, part, field };
    let named = [
        (&mut delta.reasoning, Text::Reasoning),
        (&mut delta.reasoning_content, Text::ReasoningContent),
    ];
    for (text, field) in named {
        if let Field::Value(text) = text {
            on(slot(0, field), text);
        }
    }
    for (name, field) in [("thinking", Text::Thinking), ("refusal", Text::Refusal)] {
        if let Some(Value::String(text)) = delta.extra.get_mut(name) {
            on(slot(0, field), text);
        }
    }
    if let Some(Value::Array(details)) = delta.extra.get_mut("reasoning_details") {
        for (at, detail) in details.iter_mut().enumerate() {
            let signed = detail.get("signature").is_some_and(|signature| !signature.is_null());
            let index = detail.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
            let part = PARTS.saturating_add(index);
            for (name, field) in DETAILS {
                if let Some(Value::String(text)) = detail.get_mut(name).filter(|_| !signed) {
                    on(slot(part, field), text);
                }
            }
        }
    }
    if let Field::Value(Content::Parts(parts)) = &mut delta.content {
        for part in parts {
            let is_text = part.get("type").is_none_or(|kind| kind == "text");
            if let Some(Value::String(text)) = part.get_mut("text").filter(|_| is_text) {
                on(slot(PARTS, Text::Content), text);
            }
        }
    }
    for (at, call) in delta.tool_calls.iter_mut().enumerate() {
        let part = call.index.map_or(at as u64, u64::from);
        if let Some(arguments) = call.function.as_mut().and_then(|it| it.arguments.as_mut()) {
            on(slot(part, Text::Arguments), arguments);
        }
        let custom = call.extra.get_mut("custom").and_then(|custom| custom.get_mut("input"));
        if let Some(Value::String(input)) = custom {
            on(slot(part, Text::Input), input);
        }
    }
    let old = delta.extra.get_mut("function_call").and_then(|call| call.get_mut("arguments"));
    if let Some(Value::String(arguments)) = old {
        on(slot(ONLY, Text::Arguments), arguments);
    }
}

const DETAILS: [(&str, Text); 2] = [("text", Text::Reasoning), ("summary", Text::ReasoningSummary)];

/// Adds the last piece of a text to the delta.
fn put(delta: &mut MessageDelta, slot: TextId, text: &str) {
    match slot.field {
        Text::Reasoning | Text::ReasoningSummary if slot.part >= PARTS => {
            let name = if slot.field == Text::Reasoning { "text" } else { "summary" };
            let details =
                delta.extra.entry("reasoning_details").or_insert_with(|| Value::Array(vec![]));
            if let Value::Array(details) = details {
                let index = slot.part.saturating_sub(PARTS);
                let kind = format!("reasoning.{name}");
                details.push(serde_json::json!({"type": kind, "index": index, name: text}));
            }
        }
        Text::Reasoning => delta.reasoning.append(text),
        Text::ReasoningContent => delta.reasoning_content.append(text),
        Text::Content => {
            let part = serde_json::json!({"type": "text", "text": text});
            match &mut delta.content {
                Field::Value(Content::Parts(parts)) => parts.insert(0, part),
                Field::Value(Content::Text(content)) => content.insert_str(0, text),
                content => *content = Field::Value(Content::Parts(vec![part])),
            }
        }
        Text::Arguments if slot.part == ONLY => {
            let call = delta.extra.entry("function_call").or_insert_with(|| Map::new().into());
            if let Value::Object(call) = call {
                append_to(call, "arguments", text);
            }
        }
        Text::Arguments | Text::Input => {
            let index = u32::try_from(slot.part).ok();
            let place = delta.tool_calls.iter().position(|call| call.index == index);
            let at = place.unwrap_or(delta.tool_calls.len());
            if place.is_none() {
                delta.tool_calls.push(ToolCallDelta { index, ..ToolCallDelta::default() });
            }
            let call = &mut delta.tool_calls[at];
            if slot.field == Text::Arguments {
                let function = call.function.get_or_insert_with(FunctionDelta::default);
                function.arguments.get_or_insert_default().push_str(text);
            } else if let Value::Object(custom) =
                call.extra.entry("custom").or_insert_with(|| Map::new().into())
            {
                append_to(custom, "input", text);
            }
        }
        field => {
            append_to(
                &mut delta.extra,
                if field == Text::Refusal { "refusal" } else { "thinking" },
                text,
            );
        }
    }
}

/// Returns the counts of remapping in a choice: of its content and of the other texts.
pub(in crate::chat) fn report(
    content: Option<wire_remap::Tally>,
    remap: Option<&ChoiceRemap>,
) -> RemapReport {
    let mut report = remap.map(ChoiceRemap::report).unwrap_or_default();
    if let Some(content) = content {
        report.add(Location::Content, &content);
    }
    report
}
