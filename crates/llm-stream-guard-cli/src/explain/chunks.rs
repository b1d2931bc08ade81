//! Lines that describe the effect of each chunk.

use llm_stream_guard::explain::{Happening, RecordedNote, Step};

use super::words::{bytes, count, visible};

/// Returns the lines for a group of neighbouring chunks, at most one of which has events.
pub(super) fn told(group: &[Step], wire: &str) -> Vec<String> {
    let sum = |part: fn(&Step) -> usize| group.iter().map(part).sum::<usize>();
    let mut lines = Vec::new();
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return lines };
    let (from, to) = (first.at, last.at.saturating_add(last.len));
    let mut passed: Vec<String> = Vec::new();
    for (what, len) in [
        ("of the answer", sum(|step| step.content)),
        ("of reasoning", sum(|step| step.reasoning)),
        ("of other channels", sum(|step| step.other)),
        ("of arguments", sum(|step| step.arguments)),
    ] {
        if len > 0 {
            passed.push(format!("{} {what}", bytes(len)));
        }
    }
    let text = visible(&wire[from..to]);
    let text = match text.char_indices().nth(40) {
        Some((end, _)) => format!("\"{}...\"", &text[..end]),
        None => format!("\"{text}\""),
    };
    let came = first.end.map_or(text, |end| format!("the stream ended ({end})"));
    let out = match &passed[..] {
        [] if first.end.is_some() => String::new(),
        [] => " -> nothing yet".to_owned(),
        passed => format!(" -> {}", passed.join(", ")),
    };
    lines.push(came + &out);
    lines.extend(group.iter().flat_map(|step| &step.events).map(happening));
    if let Some(delay) = last.delay {
        let ms = delay.ms.map_or_else(String::new, |ms| format!(", {ms:.0} ms"));
        let (chunks, waited) = (count(delay.chunks, "chunk"), bytes(delay.bytes));
        lines.push(format!("- waited: {chunks}, {waited}{ms}"));
    }
    if let Some(held) = &last.held {
        lines.push(format!("- held: {} ({}): {}", bytes(held.bytes), held.kind, held.why));
    }
    lines
}

fn happening(event: &Happening) -> String {
    match event {
        Happening::Marker { at, marker, does, .. } => {
            format!("- marker `{}` at byte {at} {does}", visible(marker))
        }
        Happening::Opener { at, marker, templates, .. } => {
            let shown: Vec<String> =
                templates.iter().map(|text| format!("`{}`", visible(text))).collect();
            let of = if shown.is_empty() { String::new() } else { " of ".to_owned() };
            let (marker, shown) = (visible(marker), shown.join(" or "));
            format!("- opener `{marker}`{of}{shown} at byte {at}: what follows decides")
        }
        Happening::Refuted { at, marker, .. } => {
            format!("- `{}` at byte {at} opens no call after all: text", visible(marker))
        }
        Happening::Empty { at, marker, .. } => {
            format!("- `{}` at byte {at} opened a block without a call: markup", visible(marker))
        }
        Happening::Committed { at, len } => {
            format!("- certain: a call or its markup, from byte {at} on, after {len} bytes")
        }
        Happening::CallStarted { index, name, .. } => format!("- call {index} `{name}` begins"),
        Happening::CallEnded { index, outcome } => format!("- call {index} ends: {outcome}"),
        Happening::Framing { at, len } => {
            format!("- {len} bytes of whitespace around markup at byte {at} are removed")
        }
        Happening::Dropped { at, len } => format!("- {len} bytes at byte {at} are dropped"),
        Happening::Diagnosed { kind, at, says, .. } => format!("- {kind} at byte {at}: {says}"),
        Happening::Noted { note } => format!("- {}", noted(note)),
        Happening::Stopped { limit } => format!("- a limit ended the message: {limit}"),
        _ => "- something this version has no words for".to_owned(),
    }
}

fn noted(note: &RecordedNote) -> String {
    match note {
        RecordedNote::Usage => "the server sent token usage".to_owned(),
        RecordedNote::Finish { reason } => format!("the server sent finish reason `{reason}`"),
        RecordedNote::Error { message } => format!("the server reported: {message}"),
        RecordedNote::Native { field } => format!("the server sent `{field}` of its own"),
        _ => "the server sent something else".to_owned(),
    }
}
