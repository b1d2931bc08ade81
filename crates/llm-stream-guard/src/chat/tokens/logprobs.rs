//! Tokens of log probabilities, as chat completions and text completions write them.
//!
//! ```text
//! chat:  {"content": [{"token": "a", "logprob": -1}, {"token": "b", "logprob": -2}]}
//! text:  {"tokens": ["a", "b"], "token_logprobs": [-1, -2]}
//! first token of each:
//!        {"content": [{"token": "a", "logprob": -1}]}
//!        {"tokens": ["a"], "token_logprobs": [-1]}
//! ```

use std::mem::take;

use serde_json::{Map, Value};

/// Removes the tokens from log probabilities, and returns each as an object of one-element lists.
/// Chat completions have one list of objects; text completions have parallel lists.
pub(in crate::chat) fn tokens(logprobs: &mut Map<String, Value>) -> Vec<Map<String, Value>> {
    if let Some(Value::Array(entries)) = logprobs.get_mut("content") {
        let entries = take(entries);
        logprobs.shift_remove("content");
        let one = |entry| Map::from_iter([("content".to_owned(), Value::Array(vec![entry]))]);
        return entries.into_iter().map(one).collect();
    }
    let len = match logprobs.get("tokens") {
        Some(Value::Array(tokens)) if tokens.iter().all(Value::is_string) => tokens.len(),
        _ => return Vec::new(),
    };
    let mut tokens = vec![Map::new(); len];
    logprobs.retain(|name, list| match list {
        Value::Array(list) if list.len() == len => {
            for (token, value) in tokens.iter_mut().zip(take(list)) {
                token.insert(name.clone(), Value::Array(vec![value]));
            }
            false
        }
        _ => true,
    });
    tokens
}

/// Returns the token, and the bytes of its text if the entry has them.
fn token_of(logprobs: &Map<String, Value>) -> (Option<&str>, Option<&Vec<Value>>) {
    if let Some(token) = logprobs.get("tokens") {
        return (token.get(0).and_then(Value::as_str), None);
    }
    let entry = logprobs.get("content").and_then(|list| list.get(0));
    let field = |name: &str| entry.and_then(|entry| entry.get(name));
    (field("token").and_then(Value::as_str), field("bytes").and_then(Value::as_array))
}

/// Returns the length of a token's text in bytes.
pub(in crate::chat) fn token_len(logprobs: &Map<String, Value>) -> u64 {
    let (token, bytes) = token_of(logprobs);
    bytes.map_or_else(|| token.map_or(0, str::len), Vec::len) as u64
}

/// Whether the tokens concatenate to `text`, which is in two pieces.
pub(in crate::chat) fn is_text(tokens: &[Map<String, Value>], text: [&str; 2]) -> bool {
    let mut text = text.iter().flat_map(|text| text.bytes());
    tokens.iter().all(|token| match token_of(token) {
        (_, Some(bytes)) => bytes
            .iter()
            .all(|byte| byte.as_u64().is_some_and(|byte| text.next().map(u64::from) == Some(byte))),
        (Some(token), None) => token.bytes().all(|byte| Some(byte) == text.next()),
        (None, None) => false,
    }) && text.next().is_none()
}

/// Replaces the text of a token by `shown`.
pub(in crate::chat) fn narrow(logprobs: &mut Map<String, Value>, shown: &[u8]) {
    let token = Value::from(String::from_utf8_lossy(shown));
    let list = if logprobs.contains_key("tokens") { "tokens" } else { "content" };
    match logprobs.get_mut(list).and_then(|list| list.get_mut(0)) {
        Some(Value::Object(entry)) => {
            entry.insert("token".into(), token);
            if entry.get("bytes").is_some_and(Value::is_array) {
                entry.insert("bytes".into(), shown.iter().copied().map(Value::from).collect());
            }
        }
        Some(text) => *text = token,
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{is_text, narrow, token_len, tokens};

    fn logprobs(value: Value) -> Map<String, Value> {
        let Value::Object(members) = value else { return Map::new() };
        members
    }

    #[test]
    fn token_length_is_taken_from_bytes_or_else_text() {
        for (entry, len) in [
            (json!({"token": "ab", "bytes": [240, 159, 166]}), 3),
            (json!({"token": "é", "bytes": null}), 2),
            (json!({"token": "\u{fffd}", "bytes": []}), 0),
            (json!({}), 0),
        ] {
            assert_eq!(token_len(&logprobs(json!({"content": [entry]}))), len, "{entry}");
        }
        assert_eq!(token_len(&logprobs(json!({"tokens": ["é"]}))), 2);
    }

    #[test]
    fn text_completion_logprobs_are_split_into_tokens_and_other_members() {
        let mut logprobs =
            logprobs(json!({"tokens": ["a", "é"], "token_logprobs": [-1, -2], "x": [1]}));
        let mut tokens = tokens(&mut logprobs);
        assert_eq!(Value::from(logprobs), json!({"x": [1]}));
        assert!(is_text(&tokens, ["a", "é"]) && !is_text(&tokens, ["a", ""]));
        assert!(!is_text(&tokens, ["aé", "b"]));
        narrow(&mut tokens[1], b"e");
        assert_eq!(Value::from(tokens.remove(1)), json!({"tokens": ["e"], "token_logprobs": [-2]}));
    }
}
