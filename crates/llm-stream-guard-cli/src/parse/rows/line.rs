//! One line of a file of rows: its text and settings, and the line with its message.

use std::{borrow::Cow, collections::BTreeMap};

use llm_stream_guard::{Call, Message, MessageEnd, Outcome, RowSetting, RowSettings};
use serde::Serialize;
use serde_json::value::RawValue;

/// The names of the fields that are read and added.
#[derive(Debug)]
pub(super) struct FieldNames {
    /// The name of the field of texts.
    pub(super) column: String,
    /// The name of the field that is added.
    pub(super) into: String,
    /// The fields with settings of a row, by name.
    pub(super) row: Vec<(RowSetting, String)>,
}

/// A message, as a field of its row.
#[derive(Serialize)]
struct MessageField<'m> {
    content: &'m str,
    reasoning: &'m str,
    calls: Vec<CallField<'m>>,
    outcome: Option<&'static str>,
    diagnostics: Vec<Notice>,
    finish: Option<&'static str>,
    open: Option<&'static str>,
    error: Option<&'m str>,
}

#[derive(Serialize)]
struct CallField<'m> {
    id: &'m str,
    name: &'m str,
    arguments: &'m str,
    outcome: &'static str,
}

#[derive(Serialize)]
struct Notice {
    kind: &'static str,
    at: u64,
    bytes: u64,
    call: Option<u32>,
}

impl<'m> MessageField<'m> {
    fn of(message: &'m Message, end: Result<MessageEnd, &'m str>) -> Self {
        let mut worst = Outcome::Complete;
        let call = |Call { id, name, arguments, outcome, .. }: &'m Call| {
            let outcome = outcome.unwrap_or(Outcome::Incomplete);
            worst = worst.worse(outcome);
            CallField { id, name, arguments, outcome: outcome.name() }
        };
        let calls: Vec<_> = message.calls.iter().map(call).collect();
        let notices = message.diagnostics.iter().map(|it| Notice {
            kind: it.kind.name(),
            at: it.at,
            bytes: it.bytes,
            call: it.call,
        });
        let diagnostics = notices.collect();
        let Message { content, reasoning, .. } = message;
        let whole = end.ok();
        Self {
            content,
            reasoning,
            calls,
            outcome: whole.map(|_| worst.name()),
            diagnostics,
            finish: whole.map(MessageEnd::finish),
            open: whole.map(|end| end.open.name()),
            error: end.err(),
        }
    }
}

/// A line that is an object.
pub(super) struct RowLine<'l> {
    /// The line without the white space around it. Bytes that are not UTF-8 are replaced.
    text: Cow<'l, str>,
    /// Whether the object has fields.
    has_fields: bool,
}

/// The text and the settings of a row. A row without a text has no message.
pub(super) struct Row {
    pub(super) text: Option<String>,
    settings: Vec<(RowSetting, Option<String>)>,
}

impl Row {
    /// Returns the settings of the row.
    pub(super) fn settings(&self) -> RowSettings<'_> {
        let mut settings = RowSettings::default();
        for (setting, value) in &self.settings {
            settings.set(*setting, value.as_deref());
        }
        settings
    }
}

impl<'l> RowLine<'l> {
    /// Reads a line. The row may still have an error, which then belongs to its message.
    ///
    /// # Errors
    /// The line is not an object, or already has a field of messages.
    pub(super) fn read(
        line: &'l [u8],
        names: &FieldNames,
    ) -> Result<(Self, Result<Row, String>), LineError> {
        let text = String::from_utf8_lossy(line);
        let replaced_at = std::str::from_utf8(line).err().map(|error| error.valid_up_to());
        let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&text)
            .map_err(|error| LineError::NoObject(format!("expected an object: {error}")))?;
        if fields.contains_key(names.into.as_str()) {
            return Err(LineError::Taken(names.into.clone()));
        }
        let row = match replaced_at {
            Some(at) => Err(format!("the line is not UTF-8 at byte {at}")),
            None => row(&fields, names),
        };
        let has_fields = !fields.is_empty();
        Ok((Self { text, has_fields }, row))
    }

    /// Writes the line with the message of its row.
    pub(super) fn write(
        &self,
        names: &FieldNames,
        message: Option<(&Message, Result<MessageEnd, &str>)>,
        out: &mut Vec<u8>,
    ) {
        let object = self.text.strip_suffix('}').unwrap_or(&self.text);
        out.extend_from_slice(object.as_bytes());
        if self.has_fields {
            out.push(b',');
        }
        write_json(&names.into, out);
        out.push(b':');
        write_json(&message.map(|(message, end)| MessageField::of(message, end)), out);
        out.extend_from_slice(b"}\n");
    }
}

/// The reason why a line has no message.
pub(super) enum LineError {
    /// The line is not an object.
    NoObject(String),
    /// The line has a field with the name of that which is added.
    Taken(String),
}

/// Writes, for a line without an object, its number, and the error in place of the message.
pub(super) fn write_error(names: &FieldNames, number: usize, error: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"line\":{number},").as_bytes());
    write_json(&names.into, out);
    out.push(b':');
    write_json(&MessageField::of(&Message::default(), Err(error)), out);
    out.extend_from_slice(b"}\n");
}

/// Writing JSON to memory does not fail.
fn write_json(value: &impl Serialize, out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, value);
}

fn row(fields: &BTreeMap<Cow<'_, str>, &RawValue>, names: &FieldNames) -> Result<Row, String> {
    let text = text_of(fields, &names.column)?;
    let settings = names.row.iter().map(|(setting, name)| {
        let value = match setting {
            RowSetting::Tools | RowSetting::Key => json_of(fields, name),
            _ => text_of(fields, name),
        };
        value.map(|value| (*setting, value))
    });
    Ok(Row { text, settings: settings.collect::<Result<_, _>>()? })
}

/// Returns the text of a field, `None` for null or a missing field.
fn text_of(
    fields: &BTreeMap<Cow<'_, str>, &RawValue>,
    name: &str,
) -> Result<Option<String>, String> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    let fault = |error| match value.get().starts_with('"') {
        true => format!("the text at `{name}` is not Unicode: {error}"),
        false => format!("expected a text at `{name}`"),
    };
    serde_json::from_str::<Option<String>>(value.get()).map_err(fault)
}

/// Returns the JSON text of a field, or the text of a string.
fn json_of(
    fields: &BTreeMap<Cow<'_, str>, &RawValue>,
    name: &str,
) -> Result<Option<String>, String> {
    match fields.get(name).map(|value| value.get()) {
        None | Some("null") => Ok(None),
        Some(text) if text.starts_with('"') => text_of(fields, name),
        Some(json) => Ok(Some(json.to_owned())),
    }
}
