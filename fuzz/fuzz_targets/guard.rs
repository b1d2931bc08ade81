//! Any bytes, any profile: cut every way, the guard must keep the laws.

#![no_main]

use guard_laws::GuardMachine;
use libfuzzer_sys::fuzz_target;
use llm_stream_guard::{End, Guard, profiles};
use stream_laws::{CutPlan, check_byte_chunk_invariance, check_total_bytes};

fuzz_target!(|data: &[u8]| {
    let Some((&first, wire)) = data.split_first() else { return };
    let profiles = profiles();
    let profile = &profiles[usize::from(first) % profiles.len()];
    let guard = Guard::builder(profile).build().expect("registered profiles build");
    let machine = GuardMachine::new(guard, End::Stop);
    let plan = CutPlan::quick(u64::from(first));
    check_byte_chunk_invariance(&machine, wire, plan).unwrap();
    check_total_bytes(&machine, wire, plan).unwrap();
});
