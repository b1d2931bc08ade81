//! The law L10: a call that is delivered at once equals the call that is delivered in parts.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    machine::{StreamMachine, run},
    record::{RecordedEvent, RunRecord, unplaced},
    violation::{Law, LawViolation, first_difference},
};

/// Checks L10 under every cut of `plan`. With the events of each call merged, the two machines give
/// the same texts, calls and diagnostics. `atomic` delivers each call at once.
///
/// # Errors
/// Returns the first difference, or a call that `atomic` delivered in parts.
pub fn check_delivery<A: StreamMachine, S: StreamMachine>(
    atomic: &A,
    streaming: &S,
    input: &str,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    for cut in plan.text(input) {
        let broken = |detail| LawViolation::new(Law::Delivery, cut, input, detail);
        let at_once = run(atomic, input, cut);
        if let Some(event) = first_in_parts(&at_once.events) {
            return Err(broken(format!("{event:?} is not delivered with the rest of its call")));
        }
        let at_once = coalesced(Law::Delivery, cut, input, &at_once)?;
        let as_it_came = coalesced(Law::Delivery, cut, input, &run(streaming, input, cut))?;
        let (left, right) = (per_call(&at_once.events), per_call(&as_it_came.events));
        let expected = left.map_err(broken)?;
        let got = right.map_err(broken)?;
        // Delivery changes the places of diagnostics among the events of calls.
        let (notes, others) = (unplaced(at_once.diagnostics), unplaced(as_it_came.diagnostics));
        if let Some(detail) = first_difference("event", &expected, &got)
            .or_else(|| first_difference("diagnostic", &notes, &others))
        {
            return Err(broken(format!("streaming is not atomic: {detail}")));
        }
    }
    Ok(())
}

/// Returns the first event of a call that does not directly follow the call's previous event.
fn first_in_parts(events: &[RecordedEvent]) -> Option<&RecordedEvent> {
    let mut before: Option<&RecordedEvent> = None;
    for event in events {
        let together = match (before, event) {
            (
                Some(RecordedEvent::CallStart { index, .. }),
                RecordedEvent::CallArguments { index: same, .. },
            )
            | (
                Some(
                    RecordedEvent::CallStart { index, .. }
                    | RecordedEvent::CallArguments { index, .. },
                ),
                RecordedEvent::CallEnd { index: same, .. },
            ) => index == same,
            (_, RecordedEvent::CallArguments { .. } | RecordedEvent::CallEnd { .. }) => false,
            (Some(RecordedEvent::CallStart { .. } | RecordedEvent::CallArguments { .. }), _) => {
                false
            }
            _ => true,
        };
        if !together {
            return Some(event);
        }
        before = Some(event);
    }
    None
}

/// Moves the events of each call to its end and merges neighbours.
fn per_call(events: &[RecordedEvent]) -> Result<Vec<RecordedEvent>, String> {
    let mut open: Vec<(u32, Vec<RecordedEvent>)> = Vec::new();
    let mut moved = RunRecord::default();
    for event in events.iter().cloned() {
        let find = |open: &Vec<(u32, Vec<RecordedEvent>)>, wanted: u32| {
            let place = open.iter().position(|(index, _)| *index == wanted);
            place.ok_or_else(|| format!("call {wanted} is not open"))
        };
        match event {
            RecordedEvent::Text { .. } => moved.events.push(event),
            RecordedEvent::CallStart { index, .. } => open.push((index, vec![event])),
            RecordedEvent::CallArguments { index, .. } => {
                let place = find(&open, index)?;
                open[place].1.push(event);
            }
            RecordedEvent::CallEnd { index, .. } => {
                let place = find(&open, index)?;
                moved.events.append(&mut open.remove(place).1);
                moved.events.push(event);
            }
        }
    }
    if let Some((index, _)) = open.first() {
        return Err(format!("call {index} never ended"));
    }
    Ok(moved.coalesced().map_err(|empty| empty.to_string())?.events)
}
