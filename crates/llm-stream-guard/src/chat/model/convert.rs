//! Conversion of callers' chunk types and of event data into chunks.

use std::borrow::Cow;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::chat::model::{
    chunk::Chunk,
    condensed::{TooManyValues, condense},
    repair::repaired,
};

/// A type that carries chat-completion chunks: [`Chunk`] itself, [`serde_json::Value`], or a
/// caller's own.
pub trait ChatChunk: Sized {
    /// Converts the item into a chunk.
    ///
    /// # Errors
    /// Returns the item unchanged if it is not a chunk, such as an error or a heartbeat. Such items
    /// are forwarded unchanged.
    fn into_chunk(self) -> Result<Chunk, Self>;

    /// Creates an item that carries `chunk`.
    fn from_chunk(chunk: Chunk) -> Self;

    /// Whether an item that is not a chunk is an error, after which the stream ends.
    fn is_error(&self) -> bool {
        false
    }
}

/// A type of chunks that can also hold OpenAI's error object.
pub trait FailureChunk: ChatChunk {
    /// Creates an item from this object: `{"error": {"message": ..}}`.
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
    /// Reads an object with `choices`, or with `usage` that is not `null`, as a chunk.
    fn into_chunk(self) -> Result<Chunk, Self> {
        chunk_of(&self).or_else(|| odd_chunk(&self)).ok_or(self)
    }

    fn from_chunk(chunk: Chunk) -> Self {
        // Cannot fail: chunks hold only strings, numbers and maps with string keys.
        serde_json::to_value(chunk).unwrap_or_default()
    }

    fn is_error(&self) -> bool {
        self.get("error").is_some_and(|error| !error.is_null())
    }
}

/// Why an event's data is not a chunk.
#[derive(Debug, PartialEq)]
pub(in crate::chat) enum NoChunk {
    /// The data is an error object of upstream.
    Error,
    /// The data is neither a chunk nor an error.
    Other,
    /// The data has choices that cannot be read.
    Unreadable,
}

/// Reads JSON that servers write and strict readers refuse: halves of surrogate pairs, `NaN`,
/// `Infinity`, numbers out of range.
///
/// ```
/// use serde_json::{Value, json};
/// let read: Value = llm_stream_guard::chat::from_json(r#"{"text": "a\ud83d", "logprob": NaN}"#)?;
/// assert_eq!(read, json!({"text": "a\u{fffd}", "logprob": null}));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the text is not JSON even with these exceptions, or is not a `T`.
pub fn from_json<T: DeserializeOwned>(data: &str) -> serde_json::Result<T> {
    let strict = serde_json::from_str(data);
    strict.or_else(|error| serde_json::from_str(&repaired(data).ok_or(error)?))
}

/// A chunk read from an event's data.
#[derive(Debug)]
pub(in crate::chat) struct ReadChunk {
    pub(in crate::chat) chunk: Chunk,
    /// Whether a strict JSON reader reads the same chunk from the data.
    pub(in crate::chat) exact: bool,
    /// Whether values of the chunk are condensed.
    pub(in crate::chat) condensed: bool,
}

/// Reads the chunk in an event's `data`. JSON that strict readers refuse is also read: halves of
/// surrogate pairs, repeated members, numbers out of range or written as text.
pub(in crate::chat) fn read(data: &str) -> Result<ReadChunk, NoChunk> {
    let data = condense(data).map_err(|TooManyValues| NoChunk::Unreadable)?;
    let condensed = matches!(data, Cow::Owned(_));
    let strict = serde_json::from_str::<Chunk>(&data);
    let exact = strict.is_ok();
    if let Ok(chunk) = strict
        && (!chunk.choices.is_empty() || chunk.usage.value().is_some())
    {
        return Ok(ReadChunk { chunk, exact, condensed });
    }
    // Data without choices needs a closer look.
    let Ok(value) = from_json::<Value>(&data) else {
        let choices = data.trim_start().starts_with('{') && data.contains("\"choices\"");
        return Err(if choices { NoChunk::Unreadable } else { NoChunk::Other });
    };
    if let Some(chunk) = chunk_of(&value).or_else(|| odd_chunk(&value)) {
        return Ok(ReadChunk { chunk, exact, condensed });
    }
    Err(match value.get("choices") {
        _ if value.is_error() => NoChunk::Error,
        Some(Value::Array(choices)) if !choices.is_empty() => NoChunk::Unreadable,
        _ => NoChunk::Other,
    })
}

/// Returns the chunk that `value` holds.
fn chunk_of(value: &Value) -> Option<Chunk> {
    let has = |name: &str| value.get(name).is_some_and(|value| !value.is_null());
    let is_one = has("choices") || has("usage");
    is_one.then(|| Chunk::deserialize(value).ok()).flatten()
}

