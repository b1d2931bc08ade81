//! Chats in front of Ollama: a rendered prompt is sent to `/api/generate`, which returns the
//! model's text as it is. Answers are converted to chat completions, which guards read.
//!
//! ```text
//! asked     {"model":"m","prompt":"<|im_start|>user..","raw":true,"stream":true,"options":{..}}
//! answered  {"model":"m","response":"Hi","done":false}
//!           {"model":"m","response":"","done":true,"done_reason":"stop","eval_count":9}
//! read as   data: {"choices":[{"index":0,"delta":{"content":"Hi"},..}],..}
//! ```

mod lines;

use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) use self::lines::GeneratedLines;
use crate::{body::Body, dialect::ollama, error::Fault};

/// The path of the request.
pub(crate) const PATH: &str = "/api/generate";

/// Fields of requests that Ollama knows by the same name.
const KEPT: [&str; 2] = ["keep_alive", "model"];

/// Returns the request for the text after a rendered prompt, made of a chat completion. `own` is the
/// client's request if it is one of Ollama's API, whose other options hold, too.
///
/// # Errors
/// A malformed field. The fault names it.
pub(crate) fn request(
    body: &mut Body,
    prompt: &str,
    mut own: Option<Body>,
) -> Result<Vec<u8>, Fault> {
    let mut request = Map::new();
    for name in KEPT {
        let theirs = own.as_mut().map(|own| own.get(name)).transpose()?.flatten();
        // The model's name at the server is in the translated request.
        if let Some(value) = body.get(name)?.or(theirs) {
            request.insert(name.to_owned(), value);
        }
    }
    request.insert("prompt".into(), prompt.into());
    request.insert("raw".into(), true.into());
    // Without the field, Ollama streams.
    request.insert("stream".into(), body.is("stream", "true").into());
    let mut options = match own.as_mut().map(|own| own.get("options")).transpose()?.flatten() {
        Some(Value::Object(options)) => options,
        _ => Map::new(),
    };
    for (name, ours) in ollama::OPTIONS {
        if let Some(value) = body.get(ours)? {
            options.insert(name.to_owned(), value);
        }
    }
    for name in ["max_completion_tokens", "max_tokens"] {
        if let Some(most) = body.get(name)? {
            options.insert("num_predict".into(), most);
        }
    }
    request.insert("options".into(), options.into());
    let format = body.get("response_format")?.unwrap_or_default();
    let schema = format.pointer("/json_schema/schema");
    let format = match format.get("type").and_then(Value::as_str) {
        Some("json_object") => Some("json".into()),
        Some("json_schema") => schema.cloned(),
        _ => None,
    };
    if let Some(format) = format {
        request.insert("format".into(), format);
    }
    Ok(Value::from(request).to_string().into_bytes())
}

/// A line of an answer, or a whole answer.
#[derive(Debug, Default, Deserialize)]
struct Generated {
    #[serde(default)]
    model: String,
    #[serde(default)]
    response: String,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: u64,
    #[serde(default)]
    eval_count: u64,
    #[serde(default)]
    error: Option<Value>,
}

impl Generated {
    /// Returns the finish reason of a chat completion.
    fn finish_reason(&self) -> &str {
        match self.done_reason.as_deref() {
            Some("length") => "length",
            _ => "stop",
        }
    }

    fn usage(&self) -> Value {
        let (prompt, answer) = (self.prompt_eval_count, self.eval_count);
        json!({"prompt_tokens": prompt, "completion_tokens": answer,
            "total_tokens": prompt.saturating_add(answer)})
    }
}

/// Returns a whole answer as a chat completion. Other answers are returned unchanged.
pub(crate) fn completion(answer: &[u8]) -> Vec<u8> {
    let read = serde_json::from_slice::<Generated>(answer);
    let Some(read) = read.ok().filter(|it| it.done && it.error.is_none()) else {
        return answer.to_vec();
    };
    let message = json!({"role": "assistant", "content": read.response});
    let reason = read.finish_reason();
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let created = ollama::now();
    let completion = json!({"id": id(created), "object": "chat.completion", "created": created,
        "model": read.model, "choices": [choice], "usage": read.usage()});
    completion.to_string().into_bytes()
}

/// Returns an id for an answer, which Ollama's have not.
fn id(created: u64) -> String {
    format!("chatcmpl-{created}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{completion, request};
    use crate::body::Body;

    fn asked(chat: &Value, own: Option<&Value>) -> Value {
        let read = |it: &Value| Body::read(it.to_string().as_bytes()).unwrap();
        let request = request(&mut read(chat), "<user>Hi", own.map(read)).unwrap();
        serde_json::from_slice(&request).unwrap()
    }

    #[test]
    fn options_that_only_ollama_has_are_kept() {
        let chat = json!({"model": "m:latest", "temperature": 0.5});
        let own = json!({"model": "m", "keep_alive": 9, "options": {"num_ctx": 8192, "temperature": 0.5}});
        let expected = json!({"model": "m:latest", "keep_alive": 9, "prompt": "<user>Hi",
            "raw": true, "stream": false, "options": {"num_ctx": 8192, "temperature": 0.5}});
        assert_eq!(asked(&chat, Some(&own)), expected);
    }

    #[test]
    fn settings_of_a_chat_become_options() {
        let chat = json!({"model": "m", "messages": [], "tools": [], "stream": true, "seed": 7,
            "temperature": 0.5, "repetition_penalty": 1.1, "max_tokens": 9, "stop": ["x"],
            "response_format": {"type": "json_object"}, "keep_alive": "5m", "user": "u"});
        let expected = json!({"model": "m", "prompt": "<user>Hi", "raw": true, "stream": true,
            "keep_alive": "5m", "format": "json",
            "options": {"repeat_penalty": 1.1, "seed": 7, "stop": ["x"], "temperature": 0.5,
                "num_predict": 9}});
        assert_eq!(asked(&chat, None), expected);
        let schema = json!({"type": "object"});
        let format = json!({"type": "json_schema", "json_schema": {"schema": schema}});
        let asked = asked(&json!({"model": "m", "response_format": format}), None);
        assert_eq!((&asked["format"], &asked["stream"]), (&schema, &false.into()));
    }

    #[test]
    fn whole_answer_becomes_a_completion() {
        let answer = json!({"model": "m", "response": "Hi", "done": true, "done_reason": "length",
            "prompt_eval_count": 3, "eval_count": 2});
        let read: Value =
            serde_json::from_slice(&completion(answer.to_string().as_bytes())).unwrap();
        assert_eq!(read["choices"][0]["message"]["content"], "Hi");
        assert_eq!(read["choices"][0]["finish_reason"], "length");
        assert_eq!(read["usage"]["total_tokens"], 5);
        for other in ["{\"error\":\"no\"}", "{\"response\":\"cut\"}", "[]"] {
            assert_eq!(completion(other.as_bytes()), other.as_bytes());
        }
    }
}
