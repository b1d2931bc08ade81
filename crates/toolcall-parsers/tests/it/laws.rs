//! The laws of streams for every registered family, over its vectors and over constructed inputs.

use stream_laws::{
    CutPlan, LawViolation, TextForm, Work, check_bounded, check_chunk_invariance,
    check_clean_arguments, check_held, check_idle, check_isolation, check_linear,
    check_linear_push, check_no_leak, check_nothing_lost, check_prompt, check_total,
};
use toolcall_parsers::{CallLimits, Grammar, LimitPolicy, Limits, Whitespace, families, grammar};

use crate::support::{
    DROPS, ParserMachine,
    inputs::Inputs,
    runs::{common_runs, runs},
    vectors_if_any,
};

/// The cuts of inputs: all cuts of short inputs, and some random cuts of the others. Module
/// `vectors` cuts vectors at every position.
const PLAN: CutPlan = CutPlan { two_way_up_to: 96, three_way_up_to: 12, random: 3, seed: 5 };

/// Few cuts, for laws about events: another law checks that events do not depend on cuts.
const FEW_CUTS: CutPlan = CutPlan::random(2, 1);

/// Small limits, which short inputs reach.
const LIMITS: Limits =
    Limits { candidate: 600, whitespace: 200, depth: 16, policy: LimitPolicy::Release };
const CALL_LIMITS: CallLimits = CallLimits { name: 100, early_arguments: 400, value: 800 };

/// Maximum number of held bytes: a candidate, white space, a name, early arguments, a value of
/// unknown type, and some slack.
const HOLD: usize = 600 + 200 + 100 + 400 + 800 + 64;

/// Maximum work per byte: searching, matching and feeding, repeated for each refuted candidate
/// around the byte. Up to 16 newlines are held before a marker, and each is examined with those
/// after it.
const WORK: Work = Work { bytes: 4096, per_byte: 256, growth_percent: 220 };

const POLICIES: &[Whitespace] = &[Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim];

/// Number of tests per law. Each checks a share of the families.
const SHARDS: usize = 12;

