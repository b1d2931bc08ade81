//! L3: what is held must have a reason.
//!
//! The oracle is brute force: after every prefix the machine is forked, once for the end of the
//! stream and once for each witness. Text that comes next in *all* futures was certain already,
//! so it should have been out. What the machine says of itself is checked against the record.

use super::coalesced;
use crate::{
    machine::{Held, HeldKind, Machine},
    record::{Event, Record},
    violation::{Law, Violation},
};

/// Checks L3 after every scalar of `input`.
///
/// `witnesses` are continuations that may turn held text into something else: the suffixes of
/// the markers (see [`suffixes`]), a visible character, a candidate's commitment and its
/// refutation. The end of the stream is always among them. A missing witness can make the
/// check too strict, never too lax.
///
/// Arguments held inside a call are the engine's business and not judged.
///
/// # Errors
/// A prefix after which text is held whose fate is certain, or of which [`Machine::held`] tells
/// something the record contradicts.
pub fn check_prompt<M: Machine>(
    machine: &M,
    input: &str,
    witnesses: &[impl AsRef<str>],
) -> Result<(), Violation> {
    let (mut machine, mut out) = (machine.clone(), Record::default());
    let mut piece = [0; 4];
    for (at, scalar) in input.char_indices() {
        machine.push(scalar.encode_utf8(&mut piece), &mut out);
        let prefix = &input[..at + scalar.len_utf8()];
        let name = format!("prefix of {} bytes, one scalar at a time", prefix.len());
        let broken = |detail| Violation::new(Law::Prompt, &name, prefix, detail);

        contradiction(machine.held(), &out, prefix.len()).map_or(Ok(()), |it| Err(broken(it)))?;

        let mut certain = future(&machine, "", prefix)?;
        for witness in witnesses {
            if text_in(&certain) == 0 {
                break;
            }
            let other = future(&machine, witness.as_ref(), prefix)?;
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

/// Every proper, non-empty suffix of every marker: what may follow a held prefix of it.
#[must_use]
pub fn suffixes(markers: &[&str]) -> Vec<String> {
    markers
        .iter()
        .flat_map(|marker| marker.char_indices().skip(1).map(|(at, _)| marker[at..].to_owned()))
        .collect()
}

/// What follows if the stream goes on with `continuation` and ends.
fn future<M: Machine>(
    machine: &M,
    continuation: &str,
    prefix: &str,
) -> Result<Vec<Event>, Violation> {
    let (mut fork, mut out) = (machine.clone(), Record::default());
    fork.push(continuation, &mut out);
    fork.finish(&mut out);
    let name = format!("prefix, then {continuation:?}");
    Ok(coalesced(Law::Prompt, name, prefix, &out)?.events)
}

/// The events both futures begin with, the last one possibly a part of both.
fn common(mut one: Vec<Event>, other: &[Event]) -> Vec<Event> {
    let same = one.iter().zip(other).take_while(|(left, right)| left == right).count();
    let part = match (one.get(same), other.get(same)) {
        (
            Some(Event::Text { channel, text }),
            Some(Event::Text { channel: same_channel, text: other_text }),
        ) if channel == same_channel => {
            let scalars = text.chars().zip(other_text.chars());
            let text: String = scalars.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
            (!text.is_empty()).then_some(Event::Text { channel: *channel, text })
        }
        _ => None,
    };
    one.truncate(same);
    one.extend(part);
    one
}

fn text_in(events: &[Event]) -> usize {
    let bytes = |event: &Event| if let Event::Text { text, .. } = event { text.len() } else { 0 };
    events.iter().map(bytes).sum()
}

/// What the record says against `held`, where the record suffices to tell.
fn contradiction(held: Held, out: &Record, received: usize) -> Option<String> {
    if (held.kind == HeldKind::None) != (held.bytes == 0) {
        return Some(format!("{held:?}: bytes without a reason, or a reason without bytes"));
    }
    if held.bytes > received {
        return Some(format!("{held:?}, of {received} bytes received"));
    }
    let (mut open, mut calls) = (0_u32, 0_u32);
    for event in &out.events {
        match event {
            Event::CallStart { .. } => (open, calls) = (open + 1, calls + 1),
            Event::CallEnd { .. } => open = open.saturating_sub(1),
            Event::Text { .. } | Event::CallArguments { .. } => {}
        }
    }
    let after_call = matches!(out.events.last(), Some(Event::CallEnd { .. }));
    let countable = match held.kind {
        // Directly after a call its closer may still be on the way, and its span with it.
        HeldKind::Marker | HeldKind::Whitespace => open == 0 && !after_call,
        // After calls and mishaps, markup may be consumed piecemeal and accounted for later.
        HeldKind::None => calls == 0 && out.diagnostics.is_empty(),
        HeldKind::Candidate | HeldKind::Call | HeldKind::Utf8 => false,
    };
    let accounted: u64 = out.spans.iter().map(|span| span.len).sum();
    let done = text_in(&out.events) + accounted as usize;
    (countable && done + held.bytes != received).then(|| {
        format!("{held:?}, but of {received} bytes received {done} are emitted or accounted for")
    })
}
