//! The law L3: text is held only if a continuation could change it.
//!
//! The check is brute force. After every prefix of the input, clones of the machine read the end of
//! the stream and each witness (a possible continuation). Text that comes next in *all* of these
//! runs was certain already, so it should have been emitted.

use super::coalesced;
use crate::{
    machine::StreamMachine,
    record::{RecordedEvent, RunRecord},
    violation::{Law, LawViolation},
};

/// Checks L3 after every scalar of `input`.
///
/// `witnesses` are continuations that may decide about held text: the suffixes of the markers (see
/// [`suffixes`]), a visible character, texts that commit a candidate, and texts that refute it. The
/// end of the stream is always tried. A missing witness can make the check too strict, but never
/// too lax.
///
/// Arguments held inside a call are not checked.
///
/// # Errors
/// Returns the first prefix after which text is held although it is certain.
pub fn check_prompt<M: StreamMachine>(
    machine: &M,
    input: &str,
    witnesses: &[impl AsRef<str>],
) -> Result<(), LawViolation> {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    let mut piece = [0; 4];
    for (at, scalar) in input.char_indices() {
        machine.push(scalar.encode_utf8(&mut piece), &mut out);
        let prefix = &input[..at + scalar.len_utf8()];
        let name = format!("prefix of {} bytes, one scalar at a time", prefix.len());
        let broken = |detail| LawViolation::new(Law::Prompt, &name, prefix, detail);

        let mut certain = future(&machine, "", prefix)?;
        // The rest of the input often shows why text was held, which saves trying the witnesses.
        let rest = std::iter::once(&input[prefix.len()..]);
        for witness in rest.chain(witnesses.iter().map(AsRef::as_ref)) {
            if text_in(&certain) == 0 {
                break;
            }
            let other = future(&machine, witness, prefix)?;
            certain = common(certain, &other);
        }
        let bytes = text_in(&certain);
        if bytes > 0 {
            let held = machine.held();
            return Err(broken(format!(
                "{bytes} bytes of text are held that come out whatever follows\n  \
                 certain: {certain:?}\n  held, as the machine tells: {held:?}"
            )));
        }
    }
    Ok(())
}

/// Returns every proper, non-empty suffix of every marker. A suffix may follow a held prefix.
#[must_use]
pub fn suffixes(markers: &[&str]) -> Vec<String> {
    markers
        .iter()
        .flat_map(|marker| marker.char_indices().skip(1).map(|(at, _)| marker[at..].to_owned()))
        .collect()
}

/// Returns the [`suffixes`] of the markers, each of the tails, and each suffix with each tail after
/// it.
#[must_use]
pub fn continuations(markers: &[&str], tails: &[&str]) -> Vec<String> {
    let suffixes = suffixes(markers);
    let joined = |tail: &&str| suffixes.iter().map(|suffix| suffix.clone() + tail).collect();
    let joined: Vec<Vec<String>> = tails.iter().map(joined).collect();
    let tails = tails.iter().map(ToString::to_string);
    suffixes.into_iter().chain(tails).chain(joined.into_iter().flatten()).collect()
}

/// Returns the events that follow if the stream continues with `continuation` and ends.
fn future<M: StreamMachine>(
    machine: &M,
    continuation: &str,
    prefix: &str,
) -> Result<Vec<RecordedEvent>, LawViolation> {
    let (mut fork, mut out) = (machine.clone(), RunRecord::default());
    fork.push(continuation, &mut out);
    fork.finish(&mut out);
    let name = format!("prefix, then {continuation:?}");
    Ok(coalesced(Law::Prompt, name, prefix, &out)?.events)
}

/// Returns the events both futures begin with, the last one possibly a part of both.
fn common(mut one: Vec<RecordedEvent>, other: &[RecordedEvent]) -> Vec<RecordedEvent> {
    let same = one.iter().zip(other).take_while(|(left, right)| left == right).count();
    let part = match (one.get(same), other.get(same)) {
        (
            Some(RecordedEvent::Text { channel, text }),
            Some(RecordedEvent::Text { channel: same_channel, text: other_text }),
        ) if channel == same_channel => {
            let scalars = text.chars().zip(other_text.chars());
            let text: String = scalars.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
            (!text.is_empty()).then_some(RecordedEvent::Text { channel: *channel, text })
        }
        _ => None,
    };
    one.truncate(same);
    one.extend(part);
    one
}

fn text_in(events: &[RecordedEvent]) -> usize {
    let bytes = |event: &RecordedEvent| {
        if let RecordedEvent::Text { text, .. } = event { text.len() } else { 0 }
    };
    events.iter().map(bytes).sum()
}
