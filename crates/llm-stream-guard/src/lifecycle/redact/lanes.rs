//! Redaction of the texts of a choice, each with its own redactor.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stream_lifecycle::WithheldInfo;

use super::{MatchTooLong, Redacted, Redactor};
use crate::{
    chat::{Content, Field, FunctionDelta, MessageDelta, ToolCallDelta, append_to},
    limits::MAX_LANES,
    record::withheld,
};

/// A text that grows from chunk to chunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RedactedText {
    Content,
    Reasoning,
    ReasoningContent,
    Refusal,
    Transcript,
    /// A text field of the entry of `reasoning_details` with this index.
    Detail(u64, &'static str),
}

/// Why a choice's stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overrun {
    Match,
    Arguments,
    Lanes,
}

impl From<MatchTooLong> for Overrun {
    fn from(_: MatchTooLong) -> Self {
        Self::Match
    }
}

/// The texts of a choice.
#[derive(Debug, Clone, Default)]
pub(super) struct Lanes {
    open: BTreeMap<RedactedText, Redactor>,
    /// Other members of each entry of `reasoning_details`, for entries that are added here.
    details: BTreeMap<u64, Map<String, Value>>,
    /// Held arguments of calls, by index. The index of a call in the old form (`function_call`) is
    /// `None`.
    arguments: BTreeMap<Option<u32>, String>,
}

