//! Callers' own chunk types.

use serde::Deserialize;
use serde_json::Value;

use super::chunk::Chunk;

/// A type that carries chat-completion chunks: [`Chunk`] itself, [`serde_json::Value`], or a
/// caller's own.
pub trait ChatChunk: Sized {
    /// The chunk, or the item itself if it is something else: an error, a heartbeat. Such items
    /// pass untouched.
    ///
    /// # Errors
    /// The item, unchanged, if it is no chunk.
    fn into_chunk(self) -> Result<Chunk, Self>;

    /// An item that carries `chunk`.
    fn from_chunk(chunk: Chunk) -> Self;

    /// Whether an item that is no chunk is an error, behind which nothing comes.
    fn is_error(&self) -> bool {
        false
    }
}

/// A type of chunks in which OpenAI's error object may stand in the place of one.
pub trait FailureChunk: ChatChunk {
    /// An item that is this object: `{"error": {"message": ..}}`.
    fn from_error(error: Value) -> Self;
}

impl FailureChunk for Value {
    fn from_error(error: Value) -> Self {
        error
    }
}

/// A chunk without choices that has the error among its fields.
impl FailureChunk for Chunk {
    fn from_error(error: Value) -> Self {
        let Value::Object(fields) = error else { return Self::default() };
        Self { fields, ..Self::default() }
    }
}

impl ChatChunk for Chunk {
    fn into_chunk(self) -> Result<Chunk, Self> {
        Ok(self)
    }

    fn from_chunk(chunk: Chunk) -> Self {
        chunk
    }
}

impl ChatChunk for Value {
    /// An object with `choices`, or with `usage` that is not `null`, is a chunk.
    fn into_chunk(self) -> Result<Chunk, Self> {
        chunk_of(&self).ok_or(self)
    }

    fn from_chunk(chunk: Chunk) -> Self {
        // Strings, numbers and maps with string keys: nothing JSON cannot hold.
        serde_json::to_value(chunk).unwrap_or_default()
    }

    fn is_error(&self) -> bool {
        self.get("error").is_some_and(|error| !error.is_null())
    }
}

/// What data is that is no chunk.
#[derive(Debug, PartialEq)]
pub(super) enum NoChunk {
    Error,
    Other,
}

/// The chunk that an event with `data` is.
pub(super) fn read(data: &str) -> Result<Chunk, NoChunk> {
    if let Ok(chunk) = serde_json::from_str::<Chunk>(data)
        && (!chunk.choices.is_empty() || chunk.usage.value().is_some())
    {
        return Ok(chunk);
    }
    // Without choices it takes a closer look.
    let value = serde_json::from_str::<Value>(data).map_err(|_| NoChunk::Other)?;
    let no_chunk = if value.is_error() { NoChunk::Error } else { NoChunk::Other };
    chunk_of(&value).ok_or(no_chunk)
}

/// The chunk that `value` is.
fn chunk_of(value: &Value) -> Option<Chunk> {
    let has = |name: &str| value.get(name).is_some_and(|value| !value.is_null());
    let is_one = has("choices") || has("usage");
    is_one.then(|| Chunk::deserialize(value).ok()).flatten()
}
