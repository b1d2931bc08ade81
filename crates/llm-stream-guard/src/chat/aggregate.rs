//! From the chunks of a stream to a whole response.

use serde_json::Value;

use super::{
    chunk::{Chunk, Content, Delta, FunctionDelta, ToolCallDelta},
    completion::{Completion, CompletionChoice},
    field::Field,
    merge::{Texts, merge},
};

/// Puts the chunks of a stream together, clean or not: content, reasoning, refusals, calls, log
/// probabilities, usage, unknown fields, any number of choices.
///
/// Content that no text came for is `null` if the choice has reasoning, calls or a refusal, else
/// it is empty text. Unknown fields of deltas grow if they are text or lists, merge if they are
/// objects, and are replaced otherwise; text beside a delta is replaced, too.
#[derive(Debug, Clone, Default)]
pub struct Aggregator {
    response: Completion,
    bytes: usize,
    limit: Option<usize>,
    truncated: bool,
}

impl Aggregator {
    /// Keeps at most `limit` bytes of text and arguments; what comes then is not kept.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// Whether the limit was hit: the response is a beginning.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Adds the next chunk.
    #[expect(
        clippy::indexing_slicing,
        reason = "`at` is where the choice is, found or just inserted"
    )]
    pub fn push(&mut self, chunk: &Chunk) {
        if !chunk.usage.is_missing()
            && (chunk.usage.value().is_some() || self.response.usage.is_missing())
        {
            self.response.usage = chunk.usage.clone();
        }
        for (name, value) in &chunk.fields {
            if self.response.fields.get(name) == Some(value) {
                continue;
            }
            if name == "object" {
                let whole = value.as_str().map_or(value.clone(), |name| {
                    name.strip_suffix(".chunk").unwrap_or(name).into()
                });
                self.response.fields.insert(name.clone(), whole);
            } else if !value.is_null() || !self.response.fields.contains_key(name) {
                self.response.fields.insert(name.clone(), value.clone());
            }
        }
        for choice in &chunk.choices {
            if !self.admits(size(&choice.delta)) {
                continue;
            }
            let choices = &mut self.response.choices;
            let at = match choices.binary_search_by_key(&choice.index, |it| it.index) {
                Ok(at) => at,
                Err(at) => {
                    let new = CompletionChoice { index: choice.index, ..Default::default() };
                    choices.insert(at, new);
                    at
                }
            };
            let whole = &mut choices[at];
            add_delta(&mut whole.message, &choice.delta);
            if whole.finish_reason.value().is_none() && !choice.finish_reason.is_missing() {
                whole.finish_reason = choice.finish_reason.clone();
            }
            match (&mut whole.logprobs, &choice.logprobs) {
                (_, Field::Missing) | (Field::Value(_), Field::Null) => {}
                (Field::Value(Value::Object(old)), Field::Value(Value::Object(new))) => {
                    merge(old, new, Texts::Stay);
                }
                (old, new) => *old = new.clone(),
            }
            merge(&mut whole.extra, &choice.extra, Texts::Stay);
        }
    }

    /// The response up to now.
    pub(crate) fn so_far(&self) -> &Completion {
        &self.response
    }

    /// The response.
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

    /// Whether `more` bytes are within the limit.
    fn admits(&mut self, more: usize) -> bool {
        self.bytes = self.bytes.saturating_add(more);
        let admitted = self.limit.is_none_or(|limit| self.bytes <= limit);
        self.truncated |= !admitted;
        admitted
    }
}

/// The bytes of text and arguments in a delta.
fn size(delta: &Delta) -> usize {
    let call = |call: &ToolCallDelta| {
        let arguments = call.function.as_ref().and_then(|it| it.arguments.as_ref());
        arguments.map_or(0, String::len)
    };
    let texts = [delta.text(), delta.reasoning_text()].map(|text| text.map_or(0, str::len));
    texts.into_iter().chain(delta.tool_calls.iter().map(call)).sum()
}

fn add_delta(message: &mut Delta, delta: &Delta) {
    if message.role.value().is_none() && delta.role.value().is_some() {
        message.role = delta.role.clone();
    }
    match (&mut message.content, &delta.content) {
        (Field::Value(Content::Text(text)), Field::Value(Content::Text(more))) => {
            text.push_str(more);
        }
        (_, Field::Missing | Field::Null) => {}
        (Field::Value(content), Field::Value(more)) => {
            let mut parts = into_parts(std::mem::replace(content, Content::Parts(Vec::new())));
            for part in into_parts(more.clone()) {
                join(&mut parts, part);
            }
            *content = Content::Parts(parts);
        }
        (content, Field::Value(more)) => *content = Field::Value(more.clone()),
    }
    add_text(&mut message.reasoning, &delta.reasoning);
    add_text(&mut message.reasoning_content, &delta.reasoning_content);
    for call in &delta.tool_calls {
        add_call(&mut message.tool_calls, call);
    }
    merge(&mut message.extra, &delta.extra, Texts::Grow);
}

fn add_text(whole: &mut Field<String>, more: &Field<String>) {
    if let Some(more) = more.value().filter(|more| !more.is_empty()) {
        whole.append(more);
    }
}

/// Content as parts: text is a part, too.
fn into_parts(content: Content) -> Vec<Value> {
    match content {
        Content::Parts(parts) => parts,
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![serde_json::json!({"type": "text", "text": text})],
    }
}

/// Adds a part; text continues text.
fn join(parts: &mut Vec<Value>, part: Value) {
    let is_text = |part: &Value| part.get("type").and_then(Value::as_str) == Some("text");
    if let (Some(last), Some(Value::String(more))) = (parts.last_mut(), part.get("text"))
        && is_text(last)
        && is_text(&part)
        && let Some(Value::String(text)) = last.get_mut("text")
    {
        text.push_str(more);
        return;
    }
    parts.push(part);
}

#[expect(clippy::indexing_slicing, reason = "`at` is where the call was found")]
fn add_call(calls: &mut Vec<ToolCallDelta>, delta: &ToolCallDelta) {
    let known = |call: &ToolCallDelta| delta.index.is_some() && call.index == delta.index;
    let Some(at) = calls.iter().rposition(known) else {
        calls.push(delta.clone());
        return;
    };
    let call = &mut calls[at];
    let fill = |old: &mut Option<String>, new: &Option<String>| {
        if old.is_none() {
            old.clone_from(new);
        }
    };
    fill(&mut call.id, &delta.id);
    fill(&mut call.kind, &delta.kind);
    if let Some(more) = &delta.function {
        let function = call.function.get_or_insert_with(FunctionDelta::default);
        fill(&mut function.name, &more.name);
        if let Some(arguments) = &more.arguments {
            function.arguments.get_or_insert_default().push_str(arguments);
        }
        merge(&mut function.extra, &more.extra, Texts::Grow);
    }
    merge(&mut call.extra, &delta.extra, Texts::Grow);
}
