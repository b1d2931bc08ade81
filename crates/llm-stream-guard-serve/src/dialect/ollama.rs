//! Ollama's API: `POST /api/chat` and `POST /api/generate`.
//!
//! A stream is one JSON object a line. A call is written when it is whole, with its arguments as an
//! object:
//!
//! ```text
//! {"model":"m","created_at":"..","message":{"role":"assistant","content":"Hi"},"done":false}
//! {"model":"m","created_at":"..","message":{..,"tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":false}
//! {"model":"m","created_at":"..","message":{..},"done":true,"done_reason":"stop","eval_count":9}
//! ```

mod request;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use llm_stream_guard::chat::{ChatSink, ChatStep, Delta, condensed_object};
use serde_json::{Map, Value, json};

pub(crate) use self::request::{OPTIONS, chat, generate, is_load};
use super::{
    encoded::{Encoder, write_json},
    turns::Turns,
    usage::tokens,
};
use crate::error::Fault;

/// A path of Ollama's API, which decides the form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OllamaForm {
    /// Chats: `POST /api/chat`. The answer's text is in `message`.
    Chat,
    /// Completions of a prompt: `POST /api/generate`. The answer's text is in `response`.
    Generate,
}

/// The fields that every line repeats.
#[derive(Debug)]
struct LineHead {
    form: OllamaForm,
    model: Value,
    created: String,
}

/// The parts of an answer, for one line or for the whole answer.
#[derive(Debug, Default)]
struct LineParts {
    content: String,
    thinking: String,
    calls: Vec<Value>,
}

impl LineParts {
    fn is_empty(&self) -> bool {
        self.content.is_empty() && self.thinking.is_empty() && self.calls.is_empty()
    }
}

impl LineHead {
    /// Creates the head of the answer to the request `asked`.
    fn new(form: OllamaForm, asked: &Value) -> Self {
        let created = asked.get("created").and_then(Value::as_u64).unwrap_or(0);
        let model = asked.get("model").cloned().unwrap_or_else(|| "".into());
        Self { form, model, created: timestamp(created) }
    }

    /// Returns a line with these parts.
    fn line(&self, parts: LineParts, is_done: bool) -> Value {
        let mut message = Map::new();
        let is_chat = self.form == OllamaForm::Chat;
        if is_chat {
            message.insert("role".into(), "assistant".into());
        }
        message.insert(if is_chat { "content" } else { "response" }.into(), parts.content.into());
        if !parts.thinking.is_empty() {
            message.insert("thinking".into(), parts.thinking.into());
        }
        if !parts.calls.is_empty() {
            message.insert("tool_calls".into(), parts.calls.into());
        }
        let mut line = json!({"model": self.model, "created_at": self.created});
        match (is_chat, line.as_object_mut()) {
            (true, Some(line)) => drop(line.insert("message".into(), message.into())),
            (false, Some(line)) => line.extend(message),
            (_, None) => {}
        }
        line["done"] = is_done.into();
        line
    }

    /// Returns the last line, which has the reason of the end and the counts.
    fn last(&self, parts: LineParts, reader: &DeltaReader) -> Value {
        let mut line = self.line(parts, true);
        line["done_reason"] = match reader.reason.as_deref() {
            Some("length" | "max_tokens") => "length",
            _ => "stop",
        }
        .into();
        line["prompt_eval_count"] = tokens(reader.usage.as_ref(), "/prompt_tokens").into();
        line["eval_count"] = tokens(reader.usage.as_ref(), "/completion_tokens").into();
        line
    }
}

/// The open call, which is written only when it is whole.
#[derive(Debug, Default)]
struct OpenCall {
    id: String,
    name: String,
    arguments: String,
    /// Number of calls written.
    written: u32,
}

impl OpenCall {
    /// Feeds a delta, and returns the call that it completes. A call that does not run is dropped
    /// and logged: clients run every call that they get.
    fn take(&mut self, delta: Delta<'_>) -> Option<Value> {
        match delta {
            Delta::CallStart { id, name, .. } => {
                (self.id, self.name) = (id.to_owned(), name.to_owned());
                self.arguments.clear();
                None
            }
            Delta::CallArguments { fragment, .. } => {
                self.arguments.push_str(fragment);
                None
            }
            Delta::CallEnd { outcome, .. } => {
                let arguments = std::mem::take(&mut self.arguments);
                let read = condensed_object(&arguments).filter(|_| outcome.runs());
                let Some(arguments) = read else {
                    tracing::warn!(?outcome, "a call that does not run was left out of the answer");
                    return None;
                };
                let index = self.written;
                self.written = self.written.saturating_add(1);
                let function = json!({"index": index, "name": self.name, "arguments": arguments});
                Some(json!({"id": self.id, "function": function}))
            }
            _ => None,
        }
    }
}

/// Reads deltas into the parts of lines, and keeps what the last line needs.
#[derive(Debug, Default)]
struct DeltaReader {
    call: OpenCall,
    /// The reason of the end.
    reason: Option<String>,
    usage: Option<Value>,
}

