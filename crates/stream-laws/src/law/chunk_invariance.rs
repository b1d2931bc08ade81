//! The law L1: events, diagnostics and spans are the same for every cut, after a reset, and for a
//! fork (a clone made in the middle of a stream).

use super::coalesced;
use crate::{
    cuts::{Cut, CutPlan},
    machine::{ByteMachine, StreamMachine, push_all, run, run_bytes},
    record::RunRecord,
    violation::{Law, LawViolation, difference},
};

/// The maximum number of places in an input at which a machine is forked and reset. Each costs two
/// runs.
const FORKS: usize = 256;

/// Checks L1 for text: every cut of `plan`, then reset and fork at the places where it cuts.
///
/// # Errors
/// Returns the first cut whose coalesced record differs from that of the whole input.
pub fn check_chunk_invariance<M: StreamMachine>(
    machine: &M,
    input: &str,
    plan: CutPlan,
) -> Result<(), LawViolation> {
    let law = Law::ChunkInvariance;
    let whole = coalesced(law, Cut::Whole, input, &run(machine, input, Cut::Whole))?;
    let compare = |name: String, got: &RunRecord| match difference(
        &whole,
        &coalesced(law, &name, input, got)?,
    ) {
        Some(detail) => Err(LawViolation::new(law, &name, input, detail)),
        None => Ok(()),
    };

    for cut in plan.text(input) {
        compare(cut.to_string(), &run(machine, input, cut))?;
    }
    for at in fork_points(input, plan) {
        compare(format!("reset after {at} bytes"), &after_reset(machine, input, at))?;
        let (original, fork) = forked(machine, input, at);
        compare(format!("fork at {at}"), &fork)?;
        compare(format!("original, after its fork at {at} went elsewhere"), &original)?;
    }
    Ok(())
}

/// Checks L1 for bytes, with cuts inside scalars. For text, the record must equal that of
/// [`StreamMachine::push`].
///
/// # Errors
/// Returns the first cut whose coalesced record differs from that of the whole input.
pub fn check_byte_chunk_invariance<M: ByteMachine>(
    machine: &M,
    input: &[u8],
    plan: CutPlan,
) -> Result<(), LawViolation> {
    let law = Law::ChunkInvariance;
    let expected = match core::str::from_utf8(input) {
        Ok(text) => run(machine, text, Cut::Whole),
        Err(_) => run_bytes(machine, input, Cut::Whole),
    };
    let expected = coalesced(law, Cut::Whole, input, &expected)?;
    for cut in plan.bytes(input) {
        let name = format!("bytes, {cut}");
        let got = coalesced(law, &name, input, &run_bytes(machine, input, cut))?;
        if let Some(detail) = difference(&expected, &got) {
            return Err(LawViolation::new(law, name, input, detail));
        }
    }
    Ok(())
}

fn fork_points(input: &str, plan: CutPlan) -> impl Iterator<Item = usize> {
    let limit = if input.len() <= plan.two_way_up_to { input.len() + 1 } else { 0 };
    let stride = input.len() / FORKS + 1;
    (0..limit).step_by(stride).filter(|&at| input.is_char_boundary(at))
}

/// Abandons the stream at `at` (or, at the end, finishes it) and starts over.
fn after_reset<M: StreamMachine>(machine: &M, input: &str, at: usize) -> RunRecord {
    let (mut machine, mut out) = (machine.clone(), RunRecord::default());
    machine.push(&input[..at], &mut out);
    if at == input.len() {
        machine.finish(&mut out);
    }
    machine.reset();
    out.clear();
    push_all(&mut machine, input, Cut::Whole, &mut out);
    machine.finish(&mut out);
    out
}

/// Returns the records of a machine and of its copy, the copy made and finished at `at`.
fn forked<M: StreamMachine>(machine: &M, input: &str, at: usize) -> (RunRecord, RunRecord) {
    let (mut original, mut out) = (machine.clone(), RunRecord::default());
    original.push(&input[..at], &mut out);

    let (mut fork, mut fork_out) = (original.clone(), out.clone());
    fork.push(&input[at..], &mut fork_out);
    fork.finish(&mut fork_out);

    // A second copy reads other text, which must not affect the original.
    let mut astray = original.clone();
    astray.push("\u{1F980} elsewhere <", &mut RunRecord::default());
    astray.push(input, &mut RunRecord::default());
    astray.finish(&mut RunRecord::default());

    original.push(&input[at..], &mut out);
    original.finish(&mut out);
    (out, fork_out)
}
