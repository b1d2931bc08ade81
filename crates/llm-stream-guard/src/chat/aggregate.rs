//! Joining the chunks of a stream into a whole response.

pub(super) mod room;

use serde_json::Value;

use crate::chat::{
    aggregate::room::{CHOICE, FINISH, Room, TEXT_PART, call, content, field},
    model::{
        chunk::{Choice, Chunk, Content, FunctionDelta, MessageDelta, ToolCallDelta},
        completion::{Completion, CompletionChoice},
        field::Field,
        merge::{Texts, merge},
    },
};

/// Joins the chunks of a stream, guarded or not: content, reasoning, refusals, calls, log
/// probabilities, usage, unknown fields, any number of choices.
///
/// Content without any text is `null` if the choice has reasoning, calls or a refusal, and empty
/// text otherwise. Unknown fields of deltas are appended if they are text or lists, merged if they
/// are objects, and replaced otherwise. Text fields next to a delta are replaced.
#[derive(Debug, Clone, Default)]
pub struct Aggregator {
    response: Completion,
    room: Room,
    /// Maximum weight of a usage report. Usage arrives last and has a separate limit.
    usage: Option<usize>,
    truncated: bool,
}

impl Aggregator {
    /// Creates an aggregator that keeps at most `limit` bytes. Text counts, and so does the memory
    /// of choices, calls, parts and fields, in the response and in its JSON. After the first value
    /// that does not fit, only finish reasons of known choices and the last usage report are added.
    /// The usage report may take another `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { room: Room::new(limit), usage: Some(limit), ..Self::default() }
    }

    /// Whether the limit was hit. The response is then only the beginning of the answer.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated || self.room.is_exceeded()
    }

    /// Adds the next chunk.
    pub fn push(&mut self, chunk: &Chunk) {
        let usage = &mut self.response.usage;
        if !chunk.usage.is_missing() && (chunk.usage.value().is_some() || usage.is_missing()) {
            match self.usage.is_none_or(|limit| field(&chunk.usage) <= limit) {
                true => *usage = chunk.usage.clone(),
                false => self.truncated = true,
            }
        }
        for (name, value) in &chunk.fields {
            self.add_field(name, value);
        }
        for choice in &chunk.choices {
            self.add_choice(choice);
        }
    }

    /// Adds a field next to the choices.
    fn add_field(&mut self, name: &str, value: &Value) {
        let Self { response: Completion { fields, .. }, room, .. } = self;
        let whole = value.as_str().filter(|_| name == "object");
        let whole = whole.and_then(|object| object.strip_suffix(".chunk")).map(Value::from);
        let value = whole.as_ref().unwrap_or(value);
        match fields.get_mut(name) {
            Some(old) if !value.is_null() => room.replace(old, value),
            Some(_) => {}
            None => room.insert(fields, name, value),
        }
    }

    fn add_choice(&mut self, choice: &Choice) {
        let Self { response: Completion { choices, .. }, room, .. } = self;
        let at = match choices.binary_search_by_key(&choice.index, |it| it.index) {
            Ok(at) => at,
            Err(_) if !room.take(CHOICE) => return,
            Err(at) => {
                let new = CompletionChoice { index: choice.index, ..Default::default() };
                choices.insert(at, new);
                at
            }
        };
        let whole = &mut choices[at];
        add_delta(&mut whole.message, &choice.delta, room);
        if whole.finish_reason.value().is_none() && !choice.finish_reason.is_missing() {
            let len = choice.finish_reason.value().map_or(0, String::len);
            if len <= FINISH || room.take(len) {
                whole.finish_reason = choice.finish_reason.clone();
            }
        }
        match (&mut whole.logprobs, &choice.logprobs) {
            (_, Field::Missing) | (Field::Value(_), Field::Null) => {}
            (Field::Value(Value::Object(old)), Field::Value(Value::Object(new))) => {
                merge(old, new, Texts::Stay, room);
            }
            (old, new) => {
                if room.swap(field(old), field(new)) {
                    *old = new.clone();
                }
            }
        }
        merge(&mut whole.extra, &choice.extra, Texts::Stay, room);
    }

    /// Returns the response so far.
    pub(crate) fn so_far(&self) -> &Completion {
        &self.response
    }

    /// Returns the joined response.
    #[must_use]
    pub fn finish(self) -> Completion {
        let mut response = self.response;
        for choice in &mut response.choices {
            let message = &mut choice.message;
            for call in &mut message.tool_calls {
                call.index = None;
            }
            if message
                .content
                .value()
                .is_none_or(|content| *content == Content::Text(String::new()))
            {
                let refused = message.extra.get("refusal").is_some_and(|it| !it.is_null());
                let other = message.reasoning_text().is_some() || !message.tool_calls.is_empty();
                message.content = match other || refused {
                    true => Field::Null,
                    false => Field::Value(Content::Text(String::new())),
                };
            }
        }
        response
    }
}

