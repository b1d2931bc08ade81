//! Every registered family: its vectors at every cut, and the laws over its vectors' wires and
//! over inputs made to hurt.

mod support;

use std::sync::Arc;

use stream_laws::{
    CutPlan, Violation, Work, check_bounded, check_chunk_invariance, check_isolation, check_linear,
    check_no_leak, check_nothing_lost, check_prompt, check_total, vector::run_case,
};
use support::{DROPS, ParserMachine, families_with_vectors, inputs::Inputs, vectors};
use toolcall_parsers::{
    CallLimits, End, LimitPolicy, Limits, Parser, Whitespace, grammar, grammars, parse, same_name,
};

/// Families that must have vectors and pass them.
const VETTED: &[&str] =
    &["hermes", "mistral", "llama3_json", "pythonic", "qwen3_coder", "deepseek_v3_1"];

#[test]
fn every_vector_passes_at_every_cut() {
    let mut failures = Vec::new();
    for family in families_with_vectors() {
        for case in vectors(&family) {
            let Ok(grammar) = grammar(&case.family) else { continue };
            let machine = || ParserMachine::of_case(&grammar, &case);
            failures.extend(run_case(&case, machine, CutPlan::standard(11)).err());
        }
    }
    let report: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "{} failures\n{}", report.len(), report.join("\n"));
}

#[test]
fn the_vetted_families_are_registered_and_have_vectors() {
    let with_vectors = families_with_vectors();
    let missing: Vec<_> = VETTED
        .iter()
        .filter(|name| {
            grammar(name).is_err() || !with_vectors.iter().any(|family| same_name(family, name))
        })
        .collect();
    assert!(missing.is_empty(), "not registered, or without vectors: {missing:?}");
}

#[test]
fn families_without_vectors_are_told() {
    let with_vectors = families_with_vectors();
    for grammar in grammars() {
        if !with_vectors.iter().any(|family| same_name(family, &grammar.name)) {
            println!("{} has no vectors", grammar.name);
        }
    }
}

/// Where laws are checked: exhaustive for short inputs, some random splits for all.
/// (Vectors are cut at every place by a test of their own.)
const PLAN: CutPlan = CutPlan { two_way_up_to: 96, three_way_up_to: 12, random: 3, seed: 5 };

/// Limits that short inputs reach.
const LIMITS: Limits =
    Limits { candidate: 600, whitespace: 200, depth: 16, policy: LimitPolicy::Release };
const CALL_LIMITS: CallLimits = CallLimits { name: 100, early_arguments: 400, value: 800 };

/// Candidates are kept whole, whitespace too, and a body may keep a name, early arguments and a
/// value whose type is not certain.
const HOLD: usize = 600 + 200 + 100 + 400 + 800 + 64;

/// Work for a byte: it is looked for, matched against, fed; and again for each refuted candidate
/// it stood in, which the driver bounds; a newline for each marker that may bind it, of 64.
const WORK: Work = Work { bytes: 4096, per_byte: 128, growth_percent: 220 };

