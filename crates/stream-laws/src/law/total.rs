//! The law L6: no input makes a machine panic, or emit events in an invalid order.

use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::coalesced;
use crate::{
    cuts::{Cut, CutPlan},
    json,
    machine::{ByteMachine, StreamMachine, run, run_bytes},
    record::{RecordedEvent, RunRecord, is_complete},
    violation::{Law, LawViolation},
};

/// Checks L6 for text under every cut of `plan`.
///
/// # Errors
/// Returns a panic, or what [`check_grammar`] finds.
pub fn check_total<M: StreamMachine>(
    machine: &M,
    input: &str,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    plan.text(input).try_for_each(|cut| check(input, cut, || run(machine, input, cut)))
}

/// Checks L6 for arbitrary bytes under every cut of `plan`.
///
/// # Errors
/// Returns a panic, or what [`check_grammar`] finds.
pub fn check_total_bytes<M: ByteMachine>(
    machine: &M,
    input: &[u8],
    plan: CutPlan,
) -> Result<(), LawViolation> {
    plan.bytes(input).try_for_each(|cut| check(input, cut, || run_bytes(machine, input, cut)))
}

fn check(
    input: impl AsRef<[u8]>,
    cut: Cut,
    run: impl FnOnce() -> RunRecord,
) -> Result<(), LawViolation> {
    // A machine that panicked is dropped, so that its invalid state is not used.
    let record = catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        let message = message.unwrap_or("without a message");
        LawViolation::new(Law::Total, cut, &input, format!("panicked: {message}"))
    })?;
    let record = coalesced(Law::Total, cut, &input, &record)?;
    check_grammar(&record.events)
        .map_err(|detail| LawViolation::new(Law::Total, cut, &input, detail))
}

/// Checks that the events of a finished stream are well formed.
///
/// - Calls are numbered from 0 and have names and distinct ids.
/// - Each call starts before its arguments and ends once.
/// - The arguments of a complete call are a JSON object.
///
/// # Errors
/// Returns the first event that breaks a rule, or a call that never ended.
pub fn check_grammar(events: &[RecordedEvent]) -> Result<(), String> {
    let mut ids = HashSet::new();
    let mut calls: Vec<Option<String>> = Vec::new();
    for event in events {
        let open = |calls: &mut Vec<Option<String>>, index: u32| match calls.get_mut(index as usize)
        {
            Some(call @ Some(_)) => Ok(call.take().unwrap_or_default()),
            Some(None) => Err(format!("{event:?} after the end of call {index}")),
            None => Err(format!("{event:?} before the start of call {index}")),
        };
        match event {
            RecordedEvent::Text { .. } => {}
            RecordedEvent::CallStart { index, id, name } => {
                if *index as usize != calls.len() {
                    return Err(format!("{event:?}: expected index {}", calls.len()));
                }
                if name.is_empty() || id.is_empty() {
                    return Err(format!("{event:?}: expected an id and a name"));
                }
                if !ids.insert(id.as_str()) {
                    return Err(format!("{event:?}: another call has this id"));
                }
                calls.push(Some(String::new()));
            }
            RecordedEvent::CallArguments { index, fragment } => {
                let arguments = open(&mut calls, *index)? + fragment;
                calls[*index as usize] = Some(arguments);
            }
            RecordedEvent::CallEnd { index, outcome } => {
                let arguments = open(&mut calls, *index)?;
                if is_complete(outcome) {
                    json::parse_object(&arguments).map_err(|error| {
                        format!("call {index} is {outcome} with arguments {arguments:?}: {error}")
                    })?;
                }
            }
        }
    }
    match calls.iter().position(Option::is_some) {
        Some(index) => Err(format!("call {index} never ended")),
        None => Ok(()),
    }
}
