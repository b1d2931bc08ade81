//! Delta parts: the output of one step for one choice, before it is packed into chunks.

use serde_json::{Map, Value};

use crate::chat::model::{
    chunk::{Choice, Content, MessageDelta},
    field::Field,
};

/// The kind of a delta part. Kinds do not mix, so that the order within a choice is the order of
/// chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum PartKind {
    /// A role, unknown fields, or nothing yet. Output of any kind may be added.
    Plain,
    Reasoning,
    Content,
    Calls,
    /// Content in parts of one list.
    Parts(u64),
}

#[derive(Debug, Clone)]
pub(in crate::chat) struct DeltaPart {
    pub(in crate::chat) choice: Choice,
    pub(in crate::chat) kind: PartKind,
    pub(in crate::chat) logprobs: Option<Value>,
    /// Number of the input chunk in which the part's text began.
    pub(in crate::chat) origin: u64,
    /// Number of the last content part, if text is added to it.
    pub(in crate::chat) part: u64,
    /// Number of parts of the choice that precede this one in the step; set when the step is
    /// packed.
    pub(in crate::chat) ordinal: usize,
}

/// A content part that text goes to.
#[derive(Debug, Clone)]
pub(in crate::chat) struct OpenPart {
    /// The list that the part belongs to.
    pub(in crate::chat) list: u64,
    /// Number of the part within the choice, from 1.
    pub(in crate::chat) number: u64,
    /// The other fields of the part.
    pub(in crate::chat) fields: Map<String, Value>,
}

/// Names under which reasoning is written.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::chat) struct Names {
    pub(in crate::chat) reasoning: bool,
    pub(in crate::chat) reasoning_content: bool,
}

impl DeltaPart {
    /// Whether output of `kind` may be added.
    pub(in crate::chat) fn admits(&self, kind: PartKind) -> bool {
        self.kind == PartKind::Plain || self.kind == kind
    }

    /// Whether the part is empty.
    pub(in crate::chat) fn is_bare(&self) -> bool {
        let Choice { delta, finish_reason, extra, .. } = &self.choice;
        *delta == MessageDelta::default()
            && finish_reason.value().is_none()
            && self.logprobs.is_none()
            && extra.is_empty()
    }

    /// Adds `text` to the content.
    pub(in crate::chat) fn add_content(&mut self, text: &str, spare: &mut String) {
        match &mut self.choice.delta.content {
            Field::Value(Content::Text(content)) => content.push_str(text),
            content => {
                let mut fresh = std::mem::take(spare);
                fresh.push_str(text);
                *content = Field::Value(Content::Text(fresh));
            }
        }
    }

    /// Adds `text` to its content part.
    pub(in crate::chat) fn add_to_part(&mut self, text: &str, part: &OpenPart) {
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
    pub(in crate::chat) fn add_part(&mut self, part: Value) {
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
    pub(in crate::chat) fn add_reasoning(&mut self, text: &str, names: Names) {
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
    pub(in crate::chat) fn add_token(&mut self, name: &str, mut logprobs: Value) {
        if name != "content" {
            // Log probabilities of text completions are lists without `content`.
            let list = logprobs.get_mut("content").map(Value::take).unwrap_or(logprobs);
            logprobs = Value::Object(Map::from_iter([(name.to_owned(), list)]));
        }
        self.add_logprobs(logprobs);
    }

    /// Adds to the log probabilities; lists grow.
    pub(in crate::chat) fn add_logprobs(&mut self, more: Value) {
        match &mut self.logprobs {
            Some(old) => grow(old, more),
            none => *none = Some(more),
        }
    }

    /// Converts the part into a choice of a chunk.
    pub(in crate::chat) fn into_choice(self) -> Choice {
        let Self { mut choice, logprobs, .. } = self;
        if let Some(logprobs) = logprobs {
            choice.logprobs = Field::Value(logprobs);
        }
        choice
    }
}

/// Merges `more` into `old`: lists are appended, objects are merged, and other values are replaced.
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
pub(in crate::chat) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
