//! The laws, each over every profile.

use guard_laws::{GuardMachine, reasoning_options};
use llm_stream_guard::{
    BadPayload, BrokenBlock, CallOptions, Delivery, DiagnosticKind, End, Guard, GuardBuilder,
    LimitPolicy, Limits, Profile, Start, ToolChoice, Tools, Whitespace,
};
use stream_laws::{
    CutPlan, LawViolation, TextForm, Work, check_bounded, check_byte_chunk_invariance,
    check_chunk_invariance, check_delivery, check_held, check_idle, check_ids, check_isolation,
    check_linear, check_linear_push, check_no_leak, check_nothing_lost, check_prompt, check_total,
    check_total_bytes,
    vector::{CaseFinish, CaseStart as Begin, CaseWhitespace, VectorCase},
};

use crate::laws::inputs::{Inputs, of_shard};

/// The diagnostics that count dropped bytes.
const DROPS: &[&str] = &["cut_opener"];

/// Exhaustive for what is short, a few random cuts for the rest.
const PLAN: CutPlan = CutPlan::quick(17);

const POLICIES: [Whitespace; 3] = [Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim];

/// Bounds small enough to be hit often.
const LIMITS: Limits =
    Limits { candidate: 128, whitespace: 64, depth: 16, policy: LimitPolicy::Release };

/// Bounds inside calls, likewise.
fn options() -> CallOptions {
    let mut options = CallOptions::default();
    options.limits.name = 64;
    options.limits.early_arguments = 256;
    options.limits.value = 256;
    options
}

fn machine(builder: GuardBuilder) -> GuardMachine {
    GuardMachine::new(builder.build().expect("a registered profile builds"), End::Stop)
}

fn guard(inputs: &Inputs, policy: Whitespace) -> GuardMachine {
    machine(Guard::builder(&Profile { whitespace: policy, ..inputs.profile.clone() }))
}

/// Makes of each law a test a shard of the profiles: shards run side by side, and none takes long.
macro_rules! sharded {
    ($($law:ident),+ $(,)?) => { $(
        mod $law {
            #[test]
            fn shard_0() {
                super::profiles(0, super::$law);
            }

            #[test]
            fn shard_1() {
                super::profiles(1, super::$law);
            }

            #[test]
            fn shard_2() {
                super::profiles(2, super::$law);
            }

            #[test]
            fn shard_3() {
                super::profiles(3, super::$law);
            }
        }
    )+ };
}

sharded! {
    events_are_chunk_invariant,
    events_are_invariant_to_byte_cuts,
    every_input_byte_is_accounted_for,
    text_is_emitted_promptly,
    held_bytes_equal_the_reported_ones,
    nothing_is_held_after_the_end,
    call_ids_are_unique,
    memory_is_bounded,
    work_is_linear,
    one_push_takes_linear_work,
    nothing_panics_and_complete_calls_have_object_arguments,
    markup_is_not_leaked,
    concurrent_machines_are_isolated,
    delivery_changes_only_the_timing_of_events,
}

