//! What a call costs does not grow with the calls before it: ids, the wrapper of chunks, and all
//! that the looks of a cursor do not count. Allocations stand for work here, as they are the same in
//! every run; instructions are counted by the bench.

use llm_stream_guard::{End, Event, Guard, profile};

/// Calls of a message, and twice as many.
const CALLS: [u64; 2] = [1_000, 2_000];

/// Allocations while a message has so many calls of this form; `{n}` in it is the call's number.
fn allocations(form: &str, calls: u64) -> u64 {
    let profile = profile("qwen3").expect("a registered profile");
    let mut guard = Guard::builder(&profile).build().expect("builds");
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
fn the_thousandth_call_costs_what_the_first_one_did() {
    let ids = ["", "\"id\": \"a\", ", "\"id\": \"{n}\", ", "\"id\": \"call_{n}\", "];
    for id in ids {
        let form = format!("<tool_call>{{{id}\"name\": \"f\", \"arguments\": {{}}}}</tool_call>\n");
        let [some, more] = CALLS.map(|calls| allocations(&form, calls));
        assert!(more <= some * 21 / 10, "{id:?}: {some} allocations, then {more}");
    }
}
