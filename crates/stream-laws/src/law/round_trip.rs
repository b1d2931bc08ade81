//! The law L7: a machine reads the calls that an encoder wrote.

use super::coalesced;
use crate::{
    cuts::CutPlan,
    json,
    machine::{StreamMachine, run},
    record::{COMPLETE, RecordedCall},
    violation::{Law, LawViolation},
};

/// A call that was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedCall<'c> {
    /// The name of the function.
    pub name: &'c str,
    /// The arguments as JSON text, compared as a value.
    pub arguments: &'c str,
}

/// Checks L7: under every cut of `plan`, `wire` gives exactly `expected`, all complete.
///
/// # Errors
/// Returns the first call that differs, is missing, is unexpected or did not complete.
pub fn check_round_trip<M: StreamMachine>(
    machine: &M,
    wire: &str,
    expected: &[EncodedCall<'_>],
    plan: CutPlan,
) -> Result<(), LawViolation> {
    for cut in plan.text(wire) {
        let record = coalesced(Law::RoundTrip, cut, wire, &run(machine, wire, cut))?;
        let broken = |detail| LawViolation::new(Law::RoundTrip, cut, wire, detail);
        let got = record.calls().map_err(|event| broken(format!("no call began for {event:?}")))?;
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

fn judge(sent: &EncodedCall<'_>, back: &RecordedCall) -> Result<(), String> {
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
