//! A guard that decodes remapped delimiters, against one that reads the canonical text.

use guard_laws::GuardMachine;
use llm_stream_guard::{
    End, Guard, Profile, Whitespace,
    toolcall_parsers::grammar,
    wire_remap::{Regime, RemapTable, Truncated},
};
use stream_laws::{Cut, CutPlan, RunRecord, check_byte_chunk_invariance, run};

use crate::laws::inputs::{Inputs, of_shard};

/// Every two-way cut of what is short, a few random cuts for the rest.
const PLAN: CutPlan = CutPlan::quick(29);

/// A table that remaps as much of the profile's vocabulary as one can: a marker that contains
/// another, or ends as one begins, is left out in favour of the longer. A literal of several tags
/// is no marker.
fn table(inputs: &Inputs) -> Option<RemapTable> {
    let mut words = inputs.markers.clone();
    if let Some(name) = &inputs.profile.tools {
        let mut family = grammar(name).expect("registered").family().clone();
        family.each_literal(|literal| words.push(literal.trim().to_owned()));
    }
    words.retain(|word| {
        let tag = |c: char| !c.is_alphanumeric() && !"{}\":,.'_ ".contains(c);
        let one = word.matches('<').count() < 2;
        one && word.len() > 3 && word.contains(char::is_alphabetic) && word.contains(tag)
    });
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), word.clone()));
    words.dedup();
    let mut pairs: Vec<String> = Vec::new();
    let build = |pairs: &[String]| {
        let builder = RemapTable::builder().truncated(Truncated::Ignore);
        let numbered = pairs.iter().enumerate();
        numbered
            .fold(builder, |builder, (n, word)| builder.pair(word, &format!("[[M{n}]]")))
            .build()
    };
    for word in words {
        pairs.push(word);
        if build(&pairs).is_err() {
            pairs.pop();
        }
    }
    build(&pairs).ok()
}

fn machine(inputs: &Inputs, policy: Whitespace, regime: Regime) -> GuardMachine {
    let guard =
        Guard::builder(&Profile { whitespace: policy, ..inputs.profile.clone() }).stage(regime);
    GuardMachine::new(guard.build().expect("a registered profile builds"), End::Stop)
}

fn whole(machine: &GuardMachine, text: &str) -> RunRecord {
    run(machine, text, Cut::Whole).coalesced().expect("calls are ordered")
}

/// What the canonical text gives, its wire form gives, whatever the markers turn out to be.
fn wire_form_and_canonical_form_yield_equal_events(shard: usize) {
    let mut mapped = 0;
    for inputs in of_shard(shard, 4) {
        let name = &inputs.profile.name;
        let Some(table) = table(&inputs) else { continue };
        mapped += 1;
        let on = Regime::on(table.clone());
        for policy in [Whitespace::Framing, Whitespace::Trim] {
            let canonical = machine(&inputs, policy, Regime::off());
            let decoding = machine(&inputs, policy, on.clone());
            for text in inputs.all() {
                let wire = table.encode(text);
                let expected = whole(&canonical, text);
                assert_eq!(whole(&decoding, &wire), expected, "{name}: {wire:?}");
                if policy == Whitespace::Trim {
                    continue;
                }
                check_byte_chunk_invariance(&decoding, wire.as_bytes(), PLAN)
                    .unwrap_or_else(|violation| panic!("{name}: {violation}"));
            }
        }
    }
    assert!(mapped >= 20, "only {mapped} profiles have a vocabulary to remap");
}

// Contract: S2.6, S2.21, X.10.
#[test]
fn wire_form_and_canonical_form_yield_equal_events_0() {
    wire_form_and_canonical_form_yield_equal_events(0);
}

// Contract: S2.6, S2.21, X.10.
#[test]
fn wire_form_and_canonical_form_yield_equal_events_1() {
    wire_form_and_canonical_form_yield_equal_events(1);
}

// Contract: S2.6, S2.21, X.10.
#[test]
fn wire_form_and_canonical_form_yield_equal_events_2() {
    wire_form_and_canonical_form_yield_equal_events(2);
}

// Contract: S2.6, S2.21, X.10.
#[test]
fn wire_form_and_canonical_form_yield_equal_events_3() {
    wire_form_and_canonical_form_yield_equal_events(3);
}
