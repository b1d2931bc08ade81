//! Events and messages as JSON.
//!
//! ```text
//! Content("Hi"), CallEnd { index: 0, outcome: Complete }
//! [{"kind":"content","text":"Hi"},{"kind":"call_end","index":0,"outcome":"complete"}]
//! ```

use std::fmt::Write as _;

use llm_stream_guard::{Call, Diagnostic, Event, Message, Outcome, Sink};

/// A sink that writes events as a list. Neighbouring pieces of one text are joined.
#[derive(Debug, Default)]
pub(crate) struct EventList {
    json: String,
    last: Last,
}

/// The text of the last event, which may still grow.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Content,
    Reasoning,
    Arguments(u32),
}

impl EventList {
    /// Ends the list and returns it. An `error` is its last event.
    pub(crate) fn finish(mut self, error: Option<String>) -> String {
        if let Some(error) = error {
            self.begin("error", ",\"message\":\"");
            escape_to(&mut self.json, &error);
            self.json.push_str("\"}");
        }
        self.close(Last::Nothing);
        match self.json.is_empty() {
            true => "[]".into(),
            false => {
                self.json.push(']');
                self.json
            }
        }
    }

    fn begin(&mut self, kind: &str, fields: &str) {
        self.close(Last::Nothing);
        self.json.push(if self.json.is_empty() { '[' } else { ',' });
        let _ = write!(self.json, "{{\"kind\":\"{kind}\"{fields}");
    }

    /// Ends the text of the previous event.
    fn close(&mut self, next: Last) {
        if std::mem::replace(&mut self.last, next) != Last::Nothing {
            self.json.push_str("\"}");
        }
    }

    fn text(&mut self, last: Last, text: &str) {
        if self.last != last {
            match last {
                Last::Reasoning => self.begin("reasoning", ",\"text\":\""),
                Last::Arguments(index) => {
                    let fields = format!(",\"index\":{index},\"fragment\":\"");
                    self.begin("call_arguments", &fields);
                }
                _ => self.begin("content", ",\"text\":\""),
            }
            self.last = last;
        }
        escape_to(&mut self.json, text);
    }
}

impl Sink for EventList {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Other(_, text) => self.text(Last::Content, text),
            Event::Reasoning(text) => self.text(Last::Reasoning, text),
            Event::CallArguments { index, fragment } => {
                self.text(Last::Arguments(index), fragment);
            }
            Event::CallStart { index, id, name } => {
                self.begin("call_start", &format!(",\"index\":{index},\"id\":\""));
                escape_to(&mut self.json, id);
                self.json.push_str("\",\"name\":\"");
                escape_to(&mut self.json, name);
                self.json.push_str("\"}");
            }
            Event::CallEnd { index, outcome } => {
                let fields = format!(",\"index\":{index},\"outcome\":\"{}\"}}", outcome.name());
                self.begin("call_end", &fields);
            }
            Event::Diagnostic(diagnostic) => {
                self.begin("diagnostic", ",\"diagnostic\":");
                self.json.push_str(&diagnostic_json(&diagnostic));
                self.json.push('}');
            }
            // Other events, such as late ids and edges of markers, are for stages of the guard.
            _ => {}
        }
    }
}

/// Returns a diagnostic as JSON.
pub(crate) fn diagnostic_json(Diagnostic { kind, at, bytes, call, .. }: &Diagnostic) -> String {
    let call = call.map_or_else(|| "null".to_owned(), |call| call.to_string());
    let kind = kind.name();
    format!("{{\"kind\":\"{kind}\",\"at\":{at},\"bytes\":{bytes},\"call\":{call}}}")
}

/// Returns a whole message as JSON.
pub(crate) fn message_json(message: &Message) -> String {
    let mut json = String::from("{\"content\":\"");
    escape_to(&mut json, &message.content);
    json.push_str("\",\"reasoning\":\"");
    escape_to(&mut json, &message.reasoning);
    json.push_str("\",\"calls\":[");
    for (number, call) in message.calls.iter().enumerate() {
        json.push_str(if number > 0 { ",{" } else { "{" });
        let Call { id, name, arguments, outcome, .. } = call;
        for (key, text) in [("id", id), ("name", name), ("arguments", arguments)] {
            let _ = write!(json, "\"{key}\":\"");
            escape_to(&mut json, text);
            json.push_str("\",");
        }
        // A call that never ended is incomplete.
        let outcome = outcome.unwrap_or(Outcome::Incomplete);
        let _ = write!(json, "\"outcome\":\"{}\"}}", outcome.name());
    }
    json.push_str("],\"diagnostics\":[");
    let diagnostics: Vec<_> = message.diagnostics.iter().map(diagnostic_json).collect();
    json.push_str(&diagnostics.join(","));
    json.push_str("]}");
    json
}

/// Appends text, escaped for a JSON string.
pub(crate) fn escape_to(json: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ') {
        let (plain, special) = rest.split_at(at);
        json.push_str(plain);
        let mut scalars = special.chars();
        match scalars.next() {
            Some(scalar @ ('"' | '\\')) => json.extend(['\\', scalar]),
            Some(control) => {
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = scalars.as_str();
    }
    json.push_str(rest);
}
