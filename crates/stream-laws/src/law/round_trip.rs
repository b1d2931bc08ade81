//! L7: what an encoder wrote, the machine reads back.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    json,
    machine::{Machine, run},
    record::{COMPLETE, Event, Record},
    violation::{Law, Violation},
};

/// A call as it was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'c> {
    /// The function's name.
    pub name: &'c str,
    /// Its arguments, as JSON text; compared as a value.
    pub arguments: &'c str,
}

/// Checks L7: under every cut of `plan`, `wire` gives exactly `expected`, all complete.
///
/// # Errors
/// The first call that differs, is missing, is too many or did not complete.
pub fn check_round_trip<M: Machine>(
    machine: &M,
    wire: &str,
    expected: &[Call<'_>],
    plan: CutPlan,
) -> Result<(), Violation> {
    for cut in plan.text(wire) {
        let record = coalesced(Law::RoundTrip, cut, wire, &run(machine, wire, cut))?;
        let got = calls(&record);
        let broken = |detail| Violation::new(Law::RoundTrip, cut, wire, detail);
        for (index, (call, back)) in expected.iter().zip(&got).enumerate() {
            judge(call, back).map_err(|why| broken(format!("call {index}: {why}")))?;
        }
        if got.len() != expected.len() {
            let (sent, back) = (expected.len(), got.len());
            return Err(broken(format!("expected {sent} calls, got {back}: {got:?}")));
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Received {
    name: String,
    arguments: String,
    outcome: String,
}

fn calls(record: &Record) -> Vec<Received> {
    let mut calls: Vec<Received> = Vec::new();
    for event in &record.events {
        match event {
            Event::Text { .. } => {}
            Event::CallStart { name, .. } => {
                calls.push(Received { name: name.clone(), ..Received::default() });
            }
            Event::CallArguments { index, fragment } => {
                if let Some(call) = calls.get_mut(*index as usize) {
                    call.arguments.push_str(fragment);
                }
            }
            Event::CallEnd { index, outcome } => {
                if let Some(call) = calls.get_mut(*index as usize) {
                    call.outcome.clone_from(outcome);
                }
            }
        }
    }
    calls
}

fn judge(sent: &Call<'_>, back: &Received) -> Result<(), String> {
    let read = |json: &str| json::parse(json).map_err(|error| format!("{json:?}, {error}"));
    if back.outcome != COMPLETE {
        return Err(format!("expected it complete, got {:?}: {back:?}", back.outcome));
    }
    if back.name != sent.name {
        return Err(format!("expected the name {:?}, got {:?}", sent.name, back.name));
    }
    if read(&back.arguments)? != read(sent.arguments)? {
        let (sent, back) = (sent.arguments, &back.arguments);
        return Err(format!("expected the arguments {sent}, got {back}"));
    }
    Ok(())
}