/// Defines the tests of a law, one per shard.
macro_rules! law {
    ($(#[$about:meta])* $name:ident, $law:expr) => {
        $(#[$about])*
        mod $name {
            use super::*;

            law!(@shards $law, shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5,
                shard_7 6, shard_8 7, shard_9 8, shard_10 9, shard_11 10, shard_12 11);
        }
    };
    (@shards $law:expr, $($shard:ident $n:literal),*) => {
        $(
            #[test]
            fn $shard() {
                families_of($n, $law);
            }
        )*
    };
}

/// Checks a law for the families of a shard, and reports all violations.
fn families_of(shard: usize, law: impl Fn(&Grammar, &Inputs) -> Result<(), LawViolation>) {
    // `FAMILY=hermes cargo test` checks only this family.
    let only = std::env::var("FAMILY").ok();
    let wanted =
        |name: &&str| only.as_deref().is_none_or(|only| only.split(',').any(|one| one == *name));
    let names = families().map(|summary| summary.name).skip(shard).step_by(SHARDS);
    let mut broken = Vec::new();
    for name in names.filter(wanted) {
        let grammar = grammar(name).expect("a registered family");
        if let Err(violation) = law(&grammar, &Inputs::of(&grammar)) {
            broken.push(format!("{name}: {violation}"));
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

/// Returns all suffixes of `text`.
fn suffixes_of(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, _)| &text[at..])
}

/// Checks a law for the family's parser under each policy.
fn under(
    policies: &[Whitespace],
    grammar: &Grammar,
    law: impl Fn(&ParserMachine) -> Result<(), LawViolation>,
) -> Result<(), LawViolation> {
    let machine = |&policy: &Whitespace| ParserMachine::new(grammar.clone(), policy);
    policies.iter().map(machine).try_for_each(|machine| law(&machine))
}

law!(events_are_chunk_invariant, |grammar, inputs| under(POLICIES, grammar, |machine| {
    inputs.all().try_for_each(|input| check_chunk_invariance(machine, input, PLAN))
}));

law!(every_input_byte_is_accounted_for, |grammar, inputs| {
    if inputs.decodes_text {
        return Ok(());
    }
    under(&[Whitespace::Verbatim, Whitespace::Framing], grammar, |machine| {
        inputs.all().try_for_each(|input| check_nothing_lost(machine, input, DROPS, PLAN))
    })
});

law!(text_is_emitted_promptly, |grammar, inputs| {
    if inputs.decodes_text {
        return Ok(());
    }
    under(&[Whitespace::Framing], grammar, |machine| {
        inputs.all().filter(|input| input.len() <= 120).try_for_each(|input| {
            // The rest of the first block completes a repetition of that block.
            let block = input.match_indices('>').nth(1).map_or("", |(at, _)| &input[..=at]);
            let witnesses: Vec<&str> = suffixes_of(input)
                .chain(suffixes_of(block))
                .chain(inputs.witnesses.iter().map(String::as_str))
                .collect();
            check_prompt(machine, input, &witnesses)
        })
    })
});

law!(memory_is_bounded, |grammar, inputs| under(&[Whitespace::Framing], grammar, |machine| {
    let machine = machine.limited(LIMITS, CALL_LIMITS);
    inputs.endless.iter().try_for_each(|endless| {
        let units = 2 * HOLD / endless.unit.len() + 1;
        let chunks = std::iter::once(endless.head.as_str())
            .chain(std::iter::repeat_n(endless.unit.as_str(), units));
        check_bounded(&machine, chunks, HOLD)
    })
}));

law!(work_is_linear, |grammar, inputs| under(&[Whitespace::Framing], grammar, |machine| {
    let mut endless = inputs.endless.iter();
    endless.try_for_each(|endless| check_linear(machine, |bytes| endless.of_length(bytes), WORK))
}));

// A whole answer is one push, which is longer than every limit of held text.
law!(one_push_takes_linear_work, |grammar, _| under(&[Whitespace::Framing], grammar, |machine| {
    let limited = machine.limited(LIMITS, CALL_LIMITS);
    let mut all = runs(grammar).into_iter();
    all.try_for_each(|run| check_linear_push(&limited, |bytes| run.of_length(bytes), WORK))?;
    let long = Work { bytes: 64 * 1024, ..WORK };
    let mut common = common_runs(grammar).into_iter();
    common.try_for_each(|run| check_linear_push(&limited, |bytes| run.of_length(bytes), long))
}));

law!(nothing_panics_and_complete_calls_have_object_arguments, |grammar, inputs| {
    under(POLICIES, grammar, |machine| {
        inputs.all().try_for_each(|input| check_total(machine, input, FEW_CUTS))
    })?;
    let machine = ParserMachine::new(grammar.clone(), Whitespace::Framing);
    let mut endless = inputs.endless.iter().map(|endless| endless.of_length(3000));
    endless.try_for_each(|input| check_total(&machine, &input, FEW_CUTS))
});

law!(concurrent_machines_are_isolated, |grammar, inputs| under(
    &[Whitespace::Framing],
    grammar,
    |machine| {
        let wires: Vec<&str> = inputs.wires.iter().map(String::as_str).collect();
        wires.chunks(8).try_for_each(|wires| check_isolation(machine, wires, 3))
    }
));

law!(markup_of_calls_is_not_leaked, |grammar, inputs| {
    let markup: Vec<&str> = inputs.markup.iter().map(String::as_str).collect();
    vectors_if_any(&inputs.name).into_iter().try_for_each(|case| {
        // Skip vectors whose expected content contains a marker.
        let text = markup.iter().any(|marker| case.expect.content.contains(marker));
        if text || !markup.iter().any(|marker| case.wire.contains(marker)) {
            return Ok(());
        }
        check_no_leak(&ParserMachine::of_case(grammar, &case), &case.wire, &markup, PLAN)
    })
});

law!(held_bytes_equal_the_reported_ones, |grammar, inputs| {
    let unit = if inputs.decodes_text { TextForm::Decoded } else { TextForm::WireBytes };
    under(POLICIES, grammar, |machine| {
        let mut short = inputs.all().filter(|input| input.len() <= 400);
        short.try_for_each(|input| check_held(machine, input, unit))
    })?;
    // Declared types decide which values are held.
    vectors_if_any(&inputs.name)
        .into_iter()
        .filter(|case| case.tools.is_some())
        .try_for_each(|case| check_held(&ParserMachine::of_case(grammar, &case), &case.wire, unit))
});

law!(nothing_is_held_after_the_end, |grammar, inputs| under(POLICIES, grammar, |machine| {
    inputs.all().try_for_each(|input| check_idle(machine, input, CutPlan::quick(2)))
}));

law!(arguments_hold_no_markup, |grammar, inputs| {
    vectors_if_any(&inputs.name).into_iter().try_for_each(|case| {
        // Markers that the vector expects in its result are data.
        let expected = format!("{:?}", case.expect);
        let markup: Vec<&str> = inputs.markup.iter().map(String::as_str).collect();
        let markup: Vec<&str> = markup.into_iter().filter(|it| !expected.contains(it)).collect();
        check_clean_arguments(&ParserMachine::of_case(grammar, &case), &case.wire, &markup)
    })
});

#[test]
fn skipped_text_in_a_section_is_chunk_invariant() {
    let family = grammar("deepseek_v3").expect("a registered family");
    let machine = ParserMachine::new(family, Whitespace::Verbatim);
    for noise in ["a \n b", " \n"] {
        let text = format!("<｜tool▁calls▁begin｜>{noise}<｜tool▁calls▁end｜>");
        check_chunk_invariance(&machine, &text, CutPlan::standard(2)).unwrap();
    }
}

#[test]
fn whitespace_before_raw_arguments_is_chunk_invariant() {
    for (name, wire) in [
        ("cwm", "<tool: x>\npython   {\"command\": \"ls\"}\n</tool>"),
        ("functionary_v31", "<function=python>  {\"code\": \"x\"}</function>"),
        ("functionary_v32", ">>>python\n  {\"code\": \"x\"}"),
    ] {
        let family = grammar(name).expect("a registered family");
        let machine = ParserMachine::new(family, Whitespace::Verbatim);
        check_chunk_invariance(&machine, wire, CutPlan::standard(2)).unwrap();
    }
}

#[test]
fn held_bytes_are_exact_after_a_list_inside_an_object() {
    let wire =
        r#"{"tool_calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]  }"#;
    for name in ["bare_json", "hermes", "ollama_generic"] {
        let family = grammar(name).expect("a registered family");
        let wire =
            if name == "hermes" { format!("<tool_call>{wire}</tool_call>") } else { wire.into() };
        check_held(&ParserMachine::new(family, Whitespace::Verbatim), &wire, TextForm::WireBytes)
            .unwrap();
    }
}
