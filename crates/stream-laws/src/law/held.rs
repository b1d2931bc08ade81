//! The law L11: a machine holds the bytes that it reports as held.

use crate::{
    machine::{HeldBytes, HeldReason, StreamMachine},
    record::{RecordedEvent, RunRecord},
    violation::{Law, LawViolation},
};

/// The relation of emitted text to the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// Text is emitted byte for byte as it is on the wire.
    WireBytes,
    /// Text is decoded. Only the independence of cuts is checked.
    Decoded,
}

/// Checks L11 after every scalar of `input`:
///
/// - `held` is the same for a machine that received the text scalar by scalar and for one that
///   received it at once.
/// - The bytes held are the input bytes that are neither emitted nor accounted for. An end of the
///   stream at this place would emit or account for exactly these bytes, even inside a call.
/// - The next scalar, or the end, emits no more bytes than were held before or arrived since. This
///   includes the arguments of calls.
///
/// # Errors
/// Returns the first prefix of the input after which one of these is violated.
pub fn check_held<M: StreamMachine>(
    machine: &M,
    input: &str,
    unit: TextForm,
) -> Result<(), LawViolation> {
    let (mut growing, mut out) = (machine.clone(), RunRecord::default());
    let mut piece = [0; 4];
    let mut before = 0;
    for (at, scalar) in input.char_indices() {
        let known = out.events.len();
        growing.push(scalar.encode_utf8(&mut piece), &mut out);
        let prefix = &input[..at + scalar.len_utf8()];
        let held = growing.held();

        let mut fresh = machine.clone();
        fresh.push(prefix, &mut RunRecord::default());
        let (mut ended, mut end) = (growing.clone(), RunRecord::default());
        ended.finish(&mut end);

        let new = written(&out.events[known..], prefix);
        let had = before + scalar.len_utf8();
        let wrong = (fresh.held() != held)
            .then(|| format!("{held:?} after single scalars, {:?} at once", fresh.held()))
            .or_else(|| match unit {
                TextForm::WireBytes => {
                    contradiction(held, (had, new), &Prefix { text: prefix, out: &out, end: &end })
                }
                TextForm::Decoded => None,
            });
        if let Some(detail) = wrong {
            let name = format!("prefix of {} bytes", prefix.len());
            return Err(LawViolation::new(Law::Held, name, prefix, detail));
        }
        before = held.bytes;
    }
    Ok(())
}

/// A prefix of the input, with the records before and at its end.
struct Prefix<'r> {
    text: &'r str,
    out: &'r RunRecord,
    end: &'r RunRecord,
}

/// Returns the reason why `held` is wrong, if it is. `had` bytes were held or arrived, and `new` of
/// them were emitted.
fn contradiction(
    held: HeldBytes,
    (had, new): (usize, usize),
    prefix: &Prefix<'_>,
) -> Option<String> {
    let Prefix { text: prefix, out, end } = *prefix;
    let received = prefix.len();
    let (at_end, left) = (decided(end), received.saturating_sub(decided(out)));
    let last = written(&end.events, prefix);
    Some(match held.bytes {
        bytes if (held.kind == HeldReason::None) != (bytes == 0) => {
            format!("{held:?}: bytes without a reason, or a reason without bytes")
        }
        bytes if at_end != bytes => format!("{held:?}, but the end emits or drops {at_end} bytes"),
        bytes if left != bytes => {
            format!(
                "{held:?}, but {left} of {received} bytes are neither emitted nor accounted for"
            )
        }
        bytes if new + bytes > had => {
            format!("{held:?}, but {new} bytes came out of {had} that were held or came in")
        }
        bytes if last > bytes => format!("{held:?}, but the end brings {:?}", end.events),
        _ => return None,
    })
}

/// Returns the minimum number of input bytes that events show: all of their text, and those words
/// of arguments that are in the input.
fn written(events: &[RecordedEvent], input: &str) -> usize {
    let bytes = |event: &RecordedEvent| match event {
        RecordedEvent::Text { text, .. } => text.len(),
        RecordedEvent::CallArguments { fragment, .. } => words(fragment, input),
        _ => 0,
    };
    events.iter().map(bytes).sum()
}

/// Returns the number of letters in words of `json` that are in `input`. Escapes do not count.
fn words(json: &str, input: &str) -> usize {
    let (mut plain, mut chars) = (String::new(), json.chars());
    while let Some(char) = chars.next() {
        let escape = char == '\\';
        if escape && chars.next() == Some('u') {
            let _ = chars.nth(3);
        }
        plain.push(if escape { ' ' } else { char });
    }
    let words = plain.split(|char: char| !char.is_ascii_alphabetic());
    words.filter(|word| input.contains(word)).map(str::len).sum()
}

/// Returns the number of input bytes that a record has decided: emitted text and accounted spans.
fn decided(record: &RunRecord) -> usize {
    let text: usize = record.texts().map(|(_, text)| text.len()).sum();
    text + record.spans.iter().map(|span| span.len as usize).sum::<usize>()
}
