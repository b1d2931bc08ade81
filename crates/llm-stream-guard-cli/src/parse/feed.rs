//! Conversion of the input's bytes into chunks, for every input format.

use llm_stream_guard::{
    End,
    explain::{FormDetector, LogFilter, Patience, RecordingForm},
    sse,
};
use llm_stream_guard_serve::parse::{ChatReader, EventWriter, Intake, Remark};

use crate::{
    args::InputKind,
    input::{Line, Lines},
};

/// A reader of input in pieces.
pub(crate) struct InputFeed<I> {
    form: Form,
    /// Leaves out what curl writes around a body.
    log: Option<LogFilter>,
    intake: I,
}

enum Form {
    Unknown(FormDetector),
    Text,
    Jsonl(Lines),
    Sse(Box<sse::Decoder>),
}

impl<'r> InputFeed<ChatReader<'r>> {
    /// Returns the output, so that callers can flush it.
    pub(crate) fn output(&mut self) -> &mut EventWriter<'r> {
        self.intake.output()
    }
}

impl<I: Intake> InputFeed<I> {
    /// Creates a reader of `kind` that feeds `intake`.
    pub(crate) fn new(kind: InputKind, patience: Patience, intake: I) -> Self {
        let form = form(kind).unwrap_or_else(|| Form::Unknown(FormDetector::new(patience)));
        Self { form, log: None, intake }
    }

    /// Returns the receiver of the input's parts.
    pub(crate) fn into_intake(self) -> I {
        self.intake
    }

    /// Feeds the next piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Form::Unknown(detector) = &mut self.form {
            if let Some(form) = detector.push(bytes) {
                self.settle(form);
            }
            return;
        }
        match &mut self.log {
            None => self.feed(bytes),
            Some(log) => {
                let mut body = Vec::new();
                log.push(bytes, &mut body);
                self.feed(&body);
            }
        }
    }

    /// Feeds bytes of a known form.
    fn feed(&mut self, bytes: &[u8]) {
        let Self { form, intake, .. } = self;
        match form {
            Form::Unknown(_) => {}
            Form::Text => intake.bytes(bytes),
            Form::Jsonl(lines) => lines.push(bytes, |line| on_line(line, intake)),
            Form::Sse(decoder) => {
                let result = decoder.push(bytes, |item| on_item(item, intake));
                stopped(result, intake);
            }
        }
    }

    /// Ends the input, with `end` if the caller knows it, and `broken` if reading failed.
    pub(crate) fn finish(&mut self, end: Option<End>, broken: bool) {
        if let Form::Unknown(detector) = &mut self.form {
            let form = detector.finish();
            self.settle(form);
        }
        if let Some(log) = &mut self.log {
            let mut body = Vec::new();
            log.finish(&mut body);
            self.feed(&body);
        }
        let Self { form, intake, .. } = self;
        match form {
            Form::Unknown(_) | Form::Text => {}
            Form::Jsonl(lines) => lines.finish(|line| on_line(line, intake)),
            Form::Sse(decoder) => {
                let result = decoder.finish(|item| on_item(item, intake));
                stopped(result, intake);
            }
        }
        intake.finish(end, broken);
    }

    fn settle(&mut self, found: RecordingForm) {
        let kind = match found {
            RecordingForm::Events => InputKind::Sse,
            RecordingForm::Lines => InputKind::Jsonl,
            RecordingForm::Text => InputKind::Text,
        };
        let form = form(kind).unwrap_or(Form::Text);
        if let Form::Unknown(detector) = std::mem::replace(&mut self.form, form) {
            let (head, log) = detector.into_parts();
            self.log = log;
            self.feed(&head);
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

fn on_line(line: Line<'_>, intake: &mut impl Intake) {
    match line {
        Line::Whole(line) => intake.json("", line),
        Line::TooLong(bytes) => too_long(bytes, intake),
    }
}

fn on_item(item: sse::SseItem<'_>, intake: &mut impl Intake) {
    match item {
        sse::SseItem::Event(event) => {
            if event.ignored > 0 {
                let bytes = Some(event.ignored);
                intake.note(Remark { kind: "no_field", bytes, ..Remark::default() });
            }
            if let Some(data) = event.data {
                intake.json(&String::from_utf8_lossy(event.name.unwrap_or_default()), data);
            }
        }
        sse::SseItem::Dropped { bytes } => too_long(bytes, intake),
        _ => {}
    }
}

/// Notes an event that stopped the decoder. The policy in use drops long events, so no event does.
fn stopped(result: Result<(), sse::TooLong>, intake: &mut impl Intake) {
    if let Err(error) = result {
        let message = error.to_string();
        let message = Some(message.as_str());
        intake.note(Remark { kind: "line_limit", message, ..Remark::default() });
    }
}

fn too_long(bytes: u64, intake: &mut impl Intake) {
    intake.note(Remark { kind: "line_limit", bytes: Some(bytes), ..Remark::default() });
}
