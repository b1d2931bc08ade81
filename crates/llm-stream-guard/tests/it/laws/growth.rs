//! What a call costs does not grow with the calls before it: ids, the wrapper of chunks, and all
//! that the looks of a cursor do not count. Allocations stand for work here, as they are the same in
//! every run; instructions are counted by the bench.

use guard_laws::call_options;
use llm_stream_guard::{BrokenBlock, End, Event, Guard, profile};

use super::inputs::{Inputs, of_shard};

/// Calls of a message, and twice as many.
const CALLS: [u64; 2] = [1_000, 2_000];

/// Allocations while a message has so many calls of this form; `{n}` in it is the call's number.
fn allocations(broken: BrokenBlock, form: &str, calls: u64) -> u64 {
    let profile = profile("qwen3").expect("a registered profile");
    let mut guard = Guard::builder(&profile)
        .calls(call_options(|it| it.broken_block = broken))
        .build()
        .expect("builds");
    let wires: Vec<String> = (0..calls).map(|n| form.replace("{n}", &n.to_string())).collect();
    let spent = allocation_counter::measure(|| {
        let mut sink = |_: Event<'_>| {};
        for wire in &wires {
            guard.push(wire, &mut sink).expect("no limit is near");
        }
        guard.finish(End::Stop, &mut sink).expect("no limit is near");
    });
    spent.count_total
}

#[test]
fn allocations_per_call_do_not_grow_with_the_number_of_calls() {
    let ids = ["", "\"id\": \"a\", ", "\"id\": \"{n}\", ", "\"id\": \"call_{n}\", "];
    // Blocks that may become text are read ahead, each by a parser that knows the ids before it.
    for broken in [BrokenBlock::Emit, BrokenBlock::Text] {
        for id in ids {
            let form =
                format!("<tool_call>{{{id}\"name\": \"f\", \"arguments\": {{}}}}</tool_call>\n");
            let [some, more] = CALLS.map(|calls| allocations(broken, &form, calls));
            assert!(more <= some * 21 / 10, "{id:?}: {some} allocations, then {more}");
        }
    }
}

/// Hostile text for each profile, all its kinds together.
const HOSTILE: usize = 1 << 20;

/// Looks and allocations while a guard gets so many bytes of `units`, scalar by scalar.
fn spent(guard: &mut Guard, units: &mut dyn Iterator<Item = char>, bytes: usize) -> [u64; 2] {
    let before = guard.counters().examined;
    let mut piece = [0; 4];
    let allocated = allocation_counter::measure(|| {
        let mut sink = |_: Event<'_>| {};
        let mut given = 0;
        while given < bytes {
            let Some(scalar) = units.next() else { break };
            guard.push(scalar.encode_utf8(&mut piece), &mut sink).expect("limits release");
            given += scalar.len_utf8();
        }
    });
    [guard.counters().examined - before, allocated.count_total]
}

/// What a byte may cost: a look at each of the markers that a newline may belong to, and less than one
/// allocation.
const MOST: [u64; 2] = [256, 0];

/// Kinds of hostile text in whose second half a byte costs more than that.
fn costly(inputs: &Inputs) -> Vec<String> {
    let bytes = HOSTILE / inputs.endless.len() / 2;
    let cost = |(head, unit): &(String, &'static str)| {
        let mut guard = Guard::builder(&inputs.profile).build().expect("builds");
        let mut text = head.chars().chain(unit.chars().cycle());
        spent(&mut guard, &mut text, bytes);
        let cost = spent(&mut guard, &mut text, bytes).map(|spent| spent / bytes as u64);
        let name = &inputs.profile.name;
        let much = cost.iter().zip(MOST).any(|(&cost, most)| cost > most);
        much.then(|| format!("{name}, {head:?} and {unit:?}: {cost:?} a byte"))
    };
    inputs.endless.iter().filter_map(cost).collect()
}

#[test]
#[ignore = "takes a minute on busy cores: `cargo xtask ci --full` asks for it"]
fn hostile_mebibyte_is_read_in_linear_work() {
    let costly: Vec<String> = of_shard(0, 1).iter().flat_map(costly).collect();
    assert!(costly.is_empty(), "{}", costly.join("\n"));
}
