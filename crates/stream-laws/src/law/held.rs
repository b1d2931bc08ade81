//! L11: what a machine says it holds is what it holds.

use crate::{
    machine::{HeldBytes, HeldReason, StreamMachine},
    record::{RecordedEvent, RunRecord},
    violation::{Law, LawViolation},
};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// Text comes out byte for byte as it came in.
    WireBytes,
    /// Text comes out decoded: only that cuts do not matter is checked.
    Decoded,
}

/// Checks L11 after every scalar of `input`:
///
/// - `held` is the same for a machine that got the text scalar by scalar and for a fresh one that
///   got it at once;
/// - the bytes held are those that neither are out nor accounted for, and those that the end of the
///   stream, coming now, emits as text or accounts for, also inside a call;
/// - what comes out, a call's arguments included, was held before or came in since: with one scalar
///   more, and with the end.
///
/// # Errors
/// The first prefix after which that is not so.
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
            .then(|| format!("{held:?} behind single scalars, {:?} at once", fresh.held()))
            .or_else(|| match unit {
                TextForm::WireBytes => contradiction(held, (had, new), &end, prefix, &out),
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

/// What speaks against it that `held` is held, where of `had` bytes so many came out as `new`.
fn contradiction(
    held: HeldBytes,
    (had, new): (usize, usize),
    end: &RunRecord,
    prefix: &str,
    out: &RunRecord,
) -> Option<String> {
    let received = prefix.len();
    let (at_end, left) = (decided(end), received.saturating_sub(decided(out)));
    let last = written(&end.events, prefix);
    Some(match held.bytes {
        bytes if (held.kind == HeldReason::None) != (bytes == 0) => {
            format!("{held:?}: bytes without a reason, or a reason without bytes")
        }
        bytes if at_end != bytes => format!("{held:?}, but the end emits or drops {at_end} bytes"),
        bytes if left != bytes => {
            format!("{held:?}, but {left} of {received} bytes are neither out nor accounted for")
        }
        bytes if new + bytes > had => {
            format!("{held:?}, but {new} bytes came out of {had} that were held or came in")
        }
        bytes if last > bytes => format!("{held:?}, but the end brings {:?}", end.events),
        _ => return None,
    })
}

/// Bytes of the input that events show at least: all of their text, and of arguments the words that
/// are in the input.
fn written(events: &[RecordedEvent], input: &str) -> usize {
    let bytes = |event: &RecordedEvent| match event {
        RecordedEvent::Text { text, .. } => text.len(),
        RecordedEvent::CallArguments { fragment, .. } => words(fragment, input),
        _ => 0,
    };
    events.iter().map(bytes).sum()
}

/// The letters of the words of `json` that are in `input`, escapes aside.
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

/// Bytes of the input that a record decides: text that is out, and the account.
fn decided(record: &RunRecord) -> usize {
    let text: usize = record.texts().map(|(_, text)| text.len()).sum();
    text + record.spans.iter().map(|span| span.len as usize).sum::<usize>()
}
