//! The law L9: machines that run side by side do not influence each other.

use super::coalesced;
use crate::{
    cuts::Cut,
    machine::{StreamMachine, run},
    random::Random,
    record::RunRecord,
    violation::{Law, LawViolation, difference},
};

/// The number of random schedules.
const SCHEDULES: u64 = 8;

/// Checks L9: copies of `machine`, one for each of `inputs`, are fed in a random order of turns.
/// Each gives the record that its input has alone.
///
/// # Errors
/// Returns the first input whose record differs.
pub fn check_isolation<M: StreamMachine>(
    machine: &M,
    inputs: &[&str],
    seed: u64,
) -> Result<(), LawViolation> {
    let alone: Vec<RunRecord> =
        inputs.iter().map(|input| run(machine, input, Cut::Whole)).collect();
    for round in 0..SCHEDULES {
        let seed = seed.wrapping_add(round);
        for (number, together) in interleaved(machine, inputs, seed).iter().enumerate() {
            let name = format!("input {number} of {}, schedule {seed:#x}", inputs.len());
            let input = inputs[number];
            let expected = coalesced(Law::Isolation, &name, input, &alone[number])?;
            let got = coalesced(Law::Isolation, &name, input, together)?;
            if let Some(detail) = difference(&expected, &got) {
                return Err(LawViolation::new(Law::Isolation, name, input, detail));
            }
        }
    }
    Ok(())
}

fn interleaved<M: StreamMachine>(machine: &M, inputs: &[&str], seed: u64) -> Vec<RunRecord> {
    let mut random = Random::new(seed);
    let mut records = vec![RunRecord::default(); inputs.len()];
    let mut running: Vec<_> = inputs
        .iter()
        .enumerate()
        .map(|(number, input)| {
            let pieces = Cut::Random { seed: random.next() }.pieces(input);
            (number, machine.clone(), pieces)
        })
        .collect();
    while !running.is_empty() {
        let turn = random.below(running.len());
        let (number, machine, pieces) = &mut running[turn];
        if let Some(piece) = pieces.next() {
            machine.push(piece, &mut records[*number]);
        } else {
            machine.finish(&mut records[*number]);
            drop(running.swap_remove(turn));
        }
    }
    records
}
