//! Conversions from and to the types of `async-openai`.
//!
//! Those types have no place for reasoning, unknown fields, or finish reasons other than OpenAI's.
//! `TryFrom` returns an error for a value that does not fit.

use std::fmt;

use async_openai::types::chat::{CreateChatCompletionResponse, CreateChatCompletionStreamResponse};
use serde::{Serialize, de::DeserializeOwned};

use crate::chat::model::{
    chunk::{Chunk, Content, MessageDelta},
    completion::Completion,
    convert::ChatChunk,
    field::Field,
};

/// Why a conversion failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The value has reasoning, which the type cannot hold.
    Reasoning,
    /// The value has a content part, which the type cannot hold.
    Parts,
    /// A field is missing, or has a value the type does not know.
    Field(serde_json::Error),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reasoning => f.write_str("the type has no place for reasoning"),
            Self::Parts => f.write_str("the type has no place for content parts"),
            Self::Field(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConvertError {}

fn through_json<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, ConvertError> {
    let value = serde_json::to_value(value).map_err(ConvertError::Field)?;
    serde_json::from_value(value).map_err(ConvertError::Field)
}

fn check<'d>(mut deltas: impl Iterator<Item = &'d MessageDelta>) -> Result<(), ConvertError> {
    deltas.try_for_each(|delta| match &delta.content {
        _ if delta.reasoning_text().is_some() => Err(ConvertError::Reasoning),
        Field::Value(Content::Parts(_)) => Err(ConvertError::Parts),
        _ => Ok(()),
    })
}

impl TryFrom<CreateChatCompletionStreamResponse> for Chunk {
    type Error = ConvertError;

    fn try_from(chunk: CreateChatCompletionStreamResponse) -> Result<Self, ConvertError> {
        through_json(&chunk)
    }
}

impl TryFrom<Chunk> for CreateChatCompletionStreamResponse {
    type Error = ConvertError;

    fn try_from(chunk: Chunk) -> Result<Self, ConvertError> {
        check(chunk.choices.iter().map(|choice| &choice.delta))?;
        through_json(&chunk)
    }
}

impl TryFrom<CreateChatCompletionResponse> for Completion {
    type Error = ConvertError;

    fn try_from(response: CreateChatCompletionResponse) -> Result<Self, ConvertError> {
        through_json(&response)
    }
}

impl TryFrom<Completion> for CreateChatCompletionResponse {
    type Error = ConvertError;

    fn try_from(response: Completion) -> Result<Self, ConvertError> {
        check(response.choices.iter().map(|choice| &choice.message))?;
        through_json(&response)
    }
}

/// For streams of this type. Reasoning that the guard finds is dropped, because the type has no
/// field for it. Use [`Chunk`] or [`serde_json::Value`] to keep reasoning.
impl ChatChunk for CreateChatCompletionStreamResponse {
    fn into_chunk(self) -> Result<Chunk, Self> {
        through_json(&self).map_err(|_| self)
    }

    fn from_chunk(chunk: Chunk) -> Self {
        // A chunk made from this type fits it; finish reasons are OpenAI's own.
        through_json(&chunk).unwrap_or_default()
    }
}