/// Checks a law for every family under a policy, and reports all families that break it.
fn every_family(
    policies: &[Whitespace],
    law: impl Fn(&ParserMachine, &Inputs) -> Result<(), Violation>,
) {
    // A developer of one family need not wait for all: `FAMILY=hermes cargo test`.
    let only = std::env::var("FAMILY").ok();
    let wanted = |grammar: &toolcall_parsers::Grammar| {
        only.as_deref().is_none_or(|only| only.split(',').any(|name| name == grammar.name))
    };
    let mut broken = Vec::new();
    for grammar in grammars().filter(wanted) {
        let inputs = Inputs::of(&grammar);
        for &policy in policies {
            let machine = ParserMachine::new(grammar.clone(), policy);
            if let Err(violation) = law(&machine, &inputs) {
                broken.push(format!("{} under {policy:?}: {violation}", inputs.name));
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

const POLICIES: &[Whitespace] = &[Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim];

#[test]
fn chunks_do_not_matter() {
    every_family(POLICIES, |machine, inputs| {
        inputs.all().try_for_each(|input| check_chunk_invariance(machine, input, PLAN))
    });
}

#[test]
fn noise_in_a_section_is_counted_the_same_for_every_cut() {
    let family = grammar("deepseek_v3").expect("a registered family");
    let machine = ParserMachine::new(family.as_ref().clone(), Whitespace::Verbatim);
    for noise in ["a \n b", " \n"] {
        let text = format!("<｜tool▁calls▁begin｜>{noise}<｜tool▁calls▁end｜>");
        check_chunk_invariance(&machine, &text, CutPlan::standard(2)).unwrap();
    }
}

#[test]
fn nothing_is_lost() {
    every_family(&[Whitespace::Verbatim, Whitespace::Framing], |machine, inputs| {
        if inputs.decodes_text {
            return Ok(());
        }
        inputs.all().try_for_each(|input| check_nothing_lost(machine, input, DROPS, PLAN))
    });
}

#[test]
fn text_comes_promptly() {
    every_family(&[Whitespace::Framing], |machine, inputs| {
        if inputs.decodes_text {
            return Ok(());
        }
        inputs.all().filter(|input| input.len() <= 160).try_for_each(|input| {
            // The rest of the input is what best commits a candidate of it.
            let rests = input.char_indices().map(|(at, _)| &input[at..]);
            let witnesses: Vec<&str> =
                inputs.witnesses.iter().map(String::as_str).chain(rests).collect();
            check_prompt(machine, input, &witnesses)
        })
    });
}

#[test]
fn memory_is_bounded() {
    every_family(&[Whitespace::Framing], |machine, inputs| {
        let machine = machine.limited(LIMITS, CALL_LIMITS);
        inputs.endless.iter().try_for_each(|endless| {
            let units = 2 * HOLD / endless.unit.len() + 1;
            let chunks = std::iter::once(endless.head.as_str())
                .chain(std::iter::repeat_n(endless.unit.as_str(), units));
            check_bounded(&machine, chunks, HOLD)
        })
    });
}

#[test]
fn work_is_linear() {
    every_family(&[Whitespace::Framing], |machine, inputs| {
        inputs
            .endless
            .iter()
            .try_for_each(|endless| check_linear(machine, |bytes| endless.of_length(bytes), WORK))
    });
}

#[test]
fn nothing_panics_and_complete_calls_hold_objects() {
    every_family(POLICIES, |machine, inputs| {
        inputs.all().try_for_each(|input| check_total(machine, input, PLAN))?;
        inputs.endless.iter().try_for_each(|endless| {
            check_total(machine, &endless.of_length(3000), CutPlan::quick(1))
        })
    });
}

#[test]
fn markup_of_calls_is_not_leaked() {
    for grammar in grammars() {
        let inputs = Inputs::of(&grammar);
        let markup: Vec<&str> = inputs.markup.iter().map(String::as_str).collect();
        for case in support::vectors_if_any(&inputs.name) {
            // Where markers are text the vector says so; they are data in arguments only.
            let text = markup.iter().any(|marker| case.expect.content.contains(marker));
            if text || !markup.iter().any(|marker| case.wire.contains(marker)) {
                continue;
            }
            let shared = std::sync::Arc::new(grammar.clone());
            let machine = ParserMachine::of_case(&shared, &case);
            check_no_leak(&machine, &case.wire, &markup, PLAN)
                .unwrap_or_else(|violation| panic!("{}: {violation}", case.id));
        }
    }
}

#[test]
fn neighbours_do_not_matter() {
    every_family(&[Whitespace::Framing], |machine, inputs| {
        let wires: Vec<&str> = inputs.wires.iter().map(String::as_str).collect();
        wires.chunks(8).try_for_each(|wires| check_isolation(machine, wires, 3))
    });
}

#[test]
fn headers_are_markup_wherever_they_are_cut() {
    for grammar in grammars().filter(|grammar| grammar.envelope.is_some()) {
        let inputs = Inputs::of(&grammar);
        let parser = Parser::builder(Arc::new(grammar)).whitespace(Whitespace::Verbatim);
        let parser = parser.build().expect("a sound table");
        let texts = |wire: &str, end| {
            let message = parse(&parser, wire, end).expect("limits release");
            [message.content, message.reasoning]
        };
        for wire in &inputs.wires {
            let whole = texts(wire, End::Stop);
            for (cut, _) in wire.char_indices() {
                if inputs.begins_header(&wire[..cut]) {
                    continue;
                }
                for (whole, part) in whole.iter().zip(texts(&wire[..cut], End::Length)) {
                    // A marker that is not whole is text, and so are blanks before it.
                    let begun = part.rfind('<').filter(|&at| !part[at..].contains('>'));
                    let sure = [Some(part.len()), begun].into_iter().flatten();
                    assert!(
                        sure.into_iter().any(|at| whole.starts_with(part[..at].trim_end())),
                        "{}: {part:?} is no beginning of {whole:?}: {:?}",
                        inputs.name,
                        &wire[..cut],
                    );
                }
            }
        }
    }
}
