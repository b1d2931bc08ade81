//! The kinds of data that an event may have.

use serde_json::{Value, json};

use crate::chat::model::convert::{ChatChunk as _, from_json};

/// The data of an event of a chat stream, or a line of a recording, by its kind.
///
/// ```
/// use llm_stream_guard::chat::EventData;
/// assert!(matches!(EventData::read("", "[DONE]"), EventData::Done));
/// assert!(matches!(EventData::read("", r#"{"error": "overloaded"}"#), EventData::Error(_)));
/// assert!(matches!(EventData::read("", r#"{"choices": []}"#), EventData::Json(_)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum EventData {
    /// No data, or white space.
    Empty,
    /// The end of the stream: `[DONE]`.
    Done,
    /// An error of the server: an object with `error`, or whatever an event called `error` has. Text
    /// that is not JSON is its `message`.
    Error(Value),
    /// A string: text of the model.
    Text(String),
    /// Any other JSON: a chunk, a whole answer, or something unknown.
    Json(Value),
    /// Text that is not JSON.
    NotJson(serde_json::Error),
}

impl EventData {
    /// Reads the data of an event called `name`, which is empty for an event without a name and for
    /// a line. JSON that strict readers refuse is read as by [`from_json`]. A byte order mark is
    /// ignored.
    #[must_use]
    pub fn read(name: &str, data: &str) -> Self {
        let data = data.trim().trim_start_matches('\u{feff}');
        match data {
            "" => return Self::Empty,
            "[DONE]" => return Self::Done,
            _ => {}
        }
        match from_json::<Value>(data) {
            Ok(value) if name == "error" || value.is_error() => Self::Error(value),
            Ok(Value::String(text)) => Self::Text(text),
            Ok(value) => Self::Json(value),
            Err(_) if name == "error" => Self::Error(json!({"message": data})),
            Err(error) => Self::NotJson(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EventData;

    #[test]
    fn data_is_told_apart() {
        let kind = |name: &str, data: &str| match EventData::read(name, data) {
            EventData::Empty => "empty",
            EventData::Done => "done",
            EventData::Error(_) => "error",
            EventData::Text(_) => "text",
            EventData::Json(_) => "json",
            EventData::NotJson(_) => "not json",
        };
        for (name, data, expected) in [
            ("", " \n", "empty"),
            ("", "\u{feff}", "empty"),
            ("", " [DONE]\n", "done"),
            ("", "\"[DONE]\"", "text"),
            ("", r#"{"error": null, "choices": []}"#, "json"),
            ("", r#"{"error": {"message": "x"}}"#, "error"),
            ("error", "{}", "error"),
            ("error", "overloaded", "error"),
            ("delta", "overloaded", "not json"),
            ("", r#"{"choices": [], "logprob": NaN}"#, "json"),
            ("", r#""a\ud83d""#, "text"),
            ("", r#"{"choices": ["#, "not json"),
        ] {
            assert_eq!(kind(name, data), expected, "{name} {data}");
        }
    }
}
