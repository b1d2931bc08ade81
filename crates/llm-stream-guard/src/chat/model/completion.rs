//! A whole response, and its conversion to and from one chunk.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chat::model::{
    chunk::{Choice, Chunk, MessageDelta},
    field::Field,
};

/// A whole chat-completion response.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Completion {
    /// Every other field, in the order it came in.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    /// The choices of the response.
    #[serde(default)]
    pub choices: Vec<CompletionChoice>,
    /// Token usage of the response.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub usage: Field<Value>,
}

/// A choice of a [`Completion`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CompletionChoice {
    /// Index of the choice.
    #[serde(default)]
    pub index: u32,
    /// The message. Its fields are those of a delta, and its calls have no index.
    pub message: MessageDelta,
    /// Log probabilities of the choice.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub logprobs: Field<Value>,
    /// Why the choice ended.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub finish_reason: Field<String>,
    /// Fields without a member of their own here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Completion {
    /// Converts the response into the only chunk of a stream.
    #[must_use]
    pub fn into_chunk(self) -> Chunk {
        let Self { choices, usage, fields } = self;
        let choices = choices.into_iter().map(|choice| {
            let CompletionChoice { index, mut message, finish_reason, logprobs, extra } = choice;
            // Each entry is a separate call, whatever its id.
            for (index, call) in (0..).zip(&mut message.tool_calls) {
                call.index = Some(index);
            }
            Choice { index, delta: message, finish_reason, logprobs, extra }
        });
        Chunk { choices: choices.collect(), usage, fields }
    }
}
