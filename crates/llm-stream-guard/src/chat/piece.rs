//! Pieces: what one step sets free of one choice, before it is packed into chunks.

use serde_json::{Map, Value};

use super::{
    chunk::{Choice, Content, Delta},
    field::Field,
    options::ReasoningField,
};

/// What a piece holds. Kinds do not mix, so that order within a choice is the order of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A role, unknown fields, or nothing yet: anything may join.
    Plain,
    Reasoning,
    Content,
    Calls,
    /// Nothing may join.
    Closed,
}

#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) choice: Choice,
    pub(super) kind: Kind,
    pub(super) logprobs: Option<Map<String, Value>>,
    /// The input chunk in which its text began.
    pub(super) origin: u64,
    /// How many pieces of the choice this step set free before it; known when packed.
    pub(super) ordinal: usize,
}

impl Piece {
    /// Whether what is of `kind` may join.
    pub(super) fn admits(&self, kind: Kind) -> bool {
        self.kind == Kind::Plain || (self.kind == kind && kind != Kind::Closed)
    }

    /// Whether it says nothing.
    pub(super) fn is_bare(&self) -> bool {
        let Choice { delta, finish_reason, extra, .. } = &self.choice;
        *delta == Delta::default()
            && finish_reason.value().is_none()
            && self.logprobs.is_none()
            && extra.is_empty()
    }

    /// Adds `text` to the content.
    pub(super) fn add_content(&mut self, text: &str, spare: &mut String) {
        match &mut self.choice.delta.content {
            Field::Value(Content::Text(content)) => content.push_str(text),
            content => {
                let mut fresh = std::mem::take(spare);
                fresh.push_str(text);
                *content = Field::Value(Content::Text(fresh));
            }
        }
    }

    /// Adds reasoning, under the name that is configured.
    pub(super) fn add_reasoning(&mut self, text: &str, name: ReasoningField) {
        let delta = &mut self.choice.delta;
        let field = match name {
            ReasoningField::Reasoning => &mut delta.reasoning,
            ReasoningField::ReasoningContent => &mut delta.reasoning_content,
        };
        match field {
            Field::Value(reasoning) => reasoning.push_str(text),
            field => *field = Field::Value(text.to_owned()),
        }
    }

    /// Adds an entry to the `content` list of the log probabilities.
    pub(super) fn add_entry(&mut self, entry: Value) {
        let object = self.logprobs.get_or_insert_default();
        match object.get_mut("content") {
            Some(Value::Array(entries)) => entries.push(entry),
            _ => {
                object.insert("content".into(), Value::Array(vec![entry]));
            }
        }
    }

    /// Adds other members of the log probabilities; lists grow.
    pub(super) fn add_logprobs(&mut self, members: Map<String, Value>) {
        let object = self.logprobs.get_or_insert_default();
        for (name, value) in members {
            match (object.get_mut(&name), value) {
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                (_, value) => {
                    object.insert(name, value);
                }
            }
        }
    }

    /// The choice, ready to be written.
    pub(super) fn into_choice(self) -> Choice {
        let Self { mut choice, logprobs, .. } = self;
        if let Some(logprobs) = logprobs {
            choice.logprobs = Field::Value(Value::Object(logprobs));
        }
        choice
    }
}

/// Whether a value says nothing: `null`, or an empty text, list or object.
pub(super) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
