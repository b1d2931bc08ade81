//! Fields of requests and text of events that several dialects share.

use serde_json::{Map, Value, json, value::RawValue};

pub(crate) use crate::error::expected;
use crate::{
    body::Body,
    error::{Fault, Kind},
};

/// A comment between events, which clients ignore. It shows that the stream is alive.
pub(super) const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// Requests token counts at the end of a stream, because these dialects always report them.
pub(super) fn count_at_end(body: &mut Body) {
    if body.is("stream", "true") {
        body.set("stream_options", &json!({"include_usage": true}));
    }
}

/// Switches reasoning on or off. Chat templates use one of two names for this setting.
pub(super) fn switch_reasoning(body: &mut Body, on: bool) -> Result<(), Fault> {
    let arguments = body.get("chat_template_kwargs")?.unwrap_or_else(|| json!({}));
    let Value::Object(mut arguments) = arguments else { return Ok(()) };
    for name in ["enable_thinking", "thinking"] {
        arguments.entry(name).or_insert(on.into());
    }
    body.set("chat_template_kwargs", &arguments.into());
    Ok(())
}

/// A writer of a chat completion's messages, one by one.
#[derive(Debug)]
pub(super) struct Messages {
    written: Vec<u8>,
    /// The last message, which may still grow.
    last: Option<Map<String, Value>>,
}

impl Messages {
    /// Creates a writer without messages, with room for `length` bytes of JSON.
    pub(super) fn new(length: usize) -> Self {
        Self { written: Vec::with_capacity(length), last: None }
    }

    pub(super) fn push(&mut self, message: Map<String, Value>) {
        self.write();
        self.last = Some(message);
    }

    /// Returns the last message if it is the assistant's, else a new one from `begin`.
    pub(super) fn assistant(
        &mut self,
        begin: impl FnOnce() -> Map<String, Value>,
    ) -> &mut Map<String, Value> {
        let is_assistant =
            |last: &Map<_, Value>| last.get("role").is_some_and(|it| it == "assistant");
        if !self.last.as_ref().is_some_and(is_assistant) {
            self.write();
        }
        self.last.get_or_insert_with(begin)
    }

    fn write(&mut self) {
        if let Some(last) = self.last.take() {
            self.written.push(if self.written.is_empty() { b'[' } else { b',' });
            // Strings, numbers and maps with string keys are always valid JSON.
            let _ = serde_json::to_writer(&mut self.written, &last);
        }
    }

    /// Returns all messages as a JSON list.
    pub(super) fn finish(mut self) -> Result<Box<RawValue>, Fault> {
        self.write();
        if self.written.is_empty() {
            self.written.push(b'[');
        }
        self.written.push(b']');
        let fault = |error: &dyn std::fmt::Display| Fault::new(Kind::Request, error);
        let written = String::from_utf8(self.written).map_err(|error| fault(&error))?;
        RawValue::from_string(written).map_err(|error| fault(&error))
    }
}

/// Returns a message with these fields.
pub(super) fn message(role: &str, content: Value) -> Map<String, Value> {
    [("role".to_owned(), role.into()), ("content".to_owned(), content)].into_iter().collect()
}