impl Lanes {
    /// The text fields of an entry of `reasoning_details`. The field `data` is encrypted.
    const DETAIL: [&'static str; 2] = ["text", "summary"];

    /// Redacts the texts of a delta. `arguments` is the maximum bytes of a call's arguments, if
    /// calls are redacted.
    pub(super) fn push(
        &mut self,
        new: &Redactor,
        delta: &mut MessageDelta,
        arguments: Option<usize>,
    ) -> Result<(), Overrun> {
        let mut result = self.field(new, RedactedText::Reasoning, &mut delta.reasoning);
        result = result.and(self.field(
            new,
            RedactedText::ReasoningContent,
            &mut delta.reasoning_content,
        ));
        result = result.and(self.content(new, delta));
        let transcript = delta.extra.get_mut("audio").and_then(|audio| audio.get_mut("transcript"));
        result = result.and(self.value(new, RedactedText::Transcript, transcript));
        result = result.and(self.value(new, RedactedText::Refusal, delta.extra.get_mut("refusal")));
        result = result.and(self.details(new, delta.extra.get_mut("reasoning_details")));
        if let Some(limit) = arguments {
            result = result.and(self.calls(new, delta, limit));
        }
        if self.open.len().saturating_add(self.arguments.len()) > MAX_LANES {
            result = result.and(Err(Overrun::Lanes));
        }
        result
    }

    fn lane(&mut self, new: &Redactor, lane: RedactedText) -> &mut Redactor {
        self.open.entry(lane).or_insert_with(|| new.clone())
    }

    /// Redacts a text field. The field is removed if its whole text is held.
    fn field(
        &mut self,
        new: &Redactor,
        lane: RedactedText,
        field: &mut Field<String>,
    ) -> Result<(), Overrun> {
        let Field::Value(text) = field else { return Ok(()) };
        let (passed, result) = self.lane(new, lane).pass(text);
        match passed {
            Redacted::Unchanged => {}
            Redacted::Changed(seen) => *text = seen,
            Redacted::Held => *field = Field::Missing,
        }
        Ok(result?)
    }

    /// Redacts a text value. The value becomes empty if its whole text is held.
    fn value(
        &mut self,
        new: &Redactor,
        lane: RedactedText,
        value: Option<&mut Value>,
    ) -> Result<(), Overrun> {
        let Some(Value::String(text)) = value else { return Ok(()) };
        let (passed, result) = self.lane(new, lane).pass(text);
        match passed {
            Redacted::Unchanged => {}
            Redacted::Changed(seen) => *text = seen,
            Redacted::Held => text.clear(),
        }
        Ok(result?)
    }

    fn content(&mut self, new: &Redactor, delta: &mut MessageDelta) -> Result<(), Overrun> {
        match delta.content.take() {
            Field::Value(Content::Text(text)) => {
                let mut text = Field::Value(text);
                let result = self.field(new, RedactedText::Content, &mut text);
                delta.content = text.into_value().map(Content::Text).into();
                result
            }
            Field::Value(Content::Parts(mut parts)) => {
                let mut texts = parts.iter_mut().filter_map(|part| part.get_mut("text"));
                // Each part is a separate text.
                let result = texts.try_for_each(|text| new.clone().redact_value(text));
                delta.content = Field::Value(Content::Parts(parts));
                Ok(result?)
            }
            none => {
                delta.content = none;
                Ok(())
            }
        }
    }

    fn details(&mut self, new: &Redactor, details: Option<&mut Value>) -> Result<(), Overrun> {
        let Some(Value::Array(entries)) = details else { return Ok(()) };
        let mut result = Ok(());
        for (place, entry) in entries.iter_mut().enumerate() {
            let Value::Object(entry) = entry else { continue };
            let index = entry.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
            if self.details.len() < MAX_LANES {
                self.details.entry(index).or_insert_with(|| {
                    let tells = |name: &str| matches!(name, "type" | "index" | "id" | "format");
                    let fields = entry.iter().filter(|(name, _)| tells(name));
                    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
                });
            }
            for field in Self::DETAIL {
                let lane = RedactedText::Detail(index, field);
                result = result.and(self.value(new, lane, entry.get_mut(field)));
            }
        }
        result
    }

    /// Holds the arguments of calls. Arguments of earlier calls are emitted before a new call;
    /// arguments of whole calls are redacted in place.
    fn calls(
        &mut self,
        new: &Redactor,
        delta: &mut MessageDelta,
        limit: usize,
    ) -> Result<(), Overrun> {
        let mut result = Ok(());
        let calls = std::mem::take(&mut delta.tool_calls);
        for mut call in calls {
            if call.index.is_some() && !self.arguments.contains_key(&call.index) {
                result = result.and(self.end_calls(new, delta));
            }
            let index = call.index;
            if let Some(arguments) = call.function.as_mut().and_then(|it| it.arguments.as_mut()) {
                result = result.and(match index {
                    Some(_) => self.keep(index, arguments, limit),
                    None => Ok(new.clone().redact_json(arguments)?),
                });
            }
            delta.tool_calls.push(call);
        }
        let old = delta.extra.get_mut("function_call").and_then(|call| call.get_mut("arguments"));
        if let Some(Value::String(arguments)) = old {
            result = result.and(self.keep(None, arguments, limit));
        }
        result
    }

    fn keep(
        &mut self,
        index: Option<u32>,
        arguments: &mut String,
        limit: usize,
    ) -> Result<(), Overrun> {
        let kept = self.arguments.entry(index).or_default();
        if kept.len().saturating_add(arguments.len()) > limit {
            kept.clear();
            arguments.clear();
            return Err(Overrun::Arguments);
        }
        kept.push_str(arguments);
        arguments.clear();
        Ok(())
    }

    /// Adds the held arguments to the delta.
    fn end_calls(&mut self, new: &Redactor, delta: &mut MessageDelta) -> Result<(), Overrun> {
        let mut result = Ok(());
        for (index, mut arguments) in std::mem::take(&mut self.arguments) {
            if arguments.is_empty() {
                continue;
            }
            result = result.and(new.clone().redact_json(&mut arguments));
            if index.is_none() {
                put(delta, "function_call", json!({"arguments": arguments}), "arguments");
                continue;
            }
            let same = |call: &&mut ToolCallDelta| call.index == index;
            let here = delta.tool_calls.iter_mut().rev().find(same);
            let here = here.and_then(|call| call.function.as_mut());
            match here {
                Some(function) => function.arguments.get_or_insert_default().push_str(&arguments),
                None => {
                    let function = FunctionDelta { arguments: Some(arguments), ..<_>::default() };
                    let function = Some(function);
                    delta.tool_calls.push(ToolCallDelta { index, function, ..<_>::default() });
                }
            }
        }
        Ok(result?)
    }

    /// Adds all held text to the delta, because the choice is over.
    pub(super) fn finish(
        &mut self,
        new: &Redactor,
        delta: &mut MessageDelta,
    ) -> Result<(), Overrun> {
        for (lane, mut redactor) in std::mem::take(&mut self.open) {
            let Some(rest) = redactor.rest() else { continue };
            match lane {
                RedactedText::Content => add_content(delta, rest),
                RedactedText::Reasoning => delta.reasoning.append(&rest),
                RedactedText::ReasoningContent => delta.reasoning_content.append(&rest),
                RedactedText::Refusal => append_to(&mut delta.extra, "refusal", &rest),
                RedactedText::Transcript => {
                    put(delta, "audio", json!({"transcript": rest}), "transcript");
                }
                RedactedText::Detail(index, field) => {
                    let mut entry = self.details.get(&index).cloned().unwrap_or_default();
                    entry.insert(field.to_owned(), rest.into());
                    let list = delta.extra.entry("reasoning_details").or_insert_with(|| json!([]));
                    if let Value::Array(list) = list {
                        list.push(entry.into());
                    }
                }
            }
        }
        self.end_calls(new, delta)
    }

    pub(super) fn held(&self) -> WithheldInfo {
        let texts = self.open.values().map(|one| withheld(one.held()));
        let calls = self.arguments.values().map(|one| WithheldInfo::bytes(one.len(), "call"));
        texts.chain(calls).fold(WithheldInfo::NOTHING, WithheldInfo::and)
    }
}

fn add_content(delta: &mut MessageDelta, rest: String) {
    match &mut delta.content {
        Field::Value(Content::Text(text)) => text.push_str(&rest),
        Field::Value(Content::Parts(parts)) => {
            parts.insert(0, json!({"type": "text", "text": rest}));
        }
        none => *none = Field::Value(Content::Text(rest)),
    }
}

/// Adds text to a field of an object in the delta, and adds the object if it is missing.
fn put(delta: &mut MessageDelta, object: &str, new: Value, field: &str) {
    match (delta.extra.get_mut(object), new.get(field).and_then(Value::as_str)) {
        (Some(Value::Object(there)), Some(rest)) => append_to(there, field, rest),
        _ => drop(delta.extra.insert(object.to_owned(), new)),
    }
}
