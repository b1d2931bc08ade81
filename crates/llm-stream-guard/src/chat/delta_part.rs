//! Pieces: what one step sets free of one choice, before it is packed into chunks.

use serde_json::{Map, Value};

use super::{
    choice_state::{Names, OpenPart},
    chunk::{Choice, Content, MessageDelta},
    field::Field,
};

/// The kind of a piece. Kinds do not mix, so that the order within a choice is the order of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    /// A role, unknown fields, or nothing yet: anything may join.
    Plain,
    Reasoning,
    Content,
    Calls,
    /// Content in parts of one list.
    Parts(u64),
}

#[derive(Debug, Clone)]
pub(super) struct DeltaPart {
    pub(super) choice: Choice,
    pub(super) kind: PartKind,
    pub(super) logprobs: Option<Value>,
    /// The input chunk in which its text began.
    pub(super) origin: u64,
    /// The number of its last part, if text goes to that.
    pub(super) part: u64,
    /// How many pieces of the choice this step set free before it; known when packed.
    pub(super) ordinal: usize,
}

impl DeltaPart {
    /// Whether what is of `kind` may join.
    pub(super) fn admits(&self, kind: PartKind) -> bool {
        self.kind == PartKind::Plain || self.kind == kind
    }

    /// Whether the piece is empty.
    pub(super) fn is_bare(&self) -> bool {
        let Choice { delta, finish_reason, extra, .. } = &self.choice;
        *delta == MessageDelta::default()
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

    /// Adds `text` to the content part it goes to.
    pub(super) fn add_to_part(&mut self, text: &str, part: &OpenPart) {
        let continues = std::mem::replace(&mut self.part, part.number) == part.number;
        let parts = self.parts();
        if let (true, Some(Value::String(old))) =
            (continues, parts.last_mut().and_then(|part| part.get_mut("text")))
        {
            old.push_str(text);
            return;
        }
        let mut object = part.fields.clone();
        object.insert("text".into(), text.into());
        parts.push(Value::Object(object));
    }

    /// Adds a content part that is not text.
    pub(super) fn add_part(&mut self, part: Value) {
        self.part = 0;
        self.parts().push(part);
    }

    fn parts(&mut self) -> &mut Vec<Value> {
        let content = &mut self.choice.delta.content;
        if !matches!(content, Field::Value(Content::Parts(_))) {
            *content = Field::Value(Content::Parts(Vec::new()));
        }
        match content {
            Field::Value(Content::Parts(parts)) => parts,
            _ => unreachable!("it is a list now"),
        }
    }

    /// Adds reasoning, under these names.
    pub(super) fn add_reasoning(&mut self, text: &str, names: Names) {
        let MessageDelta { reasoning, reasoning_content, .. } = &mut self.choice.delta;
        for (field, named) in
            [(reasoning, names.reasoning), (reasoning_content, names.reasoning_content)]
        {
            if named {
                field.append(text);
            }
        }
    }

    /// Adds a token's log probabilities to the list of this name.
    pub(super) fn add_token(&mut self, name: &str, mut logprobs: Value) {
        if name != "content" {
            // Those of text completions have lists of their own.
            let list = logprobs.get_mut("content").map(Value::take).unwrap_or(logprobs);
            logprobs = Value::Object(Map::from_iter([(name.to_owned(), list)]));
        }
        self.add_logprobs(logprobs);
    }

    /// Adds to the log probabilities; lists grow.
    pub(super) fn add_logprobs(&mut self, more: Value) {
        match &mut self.logprobs {
            Some(old) => grow(old, more),
            none => *none = Some(more),
        }
    }

    /// The choice, ready to be written.
    pub(super) fn into_choice(self) -> Choice {
        let Self { mut choice, logprobs, .. } = self;
        if let Some(logprobs) = logprobs {
            choice.logprobs = Field::Value(logprobs);
        }
        choice
    }
}

/// Lists grow, members of objects too; else the later value counts.
fn grow(old: &mut Value, more: Value) {
    match (old, more) {
        (Value::Array(list), Value::Array(more)) => list.extend(more),
        (Value::Object(object), Value::Object(more)) => {
            for (name, value) in more {
                match object.get_mut(&name) {
                    Some(old) => grow(old, value),
                    None => drop(object.insert(name, value)),
                }
            }
        }
        (old, more) => *old = more,
    }
}

/// Whether a value is empty: `null`, or an empty text, list or object.
pub(super) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
