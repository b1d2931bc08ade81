//! The law L13: arguments do not contain markup.

use crate::{
    cuts::Cut,
    json::{JsonValue, parse},
    machine::{StreamMachine, run},
    record::{RecordedEvent, is_complete},
    violation::{Law, LawViolation},
};

/// The characters that may quote a text on any wire.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Checks L13: no key or string in the arguments of a complete call contains one of `markup`,
/// unless the wire quotes or escapes it.
///
/// # Errors
/// Returns the first string that contains markup.
pub fn check_clean_arguments<M: StreamMachine>(
    machine: &M,
    input: &str,
    markup: &[&str],
) -> Result<(), LawViolation> {
    let mut arguments = String::new();
    for event in run(machine, input, Cut::Whole).events {
        match event {
            RecordedEvent::CallStart { .. } => arguments.clear(),
            RecordedEvent::CallArguments { fragment, .. } => arguments.push_str(&fragment),
            RecordedEvent::CallEnd { outcome, .. } if is_complete(&outcome) => {
                let held = parse(&arguments).ok();
                if let Some((text, marker)) = held.and_then(|it| unquoted(it, input, markup)) {
                    let detail = format!("a complete call's argument {text:?} holds {marker:?}");
                    return Err(LawViolation::new(Law::CleanArguments, Cut::Whole, input, detail));
                }
            }
            RecordedEvent::CallEnd { .. } | RecordedEvent::Text { .. } => {}
        }
    }
    Ok(())
}

/// Returns a string of `value` with one of `markup` that `wire` does not quote.
fn unquoted<'m>(value: JsonValue, wire: &str, markup: &[&'m str]) -> Option<(String, &'m str)> {
    let mut values = vec![value];
    while let Some(value) = values.pop() {
        let texts = match value {
            JsonValue::String(text) => vec![text],
            JsonValue::Array(elements) => {
                values.extend(elements);
                continue;
            }
            JsonValue::Object(members) => {
                let (keys, inner): (Vec<_>, Vec<_>) = members.into_iter().unzip();
                values.extend(inner);
                keys
            }
            JsonValue::Null | JsonValue::Bool(_) | JsonValue::Number(_) => continue,
        };
        for text in texts {
            if let Some(marker) = markup.iter().find(|marker| is_bare(&text, marker, wire)) {
                return Some((text, marker));
            }
        }
    }
    None
}

/// Returns whether `text`, as it is written on `wire`, holds `marker` without a quote before it.
fn is_bare(text: &str, marker: &str, wire: &str) -> bool {
    let Some(at) = text.find(marker) else { return false };
    // Text that the wire escapes is written differently there.
    let Some(on_wire) = wire.find(&text[..at + marker.len()]) else { return false };
    let opened = |quote: &char| text[..at].matches(*quote).count() % 2 == 1;
    !QUOTES.iter().any(opened) && !wire[..on_wire].ends_with(QUOTES)
}
