//! L11: what a machine says it holds is what it holds.

use crate::{
    machine::{Held, HeldKind, Machine},
    record::{Event, Record, SpanKind},
    violation::{Law, Violation},
};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Text comes out byte for byte as it came in.
    WireBytes,
    /// Text comes out decoded: only that cuts do not matter is checked.
    Decoded,
}

/// Checks L11 after every scalar of `input`:
///
/// - `held` is the same for a machine that got the text scalar by scalar and for a fresh one that
///   got it at once;
/// - if no call is open, the bytes held are those that the end of the stream, coming now, emits as
///   text or accounts for;
/// - if one is open, it holds at least those, and no more than text and account leave open beside
///   the bytes that are the call's; and where it holds nothing, the end of the stream at most
///   closes the call's arguments.
///
/// # Errors
/// The first prefix after which that is not so.
pub fn check_held<M: Machine>(machine: &M, input: &str, unit: Unit) -> Result<(), Violation> {
    let (mut growing, mut out) = (machine.clone(), Record::default());
    let mut piece = [0; 4];
    for (at, scalar) in input.char_indices() {
        growing.push(scalar.encode_utf8(&mut piece), &mut out);
        let prefix = &input[..at + scalar.len_utf8()];
        let held = growing.held();

        let mut fresh = machine.clone();
        fresh.push(prefix, &mut Record::default());
        let (mut ended, mut end) = (growing.clone(), Record::default());
        ended.finish(&mut end);

        let wrong = (fresh.held() != held)
            .then(|| format!("{held:?} behind single scalars, {:?} at once", fresh.held()))
            .or_else(|| match unit {
                Unit::WireBytes => contradiction(held, &out, &end, prefix.len()),
                Unit::Decoded => None,
            });
        if let Some(detail) = wrong {
            let name = format!("prefix of {} bytes", prefix.len());
            return Err(Violation::new(Law::Held, name, prefix, detail));
        }
    }
    Ok(())
}

fn contradiction(held: Held, out: &Record, end: &Record, received: usize) -> Option<String> {
    if (held.kind == HeldKind::None) != (held.bytes == 0) {
        return Some(format!("{held:?}: bytes without a reason, or a reason without bytes"));
    }
    let at_end = decided(end);
    let open = out.open_calls() > 0;
    if if open { at_end > held.bytes } else { at_end != held.bytes } {
        return Some(format!("{held:?}, but the end emits or drops {at_end} bytes"));
    }
    let calls = out.spans.iter().filter(|span| span.kind == SpanKind::Call);
    let calls: u64 = if open { calls.map(|span| span.len).sum() } else { 0 };
    let left = received.saturating_sub(decided(out));
    if !(left..=left + calls as usize).contains(&held.bytes) {
        return Some(format!(
            "{held:?}, but {left} of {received} bytes are neither out nor accounted for"
        ));
    }
    // What closes the arguments of a call that the end completes was not held.
    let grows = end.events.iter().any(|event| match event {
        Event::CallArguments { fragment, .. } => !fragment.chars().all(|c| "\"}]".contains(c)),
        _ => false,
    });
    (held.bytes == 0 && grows).then(|| format!("{held:?}, but the end brings {:?}", end.events))
}

/// Bytes of the input that a record decides: text that is out, and the account.
fn decided(record: &Record) -> usize {
    let text: usize = record.texts().map(|(_, text)| text.len()).sum();
    text + record.spans.iter().map(|span| span.len as usize).sum::<usize>()
}