impl DeltaReader {
    /// Adds a delta to `parts`. A call is added when it is whole.
    fn take(&mut self, delta: Delta<'_>, parts: &mut LineParts) {
        match delta {
            Delta::Reasoning(text) => parts.thinking.push_str(text),
            // There is no field for a refusal.
            Delta::Content(text) | Delta::Refusal(text) => parts.content.push_str(text),
            Delta::Finish { reason, .. } => self.reason = Some(reason.to_owned()),
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            delta => parts.calls.extend(self.call.take(delta)),
        }
    }
}

/// The encoder of an answer's lines.
#[derive(Debug)]
pub(crate) struct OllamaEvents {
    head: LineHead,
    turns: Turns,
    reader: DeltaReader,
}

impl OllamaEvents {
    /// Creates an encoder for the answer to the request `asked`.
    #[must_use]
    pub(crate) fn new(form: OllamaForm, asked: &Value) -> Self {
        let (turns, reader) = (Turns::default(), DeltaReader::default());
        Self { head: LineHead::new(form, asked), turns, reader }
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<u8>) {
        let mut parts = LineParts::default();
        self.reader.take(delta, &mut parts);
        if !parts.is_empty() {
            write_line(&self.head.line(parts, false), out);
        }
    }

    /// Writes the waiting calls.
    fn rest(&mut self, out: &mut Vec<u8>) {
        std::mem::take(&mut self.turns).rest(&mut |delta| self.delta(delta, out));
    }
}

impl Encoder for OllamaEvents {
    fn step(&mut self, step: ChatStep<'_>, out: &mut Vec<u8>) {
        let mut turns = std::mem::take(&mut self.turns);
        turns.step(&step, &mut |delta| self.delta(delta, out));
        self.turns = turns;
    }

    fn end(&mut self, _: bool, out: &mut Vec<u8>) {
        self.rest(out);
        write_line(&self.head.last(LineParts::default(), &self.reader), out);
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.rest(out);
        write_line(&self::fault(fault), out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        // Clients read every line as JSON.
        write_line(&self.head.line(LineParts::default(), false), out);
    }
}

/// A whole answer, made of its deltas.
#[derive(Debug)]
pub(crate) struct OllamaWhole {
    head: LineHead,
    parts: LineParts,
    turns: Turns,
    reader: DeltaReader,
}

impl OllamaWhole {
    /// Creates the answer to the request `asked`.
    pub(crate) fn new(form: OllamaForm, asked: &Value) -> Self {
        let OllamaEvents { head, turns, reader } = OllamaEvents::new(form, asked);
        Self { head, parts: LineParts::default(), turns, reader }
    }

    /// Returns the answer and its usage as upstream wrote it.
    pub(crate) fn into_json(self) -> (Value, Option<Value>) {
        let Self { head, mut parts, mut turns, mut reader } = self;
        turns.rest(&mut |delta| reader.take(delta, &mut parts));
        (head.last(parts, &reader), reader.usage)
    }
}

impl ChatSink for OllamaWhole {
    fn step(&mut self, step: ChatStep<'_>) {
        let Self { parts, turns, reader, .. } = self;
        turns.step(&step, &mut |delta| reader.take(delta, parts));
    }
}

/// Returns the answer to a request without text, with which clients load or unload a model. The
/// inference server has loaded its models.
pub(crate) fn loaded(form: OllamaForm, asked: &Value) -> Value {
    let mut line = LineHead::new(form, asked).line(LineParts::default(), true);
    line["done_reason"] = "load".into();
    line
}

/// A question about models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OllamaQuestion {
    Tags,
    Running,
    Version,
    Show,
}

impl OllamaQuestion {
    /// Returns the question that a request asks.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        Some(match (method, path) {
            ("GET", "/api/tags") => Self::Tags,
            ("GET", "/api/ps") => Self::Running,
            ("GET", "/api/version") => Self::Version,
            ("POST", "/api/show") => Self::Show,
            _ => return None,
        })
    }
}

/// Returns Ollama's error object for a fault.
#[must_use]
pub(crate) fn fault(fault: &Fault) -> Value {
    let field = fault.field.as_ref().map_or_else(String::new, |field| format!("`{field}`: "));
    json!({"error": format!("{field}{}", fault.message)})
}

fn write_line(line: &Value, out: &mut Vec<u8>) {
    write_json(line, out);
    out.push(b'\n');
}

/// Returns the current time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it: Duration| it.as_secs())
}

/// Returns a time in seconds since 1970 as Ollama writes times, such as `2026-11-28T17:00:00Z`.
pub(crate) fn timestamp(seconds: u64) -> String {
    const DAY: u64 = 24 * 60 * 60;
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut day) = (1970, days.min(DAY * 365));
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if day < length || year == 9999 {
            break;
        }
        day -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day.min(30) + 1)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn times_are_written_with_their_date() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_798_675_199, "2026-12-30T23:59:59Z"),
            (1_798_761_600, "2027-01-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(seconds), expected);
        }
    }
}
