//! The laws under options picked at random, and memory as the allocator sees it.

use guard_laws::{GuardMachine, reasoning_options, varied};
use llm_stream_guard::{
    CallOptions, End, Event, Guard, LimitPolicy, Limits, ReasoningLimit, Tools, profile,
};
use serde_json::json;
use stream_laws::{CutPlan, LawViolation, Random, check_chunk_invariance, check_total};

use crate::laws::inputs::{Inputs, of_shard};

/// Some tools that the profile's vectors call.
fn tools(inputs: &Inputs) -> Tools {
    let names = inputs.cases.iter().flat_map(|case| &case.expect.calls).map(|call| &call.name);
    let mut names: Vec<String> = names.take(2).cloned().collect();
    names.dedup();
    Tools::new(names.into_iter().map(|name| (name, json!({"type": "object"}))))
}

fn whatever_is_set(inputs: &Inputs) -> Result<(), LawViolation> {
    let tools = tools(inputs);
    let texts: Vec<&str> = inputs.all().collect();
    let mut random = Random::new(inputs.profile.name.bytes().map(u64::from).sum());
    for _ in 0..8 {
        let guard = varied(&inputs.profile, &tools, &mut random);
        let machine = GuardMachine::new(guard, End::Stop);
        for _ in 0..8 {
            let text = texts[random.below(texts.len())];
            check_chunk_invariance(&machine, text, CutPlan::quick(random.next()))?;
            // Events do not depend on the cuts: some will do.
            check_total(&machine, text, CutPlan::random(4, 1))?;
        }
    }
    Ok(())
}

#[test]
fn dropped_reasoning_is_reported_at_the_same_place_at_every_cut() {
    let profile = profile("poolside_v1").expect("a registered profile");
    let limit = ReasoningLimit { bytes: 1, policy: LimitPolicy::Drop };
    let guard = Guard::builder(&profile)
        .reasoning(reasoning_options(|it| it.limit = Some(limit)))
        .build()
        .expect("builds");
    let text = "<think>abc<tool_call>f\n</tool_call>";
    check_chunk_invariance(&GuardMachine::new(guard, End::Stop), text, CutPlan::standard(2))
        .unwrap_or_else(|violation| panic!("{violation}"));
}

/// Bounds small enough to be hit early.
fn bounded(inputs: &Inputs) -> Guard {
    let limits = Limits { candidate: 256, whitespace: 64, ..Limits::default() };
    let mut options = CallOptions::default();
    options.limits.name = 64;
    options.limits.early_arguments = 256;
    options.limits.value = 256;
    let guard = Guard::builder(&inputs.profile).limits(limits).calls(options);
    guard.build().expect("a registered profile builds")
}

/// The most that is allocated at once while `units` follow `head`.
fn peak(guard: &Guard, head: &str, unit: &str, units: usize) -> u64 {
    let mut guard = guard.clone();
    let spent = allocation_counter::measure(|| {
        let mut sink = |_: Event<'_>| {};
        guard.push(head, &mut sink).expect("limits release");
        for _ in 0..units {
            guard.push(unit, &mut sink).expect("limits release");
        }
        guard.finish(End::Stop, &mut sink).expect("limits release");
    });
    spent.bytes_max
}

/// What a guard says of its buffers is one thing, what it allocates another.
fn memory_does_not_grow(inputs: &Inputs) -> Result<(), String> {
    let guard = bounded(inputs);
    // Some of them: the laws of the profiles look at all.
    for (head, unit) in inputs.endless.iter().step_by(5) {
        let (some, more) = (peak(&guard, head, unit, 1_000), peak(&guard, head, unit, 4_000));
        if more > some + some / 4 + 1024 {
            return Err(format!("{head:?} and {unit:?}: {some} bytes, then {more}"));
        }
    }
    Ok(())
}

/// Checks a law for the profiles of a shard and reports all that break it.
fn profiles<E: ToString>(shard: usize, law: impl Fn(&Inputs) -> Result<(), E>) {
    let broken: Vec<String> = of_shard(shard, 2)
        .iter()
        .filter_map(|inputs| {
            Some(format!("{}: {}", inputs.profile.name, law(inputs).err()?.to_string()))
        })
        .collect();
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

// Contract: S1.15.
#[test]
fn output_is_chunk_invariant_under_every_option_0() {
    profiles(0, whatever_is_set);
}

// Contract: S1.15.
#[test]
fn output_is_chunk_invariant_under_every_option_1() {
    profiles(1, whatever_is_set);
}

// Contract: S1.3.
#[test]
fn memory_does_not_grow_with_the_stream_0() {
    profiles(0, memory_does_not_grow);
}

// Contract: S1.3.
#[test]
fn memory_does_not_grow_with_the_stream_1() {
    profiles(1, memory_does_not_grow);
}