/// Replaces an index written as text or as a fraction by the number.
///
/// ```text
/// {"index": "0"}   becomes {"index": 0}
/// {"index": 1.0}   becomes {"index": 1}
/// ```
fn plain_index(object: &mut Map<String, Value>) {
    let Some(index) = object.get_mut("index") else { return };
    let plain = match &*index {
        Value::String(text) => text.trim().parse::<u32>().ok(),
        Value::Number(number) if number.is_f64() => number
            .to_string()
            .trim_end_matches('0')
            .strip_suffix('.')
            .and_then(|it| it.parse().ok()),
        _ => None,
    };
    if let Some(plain) = plain {
        *index = plain.into();
    }
}

/// Reads a chunk with fields of unexpected types. Such fields are kept as unknown fields, and
/// indices are converted to numbers.
fn odd_chunk(value: &Value) -> Option<Chunk> {
    let is_text = |value: &Value| value.is_string() || value.is_null();
    value.get("choices").filter(|choices| choices.is_array())?;
    let mut value = value.clone();
    let mut odd = Vec::new();
    for choice in value.get_mut("choices")?.as_array_mut()? {
        let choice = choice.as_object_mut()?;
        plain_index(choice);
        let take = |fields: &mut Map<String, Value>, name: &str| {
            fields.get(name).is_some_and(|it| !is_text(it)).then(|| fields.shift_remove(name))?
        };
        let finish_reason = take(choice, "finish_reason");
        let mut delta = choice.get_mut("delta").and_then(Value::as_object_mut);
        let calls = delta.as_mut().and_then(|delta| delta.get_mut("tool_calls")?.as_array_mut());
        calls.into_iter().flatten().filter_map(Value::as_object_mut).for_each(plain_index);
        let fields = delta.map(|delta| {
            let names = ["role", "reasoning", "reasoning_content"].into_iter();
            names.filter_map(|name| Some((name.to_owned(), take(delta, name)?))).collect::<Vec<_>>()
        });
        odd.push((finish_reason, fields));
    }
    let mut chunk = chunk_of(&value)?;
    for (choice, (finish_reason, fields)) in chunk.choices.iter_mut().zip(odd) {
        choice.extra.extend(finish_reason.map(|value| ("finish_reason".to_owned(), value)));
        choice.delta.extra.extend(fields.into_iter().flatten());
    }
    Some(chunk)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{NoChunk, ReadChunk, read};

    #[test]
    fn chunks_that_strict_parsers_reject_are_parsed() {
        for (choice, text) in [
            (r#"{"index":"0","delta":{"content":"a"}}"#, "a"),
            (r#"{"index":0.0,"delta":{"content":"a"}}"#, "a"),
            (r#"{"index":0,"delta":{"content":"a\ud83d"}}"#, "a\u{fffd}"),
            (r#"{"index":0,"delta":{"content":"a","content":"b"}}"#, "b"),
            (
                r#"{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"logprob":-Infinity}]}}"#,
                "a",
            ),
            (r#"{"index":0,"delta":{"content":"a"},"x":1e400}"#, "a"),
            (r#"{"index":0,"delta":{"content":"a","role":7},"finish_reason":{"x":1}}"#, "a"),
        ] {
            let data = format!("{{\"choices\":[{choice}]}}");
            let ReadChunk { chunk, .. } = read(&data).expect("a chunk");
            assert_eq!(chunk.choices[0].delta.text(), Some(text), "{data}");
            assert_eq!(chunk.choices[0].index, 0, "{data}");
        }
    }

    #[test]
    fn fields_of_unusual_types_are_kept() {
        let data = json!({"choices": [{"index": 0, "delta": {"content": "a", "role": 7},
            "finish_reason": {"x": 1}}]});
        let read = read(&data.to_string()).expect("a chunk");
        assert!(!read.exact);
        assert_eq!(serde_json::to_value(read.chunk).expect("JSON"), data);
    }

    #[test]
    fn unreadable_choices_are_distinguished_from_other_data() {
        for (data, expected) in [
            (r#"{"choices":[{"index":-1,"delta":{"content":"a"}}]}"#, NoChunk::Unreadable),
            (r#"{"choices":[{"index":0,"delta":{"content":"a"}}"#, NoChunk::Unreadable),
            (r#"{"choices":[7]}"#, NoChunk::Unreadable),
            (r#"{"error":{"message":"no"},"choices":[7]}"#, NoChunk::Error),
            (r#"{"x":1}"#, NoChunk::Other),
            ("{broken", NoChunk::Other),
            ("[DONE]", NoChunk::Other),
        ] {
            assert_eq!(read(data).err(), Some(expected), "{data}");
        }
    }
}
