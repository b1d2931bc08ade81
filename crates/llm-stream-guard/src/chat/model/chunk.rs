//! The model of a chunk. Fields that the guard reads are typed; every other field is kept
//! unchanged.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value, value::RawValue};

use crate::chat::{
    model::field::Field,
    tokens::token_ids::{ids_around, ids_in, ids_of_logprobs},
};

/// One chunk of a chat-completion stream.
///
/// ```
/// use llm_stream_guard::chat::Chunk;
/// let json = r#"{"id":"c1","choices":[{"index":0,"delta":{"content":null},"finish_reason":"abort"}],"x":1}"#;
/// let chunk: Chunk = serde_json::from_str(json)?;
/// assert_eq!(chunk.choices[0].finish_reason.value().unwrap(), "abort");
/// let back: serde_json::Value = serde_json::to_value(&chunk)?;
/// assert_eq!(back, serde_json::from_str::<serde_json::Value>(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Chunk {
    /// Every other field, in the order it came in: `id`, `object`, `created`, `model` and the
    /// server's own. Servers write most of them before the choices.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    /// The choices; `null` or missing reads as none.
    #[serde(default, deserialize_with = "null_as_default")]
    pub choices: Vec<Choice>,
    /// Token usage, as the server counted it.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub usage: Field<Value>,
}

/// A choice's part of a [`Chunk`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Choice {
    /// Index of the choice. A missing index or `null` is read as 0.
    #[serde(default, deserialize_with = "null_as_default")]
    pub index: u32,
    /// New text, calls and fields.
    #[serde(default, deserialize_with = "null_as_default")]
    pub delta: MessageDelta,
    /// Log probabilities, unchanged: entries of the `content` list represent tokens.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub logprobs: Field<Value>,
    /// Why the choice ended: `stop`, `length`, `tool_calls`, or another word of the server.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub finish_reason: Field<String>,
    /// Fields without a member of their own here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The addition of a chunk to a message, or a whole message.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MessageDelta {
    /// Role of the speaker.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub role: Field<String>,
    /// Visible text of the message.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub content: Field<Content>,
    /// Reasoning text under the one name servers use.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub reasoning: Field<String>,
    /// Reasoning text under the other.
    #[serde(default, skip_serializing_if = "Field::is_missing")]
    pub reasoning_content: Field<String>,
    /// Tool calls. An empty list is not written.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallDelta>,
    /// Fields without a member of their own here: `refusal`, `audio`, `function_call` and others.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Content: text, or a list of parts, which are left alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Content as one text.
    Text(String),
    /// Parts: text, images and others.
    Parts(Vec<Value>),
}

/// The addition of a chunk to a tool call, or a whole call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolCallDelta {
    /// Index of the call in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Id of the call, written once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Kind of the call, usually `function`, written once.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name and arguments of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionDelta>,
    /// Fields without a member of their own here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Name and arguments of a call, or additions to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FunctionDelta {
    /// Name of the function, written once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The next piece of the arguments' JSON text. Arguments that are not a string are read as
    /// their JSON text, unchanged.
    #[serde(default, deserialize_with = "text_or_json", skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Fields without a member of their own here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Chunk {
    /// Returns the token ids of the choice at this position. Ids are read from a field of the
    /// choice, from its log probabilities, or, for a single choice, from a field of the chunk; see
    /// [`crate::chat::ChatGuard::token_ids`].
    #[must_use]
    pub fn token_ids(&self, choice: usize) -> Option<Vec<u32>> {
        let around = if self.choices.len() == 1 { ids_around(&self.fields) } else { None };
        self.choices.get(choice)?.token_ids(around)
    }
}

impl Choice {
    /// Returns the ids of the choice's tokens: from a field of the choice, from `around`, or from
    /// its log probabilities.
    pub(in crate::chat) fn token_ids(&self, around: Option<Vec<u32>>) -> Option<Vec<u32>> {
        let own = [&self.extra, &self.delta.extra].into_iter().find_map(ids_in);
        own.or(around).or_else(|| self.logprobs.value().and_then(ids_of_logprobs))
    }
}

impl MessageDelta {
    /// Returns the text of the content, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.content.value()? {
            Content::Text(text) => Some(text),
            Content::Parts(_) => None,
        }
    }

    /// Returns the reasoning, under whichever of its two names it arrived.
    #[must_use]
    pub fn reasoning_text(&self) -> Option<&str> {
        let named = |field: &'_ Field<String>| field.value().is_some_and(|text| !text.is_empty());
        let field = if named(&self.reasoning) { &self.reasoning } else { &self.reasoning_content };
        field.value().or(self.reasoning.value()).map(String::as_str)
    }

    /// Removes and returns the reasoning under either name. Some servers write it under both.
    pub(in crate::chat) fn take_reasoning(&mut self) -> String {
        let one = self.reasoning.take().into_value().unwrap_or_default();
        let other = self.reasoning_content.take().into_value().unwrap_or_default();
        if one.is_empty() { other } else { one }
    }
}

fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn text_or_json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(match raw.get().as_bytes() {
        b"null" => None,
        [b'"', ..] => Some(serde_json::from_str(raw.get()).map_err(D::Error::custom)?),
        _ => Some(Box::<str>::from(raw).into()),
    })
}
