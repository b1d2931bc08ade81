//! The strings that replace heavy values: a mark, and the value's text.

use std::{
    borrow::Cow,
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use serde_json::Value;

use crate::chat::model::parsed_size::{HEAVINESS, parsed_size};

/// The first quotation mark of a condensed value and the mark after it. The mark differs from
/// process to process, so that no server can write it.
static OPENING: LazyLock<String> = LazyLock::new(|| {
    let [one, other] = [0, 1].map(|it: u8| RandomState::new().hash_one(it));
    format!("\"\u{FDD0}{one:016x}{other:016x}:")
});

/// Minimum length of a value that is condensed, in bytes.
const MIN_VALUE_BYTES: usize = 256;

/// Restores the values of condensed JSON. See [`condense`](crate::chat::condense).
#[must_use]
pub fn expand(json: &str) -> Cow<'_, str> {
    let opening = OPENING.as_str();
    let mut found = json.find(opening);
    if found.is_none() {
        return json.into();
    }
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = found {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (string, behind) = from.split_at(string_length(from));
        match serde_json::from_str::<Value>(string) {
            Ok(Value::String(text)) => {
                let mark = opening.len().saturating_sub(1);
                out.push_str(text.get(mark..).unwrap_or_default());
            }
            // A string that was cut.
            _ => out.push_str(string),
        }
        rest = behind;
        found = rest.find(opening);
    }
    out.push_str(rest);
    out.into()
}

/// Returns the length of the JSON string at the beginning of `from`, with its quotation marks.
fn string_length(from: &str) -> usize {
    let mut escaped = true;
    let end = from.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        // The first byte is the opening quotation mark.
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(from.len(), |end| end.saturating_add(1))
}

/// Writes a JSON string with the mark and the text of a value.
pub(in crate::chat) fn push_condensed(raw: &str, out: &mut String) {
    let escaped = raw.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    // The text may be most of an event, so that doubling would cost more than counting.
    out.reserve_exact(OPENING.len().saturating_add(raw.len()).saturating_add(escaped) + 1);
    out.push_str(&OPENING);
    for part in raw.split_inclusive(['"', '\\', '\n', '\r', '\t']) {
        let last = part.len().saturating_sub(1);
        match part.as_bytes().last() {
            Some(b'"' | b'\\') => {
                let (before, sign) = part.split_at(last);
                out.push_str(before);
                out.push('\\');
                out.push_str(sign);
            }
            // A line end between values would end a line of an event stream.
            Some(b'\n' | b'\r' | b'\t') => {
                out.push_str(part.get(..last).unwrap_or_default());
                out.push(' ');
            }
            _ => out.push_str(part),
        }
    }
    out.push('"');
}

/// Returns whether a value takes much more memory than its text.
pub(in crate::chat) fn is_heavy(raw: &str) -> bool {
    let most = raw.len().saturating_mul(HEAVINESS);
    raw.len() >= MIN_VALUE_BYTES && raw.starts_with(['{', '[']) && parsed_size(raw) > most
}
