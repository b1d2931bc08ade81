//! Bytes of the input to steps of the choices, whatever form the input has.

use llm_stream_guard::{End, sse};

use crate::{
    args::InputKind,
    input::{Detector, Line, Lines, Patience},
    parse::{
        choices::{Choices, Step},
        chunk::{Seen, json_line, payload},
        shown::Note,
    },
};

/// Takes the input in pieces.
pub struct Feed<'r> {
    form: Form,
    seen: Seen,
    choices: Choices<'r>,
}

enum Form {
    Unknown(Detector),
    Text,
    Jsonl(Lines),
    Sse(Box<sse::Decoder>),
}

impl<'r> Feed<'r> {
    /// Reads input of `kind` into `choices`.
    pub fn new(kind: InputKind, patience: Patience, choices: Choices<'r>) -> Self {
        let form = form(kind).unwrap_or_else(|| Form::Unknown(Detector::new(patience)));
        Self { form, seen: Seen::default(), choices }
    }

    /// The choices, to flush.
    pub fn choices(&mut self) -> &mut Choices<'r> {
        &mut self.choices
    }

    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { seen, choices, .. } = self;
        match &mut self.form {
            Form::Unknown(detector) => {
                if let Some(kind) = detector.push(bytes) {
                    self.settle(kind);
                }
            }
            Form::Text => choices.step(0, Step::Text(bytes)),
            Form::Jsonl(lines) => lines.push(bytes, |line| on_line(line, seen, choices)),
            Form::Sse(decoder) => {
                let result = decoder.push(bytes, |item| on_item(item, seen, choices));
                stopped(result, choices);
            }
        }
    }

    /// Ends the input; `end` if the caller knows how, `broken` if reading failed.
    pub fn finish(&mut self, end: Option<End>, broken: bool) {
        if let Form::Unknown(detector) = &mut self.form {
            let kind = detector.finish();
            self.settle(kind);
        }
        let Self { seen, choices, .. } = self;
        match &mut self.form {
            Form::Unknown(_) | Form::Text => {}
            Form::Jsonl(lines) => lines.finish(|line| on_line(line, seen, choices)),
            Form::Sse(decoder) => {
                let result = decoder.finish(|item| on_item(item, seen, choices));
                stopped(result, choices);
            }
        }
        // Chunks say how a choice ended; one that is open now was cut.
        let cut = broken || (seen.chunks && (seen.error || !seen.done));
        match end {
            Some(end) if !broken => choices.end_open(end, None),
            _ if cut => choices.end_open(End::Aborted, Some("no_finish_reason")),
            _ => choices.end_open(End::Stop, None),
        }
    }

    fn settle(&mut self, kind: InputKind) {
        let form = form(kind).unwrap_or(Form::Text);
        if let Form::Unknown(detector) = std::mem::replace(&mut self.form, form) {
            self.push(&detector.into_head());
        }
    }
}

fn form(kind: InputKind) -> Option<Form> {
    match kind {
        InputKind::Auto => None,
        InputKind::Text => Some(Form::Text),
        InputKind::Jsonl => Some(Form::Jsonl(Lines::default())),
        InputKind::Sse => Some(Form::Sse(Box::new(sse::Decoder::new().lenient()))),
    }
}

fn on_line(line: Line<'_>, seen: &mut Seen, choices: &mut Choices<'_>) {
    match line {
        Line::Whole(line) => json_line(line, seen, choices),
        Line::TooLong(bytes) => too_long(bytes, choices),
    }
}

fn on_item(item: sse::Item<'_>, seen: &mut Seen, choices: &mut Choices<'_>) {
    match item {
        sse::Item::Event(event) => {
            if event.ignored > 0 {
                let bytes = Some(event.ignored);
                choices.note(Note { kind: "no_field", bytes, ..Note::default() });
            }
            if let Some(data) = event.data {
                let name = String::from_utf8_lossy(event.name.unwrap_or_default());
                payload(&name, data, seen, choices);
            }
        }
        sse::Item::Dropped { bytes } => too_long(bytes, choices),
        _ => {}
    }
}

/// Under the policy in use no event stops the decoder; if one ever does, it shows.
fn stopped(result: Result<(), sse::TooLong>, choices: &mut Choices<'_>) {
    if let Err(error) = result {
        let message = error.to_string();
        let message = Some(message.as_str());
        choices.note(Note { kind: "line_limit", message, ..Note::default() });
    }
}

fn too_long(bytes: u64, choices: &mut Choices<'_>) {
    choices.note(Note { kind: "line_limit", bytes: Some(bytes), ..Note::default() });
}