/// Checks a law for the profiles of a shard and reports all that break it.
fn profiles(shard: usize, law: impl Fn(&Inputs) -> Result<(), LawViolation>) {
    let broken: Vec<String> = of_shard(shard, 4)
        .iter()
        .filter_map(|inputs| {
            let violation = law(inputs).err()?;
            Some(format!("{}: {violation}", inputs.profile.name))
        })
        .collect();
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

// Contract: S1.15.
fn events_are_chunk_invariant(inputs: &Inputs) -> Result<(), LawViolation> {
    for policy in POLICIES {
        let machine = guard(inputs, policy);
        inputs.all().try_for_each(|input| check_chunk_invariance(&machine, input, PLAN))?;
    }
    let first = inputs.wires.first().map_or("", String::as_str);
    check_chunk_invariance(&guard(inputs, Whitespace::Framing), first, CutPlan::standard(3))
}

// Contract: S1.2, S3.26.
fn events_are_invariant_to_byte_cuts(inputs: &Inputs) -> Result<(), LawViolation> {
    let machine = guard(inputs, Whitespace::Framing);
    for input in inputs.all() {
        check_byte_chunk_invariance(&machine, input.as_bytes(), PLAN)?;
        // The same with a byte too few: no longer UTF-8 where a scalar was cut.
        let (head, tail) = input.as_bytes().split_at(input.len() / 2);
        let faulty = [head, tail.get(1..).unwrap_or_default()].concat();
        check_byte_chunk_invariance(&machine, &faulty, PLAN)?;
        check_total_bytes(&machine, &faulty, PLAN)?;
    }
    Ok(())
}

// Contract: S1.12, S1.14.
fn every_input_byte_is_accounted_for(inputs: &Inputs) -> Result<(), LawViolation> {
    // `Trim` puts whitespace after a call that it stood before.
    for policy in [Whitespace::Verbatim, Whitespace::Framing] {
        let machine = guard(inputs, policy);
        inputs.all().try_for_each(|input| check_nothing_lost(&machine, input, DROPS, PLAN))?;
    }
    Ok(())
}

// Contract: S1.3.
fn text_is_emitted_promptly(inputs: &Inputs) -> Result<(), LawViolation> {
    let machine = guard(inputs, Whitespace::Framing);
    let short = inputs.wires.iter().filter(|wire| wire.len() <= 120).take(8);
    for input in short.chain(inputs.soups.iter().filter(|soup| soup.len() <= 64)) {
        // The rest of the input is what best commits a candidate of it.
        let rests = input.char_indices().map(|(at, _)| &input[at..]);
        let witnesses: Vec<&str> =
            inputs.witnesses.iter().map(String::as_str).chain(rests).collect();
        check_prompt(&machine, input, &witnesses)?;
    }
    Ok(())
}

fn held_bytes_equal_the_reported_ones(inputs: &Inputs) -> Result<(), LawViolation> {
    for policy in POLICIES {
        let machine = guard(inputs, policy);
        let short = inputs.wires.iter().filter(|wire| wire.len() <= 200);
        short
            .chain(&inputs.soups)
            .try_for_each(|input| check_held(&machine, input, TextForm::WireBytes))?;
    }
    Ok(())
}

fn nothing_is_held_after_the_end(inputs: &Inputs) -> Result<(), LawViolation> {
    POLICIES.iter().try_for_each(|&policy| {
        let machine = guard(inputs, policy);
        inputs.all().try_for_each(|input| check_idle(&machine, input, PLAN))
    })
}

fn call_ids_are_unique(inputs: &Inputs) -> Result<(), LawViolation> {
    let guard = Guard::builder(&inputs.profile).calls(options()).build().expect("builds");
    // Guards, clones of one guard, and the messages of one.
    let mut responses = 0..;
    let respond = || {
        let mut guard = match responses.next() {
            Some(n) if n % 2 == 0 => guard.clone(),
            _ => Guard::builder(&inputs.profile).calls(options()).build().expect("builds"),
        };
        guard.reset();
        GuardMachine::with_ids(guard, End::Stop)
    };
    check_ids(respond, inputs.wires.iter().map(String::as_str))
}

// Contract: S1.3.
fn memory_is_bounded(inputs: &Inputs) -> Result<(), LawViolation> {
    let calls = options().limits;
    let hold =
        LIMITS.candidate + LIMITS.whitespace + calls.name + calls.early_arguments + calls.value;
    let machine = machine(Guard::builder(&inputs.profile).limits(LIMITS).calls(options()));
    inputs.endless.iter().try_for_each(|(head, unit)| {
        let units = std::iter::repeat_n(*unit, 2 * hold);
        check_bounded(&machine, std::iter::once(head.as_str()).chain(units), hold)
    })
}

// Contract: S1.62.
fn work_is_linear(inputs: &Inputs) -> Result<(), LawViolation> {
    // A newline may cost a look at all that some formats bind to a marker after them.
    let work = Work { bytes: 1024, per_byte: 256, growth_percent: 220 };
    let machine = machine(Guard::builder(&inputs.profile).limits(LIMITS).calls(options()));
    inputs.endless.iter().try_for_each(|(head, unit)| {
        check_linear(&machine, |bytes| head.clone() + &unit.repeat(bytes), work)?;
        if *unit != "x" {
            return Ok(());
        }
        let again = |bytes: usize| format!("{head}{unit}").repeat(bytes / (head.len() + 1));
        check_linear(&machine, again, work)
    })
}

// Contract: S1.62.
fn one_push_takes_linear_work(inputs: &Inputs) -> Result<(), LawViolation> {
    const SIGNS: [&str; 12] =
        ["\n", " ", "x", "{", "}", "[", "]", "\"", "\\", "<", "`", "\u{2581}"];
    let work = Work { bytes: 4096, per_byte: 256, growth_percent: 220 };
    let tools = || Tools::new([("f", serde_json::json!({}))]);
    let calls = |bad_payload| {
        let mut options = options();
        (options.broken_block, options.bad_payload) = (BrokenBlock::Text, bad_payload);
        options
    };
    let limited =
        || Guard::builder(&inputs.profile).limits(LIMITS).calls(calls(BadPayload::BestEffort));
    let required = |bad_payload| {
        let guard = limited().tools(tools()).tool_choice(ToolChoice::Required);
        guard.calls(calls(bad_payload))
    };
    let mut guards = vec![limited()];
    if inputs.profile.tools.is_some() {
        guards.extend([BadPayload::RecoverAsText, BadPayload::Reject].map(required));
    }
    let opener = inputs.markers.iter().find(|marker| marker.len() > 1);
    let heads = ["", "{", "[", "[{\"name\": \"f\"", "<think>"].map(String::from);
    let heads: Vec<_> = heads.into_iter().chain(opener.cloned()).collect();
    for machine in guards.into_iter().map(machine) {
        for (head, unit) in heads.iter().flat_map(|head| SIGNS.map(|unit| (head, unit))) {
            check_linear_push(&machine, |bytes| head.clone() + &unit.repeat(bytes), work)?;
        }
    }
    Ok(())
}

fn nothing_panics_and_complete_calls_have_object_arguments(
    inputs: &Inputs,
) -> Result<(), LawViolation> {
    for end in [End::Stop, End::Length] {
        let guard = Guard::builder(&inputs.profile).limits(LIMITS).calls(options()).build();
        let machine = GuardMachine::new(guard.expect("a registered profile builds"), end);
        inputs.all().try_for_each(|input| check_total(&machine, input, PLAN))?;
    }
    Ok(())
}

fn markup_is_not_leaked(inputs: &Inputs) -> Result<(), LawViolation> {
    let markup: Vec<&str> = inputs.markup.iter().map(String::as_str).collect();
    for case in &inputs.cases {
        // Where markers are text the vector says so; they are data in arguments only.
        let text = [&case.expect.content, &case.expect.reasoning];
        let shows = markup.iter().any(|marker| text.iter().any(|text| text.contains(marker)));
        if shows || !case.options.is_empty() || !markup.iter().any(|m| case.wire.contains(m)) {
            continue;
        }
        check_no_leak(&of_case(inputs, case), &case.wire, &markup, PLAN)?;
    }
    Ok(())
}

/// The whole profile with the settings of a vector that is about a part of it.
fn of_case(inputs: &Inputs, case: &VectorCase) -> GuardMachine {
    let tools = case.tools.as_deref().map_or_else(Tools::none, |tools| {
        let tools = serde_json::from_str(tools).expect("the reader checked it");
        Tools::from_json(&tools).expect("tools")
    });
    let whitespace = match case.whitespace {
        CaseWhitespace::Verbatim => Whitespace::Verbatim,
        CaseWhitespace::Framing => Whitespace::Framing,
        CaseWhitespace::Trim => Whitespace::Trim,
    };
    let guard = Guard::builder(&Profile { whitespace, ..inputs.profile.clone() }).tools(tools);
    let guard = match case.start {
        Begin::Reasoning => {
            guard.reasoning(reasoning_options(|it| it.start = Some(Start::Reasoning)))
        }
        Begin::Content => guard.reasoning(reasoning_options(|it| it.start = Some(Start::Content))),
        // Nobody saw the prompt.
        _ => guard,
    };
    let end = if case.finish == CaseFinish::Length { End::Length } else { End::Stop };
    GuardMachine::new(guard.build().expect("a registered profile builds"), end)
}

// Contract: X.26.
fn concurrent_machines_are_isolated(inputs: &Inputs) -> Result<(), LawViolation> {
    let machine = guard(inputs, Whitespace::Framing);
    let wires: Vec<&str> = inputs.wires.iter().map(String::as_str).collect();
    wires.chunks(8).try_for_each(|wires| check_isolation(&machine, wires, 3))
}

fn delivery_changes_only_the_timing_of_events(inputs: &Inputs) -> Result<(), LawViolation> {
    let streaming = guard(inputs, Whitespace::Framing);
    let atomic = machine(
        Guard::builder(&Profile { whitespace: Whitespace::Framing, ..inputs.profile.clone() })
            .delivery(Delivery::Atomic),
    );
    // An id that comes late is used where the call is kept until it ends, and only there.
    let guard = Guard::builder(&inputs.profile).build().expect("a registered profile");
    let late = |input: &&str| {
        let message = guard.parse(input, End::Stop).expect("limits release");
        message.diagnostics.iter().any(|it| it.kind == DiagnosticKind::LateId)
    };
    let mut all = inputs.all().filter(|input| !late(input));
    all.try_for_each(|input| check_delivery(&atomic, &streaming, input, PLAN))
}