fn add_delta(message: &mut MessageDelta, delta: &MessageDelta, room: &mut Room) {
    if let (None, Some(role)) = (message.role.value(), delta.role.value())
        && room.take(role.len())
    {
        message.role = delta.role.clone();
    }
    if let Field::Value(more) = &delta.content {
        add_content(&mut message.content, more, room);
    }
    add_text(&mut message.reasoning, &delta.reasoning, room);
    add_text(&mut message.reasoning_content, &delta.reasoning_content, room);
    for call in &delta.tool_calls {
        add_call(&mut message.tool_calls, call, room);
    }
    merge(&mut message.extra, &delta.extra, Texts::Grow, room);
}

fn add_content(whole: &mut Field<Content>, more: &Content, room: &mut Room) {
    match (whole, more) {
        (Field::Value(Content::Text(text)), Content::Text(more)) => room.append(text, more),
        (Field::Value(whole), more) => {
            let text = matches!(whole, Content::Text(text) if !text.is_empty());
            if text && !room.take(TEXT_PART) {
                return;
            }
            let mut parts = into_parts(std::mem::replace(whole, Content::Parts(Vec::new())));
            for part in into_parts(more.clone()) {
                join(&mut parts, &part, room);
            }
            *whole = Content::Parts(parts);
        }
        (whole, more) => {
            if room.take(content(more)) {
                *whole = Field::Value(more.clone());
            }
        }
    }
}

fn add_text(whole: &mut Field<String>, more: &Field<String>, room: &mut Room) {
    if let Some(more) = more.value().filter(|more| !more.is_empty())
        && room.take(more.len())
    {
        whole.append(more);
    }
}

/// Converts content into a list of parts. Text becomes one part.
fn into_parts(content: Content) -> Vec<Value> {
    match content {
        Content::Parts(parts) => parts,
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![serde_json::json!({"type": "text", "text": text})],
    }
}

/// Adds a part; text continues text.
fn join(parts: &mut Vec<Value>, part: &Value, room: &mut Room) {
    let is_text = |part: &Value| part.get("type").and_then(Value::as_str) == Some("text");
    if let (Some(last), Some(Value::String(more))) = (parts.last_mut(), part.get("text"))
        && is_text(last)
        && is_text(part)
        && let Some(Value::String(text)) = last.get_mut("text")
    {
        room.append(text, more);
        return;
    }
    room.push(parts, part);
}

fn add_call(calls: &mut Vec<ToolCallDelta>, delta: &ToolCallDelta, room: &mut Room) {
    let known = |call: &ToolCallDelta| delta.index.is_some() && call.index == delta.index;
    let Some(at) = calls.iter().rposition(known) else {
        if room.take(call(delta)) {
            calls.push(delta.clone());
        }
        return;
    };
    let call = &mut calls[at];
    fill(&mut call.id, &delta.id, room);
    fill(&mut call.kind, &delta.kind, room);
    if let Some(more) = &delta.function {
        let function = call.function.get_or_insert_with(FunctionDelta::default);
        fill(&mut function.name, &more.name, room);
        if let Some(arguments) = &more.arguments {
            room.append(function.arguments.get_or_insert_default(), arguments);
        }
        merge(&mut function.extra, &more.extra, Texts::Grow, room);
    }
    merge(&mut call.extra, &delta.extra, Texts::Grow, room);
}

/// Sets a text that is written once, unless it is set or does not fit.
fn fill(old: &mut Option<String>, new: &Option<String>, room: &mut Room) {
    if let (None, Some(text)) = (&old, new)
        && room.take(text.len())
    {
        old.clone_from(new);
    }
}
