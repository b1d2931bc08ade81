//! Empty fields (`null`, `""`, `[]`, `{}`). They are forwarded with other output of their chunk and
//! never cause a chunk of their own.

use serde_json::{Map, Value};

use crate::chat::{
    choice::delta_part::{DeltaPart, says_nothing},
    model::{
        chunk::{Content, MessageDelta},
        field::Field,
    },
};

/// The fields of one choice of a chunk that are `null`, or an empty text, list or object.
#[derive(Debug, Default)]
pub(in crate::chat) struct EmptyFields {
    role: Field<String>,
    content: Field<Content>,
    reasoning: Field<String>,
    reasoning_content: Field<String>,
    /// Empty unknown fields, each with its place among the delta's other fields.
    extra: Vec<(usize, String, Value)>,
    logprobs: Field<Value>,
}

impl EmptyFields {
    /// Removes the empty fields from a delta and its log probabilities.
    pub(in crate::chat) fn take(delta: &mut MessageDelta, logprobs: &mut Field<Value>) -> Self {
        let text_or_parts = |content: &Content| match content {
            Content::Text(text) => text.is_empty(),
            Content::Parts(parts) => parts.is_empty(),
        };
        let mut extra = Vec::new();
        if delta.extra.values().any(says_nothing) {
            for (place, (name, value)) in std::mem::take(&mut delta.extra).into_iter().enumerate() {
                if says_nothing(&value) {
                    extra.push((place, name, value));
                } else {
                    delta.extra.insert(name, value);
                }
            }
        }
        Self {
            role: take_if(&mut delta.role, |_| false),
            content: take_if(&mut delta.content, text_or_parts),
            reasoning: take_if(&mut delta.reasoning, |text| text.is_empty()),
            reasoning_content: take_if(&mut delta.reasoning_content, |text| text.is_empty()),
            extra,
            logprobs: silent_logprobs(logprobs),
        }
    }

    /// Adds the fields to the first delta part made of their chunk.
    pub(in crate::chat) fn join(self, delta_part: &mut DeltaPart) {
        let delta = &mut delta_part.choice.delta;
        fill(&mut delta.role, self.role);
        fill(&mut delta.content, self.content);
        fill(&mut delta.reasoning, self.reasoning);
        fill(&mut delta.reasoning_content, self.reasoning_content);
        for (place, name, value) in self.extra {
            if !delta.extra.contains_key(&name) {
                let place = place.min(delta.extra.len());
                delta.extra.shift_insert(place, name, value);
            }
        }
        match (self.logprobs, &mut delta_part.logprobs) {
            (Field::Value(Value::Object(members)), Some(Value::Object(object))) => {
                for (name, value) in members {
                    object.entry(name).or_insert(value);
                }
            }
            (empty, None) => delta_part.choice.logprobs = empty,
            _ => {}
        }
    }
}

fn take_if<T>(field: &mut Field<T>, is_empty: impl FnOnce(&T) -> bool) -> Field<T> {
    match field {
        Field::Value(value) if !is_empty(value) => Field::Missing,
        _ => field.take(),
    }
}

fn fill<T>(field: &mut Field<T>, empty: Field<T>) {
    if field.is_missing() {
        *field = empty;
    }
}

/// Removes log probabilities that are `null`, or their empty members.
fn silent_logprobs(logprobs: &mut Field<Value>) -> Field<Value> {
    let Field::Value(Value::Object(object)) = logprobs else {
        return take_if(logprobs, says_nothing);
    };
    let (empty, filled): (Map<_, _>, Map<_, _>) =
        std::mem::take(object).into_iter().partition(|(_, value)| says_nothing(value));
    *object = filled;
    Field::Value(Value::Object(empty))
}
