//! Output for programs: one JSON object a line.

use std::io::{self, Write};

use llm_stream_guard::{MessageEnd, chat::Delta};
use llm_stream_guard_serve::parse::{Remark, Render};
use serde::Serialize;

/// A writer of JSON lines. Each object has `type` and `choice`.
#[derive(Debug)]
pub(crate) struct JsonLines<W>(pub W);

#[derive(Serialize)]
struct Object<'o> {
    r#type: &'o str,
    choice: u32,
    #[serde(flatten)]
    fields: Fields<'o>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Fields<'o> {
    Text { text: &'o str },
    Start { index: u32, id: &'o str, name: &'o str },
    Arguments { index: u32, fragment: &'o str },
    End { index: u32, outcome: &'o str },
    MessageEnd { finish: &'o str, open: &'o str },
    Note(NoteFields<'o>),
}

#[derive(Serialize)]
struct NoteFields<'o> {
    kind: &'o str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'o str>,
}

impl<W: Write> JsonLines<W> {
    fn line(&mut self, object: &Object<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, object)?;
        self.0.write_all(b"\n")
    }
}

impl<W: Write> Render for JsonLines<W> {
    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()> {
        let (r#type, fields) = match delta {
            Delta::Content(text) => ("content", Fields::Text { text }),
            Delta::Reasoning(text) => ("reasoning", Fields::Text { text }),
            Delta::CallStart { index, id, name, .. } => {
                ("call_start", Fields::Start { index, id, name })
            }
            Delta::CallArguments { index, fragment } => {
                ("call_arguments", Fields::Arguments { index, fragment })
            }
            Delta::CallEnd { index, outcome, .. } => {
                ("call_end", Fields::End { index, outcome: outcome.name() })
            }
            _ => return Ok(()),
        };
        self.line(&Object { r#type, choice, fields })
    }

    fn note(&mut self, choice: u32, note: Remark<'_>) -> io::Result<()> {
        let Remark { kind, at, bytes, count, call, message } = note;
        let fields = Fields::Note(NoteFields { kind, at, bytes, count, call, message });
        self.line(&Object { r#type: "diagnostic", choice, fields })
    }

    fn end(&mut self, choice: u32, end: MessageEnd) -> io::Result<()> {
        let fields = Fields::MessageEnd { finish: end.finish(), open: end.open.name() };
        self.line(&Object { r#type: "end", choice, fields })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
