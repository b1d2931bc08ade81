//! Condensed JSON: heavy values that no guard reads are kept as text.
//!
//! A parsed value takes up to two hundred times the memory of its text. Of a long answer or event,
//! a guard therefore parses only the members that it reads. A string replaces every other heavy
//! value: a mark, and the value's text. What a guard writes is expanded before it is sent.
//!
//! ```text
//! came       {"choices":[{"index":0,"delta":{"content":"Hi"},"state":[{"":0},{"":0}]}]}
//! condensed  {"choices":[{"index":0,"delta":{"content":"Hi"},"state":"MARK[{\"\":0},{\"\":0}]"}]}
//! expanded   {"choices":[{"index":0,"delta":{"content":"Hi"},"state":[{"":0},{"":0}]}]}
//! ```

use std::{borrow::Cow, fmt};

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{
    chat::model::{
        condensed_string::{is_heavy, push_condensed},
        condenser::{Condenser, NotJson},
        parsed_size::{HEAVINESS, parsed_size},
        repair::repaired,
    },
    limits::{MAX_PARSED_BYTES, MIN_CONDENSED_BYTES},
};

/// An error: the parts of an answer that a guard reads would take too much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooManyValues;

impl fmt::Display for TooManyValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many small values")
    }
}

impl std::error::Error for TooManyValues {}

/// Replaces the heavy values of a chunk or of a whole response that no guard reads by strings. The
/// result is parsed in their place, and [`expand`](crate::chat::expand) restores the values in what is written. Text
/// without heavy values is returned unchanged.
///
/// ```
/// use llm_stream_guard::chat::{condense, expand};
/// let state = format!("[{}{{}}]", r#"{"":0},"#.repeat(10_000));
/// let came = format!(r#"{{"choices":[],"usage":{{"total_tokens":7}},"state":{state}}}"#);
/// let condensed = condense(&came)?;
/// let chunk: llm_stream_guard::chat::Chunk = serde_json::from_str(&condensed)?;
/// assert!(chunk.fields["state"].is_string());
/// let written = serde_json::to_string(&chunk)?;
/// assert!(expand(&written).contains(&state));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TooManyValues`]: the members that a guard reads would themselves take too much memory.
pub fn condense(json: &str) -> Result<Cow<'_, str>, TooManyValues> {
    let is_light = |json: &str| parsed_size(json) <= json.len().saturating_mul(HEAVINESS);
    if json.len() < MIN_CONDENSED_BYTES || is_light(json) {
        return Ok(json.into());
    }
    let condensed = Condenser::run(json).or_else(|_| {
        let repaired = repaired(json).ok_or(NotJson)?;
        Condenser::run(&repaired)
    });
    let (text, tokens) = match condensed {
        Ok(Condenser { out, tokens, .. }) => (Cow::from(out), tokens),
        // The reader refuses it, but not before the fault.
        Err(NotJson) => (json.into(), 0),
    };
    let most = MAX_PARSED_BYTES.saturating_add(tokens);
    match parsed_size(&text) <= most.saturating_add(text.len().saturating_mul(2)) {
        true => Ok(text),
        false => Err(TooManyValues),
    }
}

/// Parses a JSON object that is written unchanged later, such as a call's arguments. A heavy object
/// is condensed, as [`condense`] does. Returns `None` if the text is not an object.
#[must_use]
pub fn condensed_object(json: &str) -> Option<Value> {
    let json = json.trim();
    if is_heavy(json) {
        serde_json::from_str::<IgnoredAny>(json).ok().filter(|_| json.starts_with('{'))?;
        let mut string = String::new();
        push_condensed(json, &mut string);
        return serde_json::from_str(&string).ok();
    }
    serde_json::from_str(json).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::chat::model::{
        condensed::{condense, condensed_object},
        condensed_string::expand,
    };

    /// A value with a thousand small objects.
    fn heavy() -> Value {
        vec![json!({"": 0}); 4000].into()
    }

    #[test]
    fn members_that_no_guard_reads_are_condensed_and_restored() {
        let came = json!({
            "id": "a", "heavy": heavy(), "usage": {"total_tokens": 7},
            "choices": [{"index": 0, "heavy": heavy(), "delta": {
                "content": "a\"b\\", "heavy": heavy(),
                "tool_calls": [{"index": 0, "heavy": heavy(), "function": {"name": "f", "arguments": "{}"}}],
            }}],
        });
        let text = came.to_string();
        let condensed = condense(&text).expect("few values");
        let read: Value = serde_json::from_str(&condensed).expect("JSON");
        for at in ["", "/choices/0", "/choices/0/delta", "/choices/0/delta/tool_calls/0"] {
            assert!(read.pointer(at).is_some_and(|it| it["heavy"].is_string()), "{at}");
        }
        assert_eq!(read["choices"][0]["delta"]["content"], "a\"b\\");
        assert_eq!(expand(&read.to_string()), text);
        assert_eq!(expand(&text), text);
    }

    #[test]
    fn short_or_light_text_is_unchanged() {
        for text in [
            format!("{{\"a\":{}}}", json!(vec![json!({"": 0}); 400])),
            json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]}).to_string(),
            "no JSON".repeat(10_000),
        ] {
            assert_eq!(condense(&text).as_deref(), Ok(text.as_str()));
        }
    }

    #[test]
    fn log_probabilities_are_read_up_to_a_limit() {
        let entry = json!({"token": "a", "logprob": -0.125, "bytes": [97],
            "top_logprobs": vec![json!({"token": "a", "logprob": -0.125, "bytes": [97]}); 20]});
        for (count, is_read) in [(4000, true), (40_000, false)] {
            let entries = vec![entry.clone(); count];
            let text = json!({"choices": [{"logprobs": {"content": entries}}]}).to_string();
            let condensed = condense(&text).expect("few values");
            let read: Value = serde_json::from_str(&condensed).expect("JSON");
            assert_eq!(read["choices"][0]["logprobs"].is_object(), is_read, "{count}");
            assert!(expand(&read.to_string()) == text, "{count}");
        }
    }

    #[test]
    fn too_many_values_that_are_read_are_refused() {
        let many = "{},".repeat(100_000);
        for text in [
            format!("{{\"choices\":[{many}{{}}]}}"),
            format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{many}{{}}]}}}}]}}"),
            format!("{{\"choices\":[{{\"delta\":{{\"content\":[{many}{{}}]}}}}]}}"),
            format!("{{\"cut\":[{many}"),
        ] {
            assert!(condense(&text).is_err(), "{}", &text[..40]);
        }
    }

    #[test]
    fn numbers_that_strict_json_lacks_do_not_keep_values_from_being_condensed() {
        let text = format!("{{\"choices\":[],\"heavy\":{},\"x\":NaN}}", heavy());
        let condensed = condense(&text).expect("few values");
        let read: Value = serde_json::from_str(&condensed).expect("repaired");
        assert!(read["heavy"].is_string() && read["x"].is_null());
    }

    #[test]
    fn heavy_objects_are_condensed_if_they_are_json() {
        let text = json!({"a": heavy()}).to_string();
        let value = condensed_object(&text).expect("an object");
        assert!(value.is_string());
        assert_eq!(expand(&json!({"a": value}).to_string()), format!("{{\"a\":{text}}}"));
        for other in [&text[..text.len() - 1], &heavy().to_string(), "[1]"] {
            assert_eq!(condensed_object(other), None);
        }
        assert_eq!(condensed_object(" {\"a\": 1}"), Some(json!({"a": 1})));
    }
}
