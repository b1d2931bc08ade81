//! Output for programs: one JSON object a line.

use std::io::{self, Write};

use serde::Serialize;

use llm_stream_guard_serve::parse::{Remark, Render, ShownEvent};

/// Writes one JSON object a line, with `type` and `choice` in each.
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

impl<W: Write> Render for JsonLines<W> {
    fn show(&mut self, choice: u32, shown: ShownEvent<'_>) -> io::Result<()> {
        let (r#type, fields) = match shown {
            ShownEvent::Content(text) => ("content", Fields::Text { text }),
            ShownEvent::Reasoning(text) => ("reasoning", Fields::Text { text }),
            ShownEvent::CallStart { index, id, name } => {
                ("call_start", Fields::Start { index, id, name })
            }
            ShownEvent::CallArguments { index, fragment } => {
                ("call_arguments", Fields::Arguments { index, fragment })
            }
            ShownEvent::CallEnd { index, outcome } => ("call_end", Fields::End { index, outcome }),
            ShownEvent::Note(Remark { kind, at, bytes, count, call, message }) => {
                let fields = NoteFields { kind, at, bytes, count, call, message };
                ("diagnostic", Fields::Note(fields))
            }
        };
        serde_json::to_writer(&mut self.0, &Object { r#type, choice, fields })?;
        self.0.write_all(b"\n")
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
