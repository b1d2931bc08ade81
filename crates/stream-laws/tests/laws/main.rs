//! Every law holds for a machine that is right, and catches each way of being wrong.

mod cuts;
mod json;
mod record;
mod tiny;
mod vector;

use std::iter::repeat_n;

use stream_laws::{
    CutPlan, EncodedCall, Law, LawViolation, TextForm, Work, check_bounded,
    check_byte_chunk_invariance, check_chunk_invariance, check_clean_arguments, check_delivery,
    check_held, check_idle, check_ids, check_isolation, check_linear, check_no_leak,
    check_nothing_lost, check_prompt, check_quoted_markup, check_round_trip, check_total,
    check_total_bytes, suffixes,
};
use tiny::{Delivery, Fault, LIMIT, Tiny};

const PLAN: CutPlan = CutPlan::standard(7);

/// Short enough for every three-way split: reasoning, a call, text, near misses of each.
const SHORT: &str = "a<think>b\n</think>\nü<call:f>{}</call> <c";
/// A refuted candidate, two calls, arguments beyond the limit, a call cut by the end.
const LONG: &str = "<<think>r</thin></think> <call:no name \
    <call:f>{\"A\":1}</call><call:g></call>x<call:h>{\"k\":\
    \"0123456789012345678901234567890123456789012345678901234567890123456789\"}</call>y\
    <call:bad>not json</call>\u{1F980}<call:i>{\"cut\":";
const CALLS: &str = "<call:f>{\"A\":1}</call> and <call:g></call>";
const SENT: &[EncodedCall<'_>] = &[
    EncodedCall { name: "f", arguments: "{ \"A\": 1.0 }" },
    EncodedCall { name: "g", arguments: "{}" },
];
const MARKERS: &[&str] = &["<think>", "</think>", "<call:f>", "</call>"];

fn witnesses() -> Vec<String> {
    let mut witnesses = suffixes(MARKERS);
    witnesses.extend([">".into(), "x".into()]);
    witnesses
}

fn invariant(machine: &Tiny) -> Result<(), LawViolation> {
    [SHORT, LONG].iter().try_for_each(|input| check_chunk_invariance(machine, input, PLAN))
}

fn byte_invariant(machine: &Tiny) -> Result<(), LawViolation> {
    check_byte_chunk_invariance(machine, SHORT.as_bytes(), PLAN)?;
    check_byte_chunk_invariance(machine, b"a\xF0\x9F<think>\xC3\xFF\xE2\x80", PLAN)
}

fn lossless(machine: &Tiny) -> Result<(), LawViolation> {
    [SHORT, LONG]
        .iter()
        .try_for_each(|input| check_nothing_lost(machine, input, &["dropped"], PLAN))
}

fn prompt(machine: &Tiny) -> Result<(), LawViolation> {
    [SHORT, LONG].iter().try_for_each(|input| check_prompt(machine, input, &witnesses()))
}

fn bounded(machine: &Tiny) -> Result<(), LawViolation> {
    for chunk in ["x", "<think", "<call:", "</think>", "<call:f>", "\u{1F980}<"] {
        check_bounded(machine, repeat_n(chunk, 4 * LIMIT), 2 * LIMIT)?;
    }
    Ok(())
}

fn linear(machine: &Tiny) -> Result<(), LawViolation> {
    for unit in ["x", "<thin", "<call:", "</think>", "<call:f>{"] {
        check_linear(machine, |bytes| unit.repeat(bytes / unit.len()), Work::default())?;
    }
    Ok(())
}

fn total(machine: &Tiny) -> Result<(), LawViolation> {
    let nul = "\0<call:f>\0</call>";
    [SHORT, LONG, CALLS, nul].iter().try_for_each(|input| check_total(machine, input, PLAN))?;
    check_total_bytes(machine, b"\xFF<call:\xF0\x9F>\xFF", PLAN)
}

fn round_trip(machine: &Tiny) -> Result<(), LawViolation> {
    check_round_trip(machine, CALLS, SENT, PLAN)
}

fn leaks_nothing(machine: &Tiny) -> Result<(), LawViolation> {
    check_no_leak(machine, "a<think>b</think>c<call:f>{}</call>", MARKERS, PLAN)
}

fn isolated(machine: &Tiny) -> Result<(), LawViolation> {
    check_isolation(machine, &[SHORT, LONG, CALLS, "<think>"], 3)
}

fn tells_what_it_holds(machine: &Tiny) -> Result<(), LawViolation> {
    [SHORT, LONG].iter().try_for_each(|input| check_held(machine, input, TextForm::WireBytes))
}

fn rests(machine: &Tiny) -> Result<(), LawViolation> {
    [SHORT, LONG].iter().try_for_each(|input| check_idle(machine, input, PLAN))
}

fn keeps_markup_out(machine: &Tiny) -> Result<(), LawViolation> {
    let quoted = "<call:f>{\"quoted\":\"<think>\"}</call>";
    [CALLS, quoted].iter().try_for_each(|input| check_clean_arguments(machine, input, MARKERS))
}

fn identifies(fault: Fault) -> Result<(), LawViolation> {
    let mut responses = 0..;
    check_ids(
        || Tiny::of_response(fault, responses.next().unwrap_or_default()),
        [SHORT, LONG, CALLS, CALLS],
    )
}

fn delivers(fault: Fault) -> Result<(), LawViolation> {
    let (atomic, streaming) = (Delivery::Atomic, Delivery::Streaming);
    let (atomic, streaming) = (Tiny::new(fault, atomic), Tiny::new(fault, streaming));
    [SHORT, LONG, CALLS]
        .iter()
        .try_for_each(|input| check_delivery(&atomic, &streaming, input, PLAN))
}

#[track_caller]
fn caught(law: Law, fault: Fault, check: impl Fn(&Tiny) -> Result<(), LawViolation>) {
    check(&Tiny::good()).unwrap();
    let violation = check(&Tiny::with(fault)).expect_err("the fault must be caught");
    assert_eq!(violation.law, law, "{violation}");
}

fn quotes(machine: &Tiny) -> Result<(), LawViolation> {
    let arguments = "{\"quoted\":\"a <think> b\"}";
    let wire = format!("<call:f>{arguments}</call>");
    check_quoted_markup(machine, &wire, EncodedCall { name: "f", arguments }, PLAN)
}

#[test]
fn correct_machine_passes_every_law() {
    for machine in [Tiny::good(), Tiny::new(Fault::None, Delivery::Atomic)] {
        invariant(&machine).unwrap();
        byte_invariant(&machine).unwrap();
        lossless(&machine).unwrap();
        prompt(&machine).unwrap();
        bounded(&machine).unwrap();
        linear(&machine).unwrap();
        total(&machine).unwrap();
        round_trip(&machine).unwrap();
        leaks_nothing(&machine).unwrap();
        isolated(&machine).unwrap();
        rests(&machine).unwrap();
        keeps_markup_out(&machine).unwrap();
        quotes(&machine).unwrap();
    }
    tells_what_it_holds(&Tiny::good()).unwrap();
    identifies(Fault::None).unwrap();
    delivers(Fault::None).unwrap();
}

#[test]
fn chunk_invariance_detects_chunk_dependent_machines() {
    caught(Law::ChunkInvariance, Fault::ForgetsAtChunkEnd, invariant);
    caught(Law::ChunkInvariance, Fault::NotesEachChunk, invariant);
    caught(Law::ChunkInvariance, Fault::NotesLate, invariant);
    caught(Law::ChunkInvariance, Fault::LossyBytes, byte_invariant);
}

#[test]
fn chunk_invariance_detects_incomplete_resets_and_shared_clones() {
    caught(Law::ChunkInvariance, Fault::ResetKeepsMode, invariant);
    caught(Law::ChunkInvariance, Fault::SharesMode, invariant);
}

#[test]
fn nothing_lost_detects_missing_repeated_and_miscounted_bytes() {
    caught(Law::NothingLost, Fault::SwallowsNewline, lossless);
    caught(Law::NothingLost, Fault::Duplicates, lossless);
    caught(Law::NothingLost, Fault::Miscounts, lossless);
    caught(Law::NothingLost, Fault::SpansOverlap, lossless);
}

#[test]
fn prompt_detects_needless_holding() {
    caught(Law::Prompt, Fault::HoldsBlanks, prompt);
}

#[test]
fn held_detects_wrong_reports() {
    caught(Law::Held, Fault::DeniesHolding, tells_what_it_holds);
    caught(Law::Held, Fault::TellsLastChunk, tells_what_it_holds);
    caught(Law::Held, Fault::DeniesArguments, tells_what_it_holds);
}

#[test]
fn idle_detects_held_bytes_and_repeated_ends() {
    caught(Law::Idle, Fault::KeepsName, rests);
    caught(Law::Idle, Fault::EndsTwice, rests);
}

#[test]
fn clean_arguments_detects_markup_that_the_wire_did_not_quote() {
    caught(Law::CleanArguments, Fault::TakesCloser, keeps_markup_out);
}

#[test]
fn quoted_markup_detects_markup_that_acts_inside_a_value() {
    caught(Law::QuotedMarkup, Fault::EndsAtOpener, quotes);
}

#[test]
fn ids_detects_repeated_ids() {
    identifies(Fault::None).unwrap();
    for fault in [Fault::RepeatsIds, Fault::RepeatsResponses] {
        assert_eq!(identifies(fault).unwrap_err().law, Law::Ids);
    }
}

#[test]
fn prompt_detects_holding_that_the_machine_does_not_report() {
    let violation = check_prompt(&Tiny::with(Fault::HoldsBlanks), "a ", &["x"]).unwrap_err();
    assert!(violation.detail.starts_with("1 bytes of text are held"), "{violation}");
}

#[test]
fn bounded_detects_memory_that_grows_with_the_stream() {
    caught(Law::Bounded, Fault::KeepsHistory, bounded);
}

#[test]
fn bounded_refuses_an_input_that_is_too_short() {
    check_bounded(&Tiny::good(), ["x"], 1024).unwrap_err();
}

#[test]
fn linear_detects_rescans_and_uncounted_work() {
    caught(Law::Linear, Fault::Rescans, linear);
    caught(Law::Linear, Fault::CountsNothing, linear);
}

#[test]
fn linear_detects_growth_below_the_bound_per_byte() {
    let lenient = Work { bytes: 256, per_byte: 1 << 20, ..Work::default() };
    let input = |bytes| "x".repeat(bytes);
    check_linear(&Tiny::good(), input, lenient).unwrap();
    let violation = check_linear(&Tiny::with(Fault::Rescans), input, lenient).unwrap_err();
    assert!(violation.detail.contains("grows faster"), "{violation}");
}

#[test]
fn total_detects_panics_and_malformed_events() {
    caught(Law::Total, Fault::PanicsOnNul, total);
    caught(Law::Total, Fault::CompletesAnything, total);
    caught(Law::Total, Fault::RepeatsIds, total);
    caught(Law::Total, Fault::NeverEnds, total);
    caught(Law::Total, Fault::EmptyText, total);
}

#[test]
fn round_trip_detects_changed_and_missing_calls() {
    caught(Law::RoundTrip, Fault::Lowercases, round_trip);
    caught(Law::RoundTrip, Fault::OneCallOnly, round_trip);
}

#[test]
fn no_leak_detects_markup_in_text() {
    caught(Law::NoLeak, Fault::LeaksCloser, leaks_nothing);
}

#[test]
fn no_leak_refuses_an_input_without_markup() {
    check_no_leak(&Tiny::good(), "plain", MARKERS, PLAN).unwrap_err();
}

#[test]
fn isolation_detects_shared_state() {
    caught(Law::Isolation, Fault::SharesMode, isolated);
}

#[test]
fn delivery_detects_atomic_calls_that_differ() {
    let violation = delivers(Fault::AtomicForgets).unwrap_err();
    assert_eq!(violation.law, Law::Delivery);
}

#[test]
fn delivery_detects_a_machine_that_is_not_atomic() {
    let (one, other) = (Tiny::good(), Tiny::good());
    let violation = check_delivery(&one, &other, SHORT, PLAN).unwrap_err();
    assert!(violation.detail.contains("not delivered with"), "{violation}");
}

#[test]
fn violation_prints_law_cut_both_sides_and_the_escaped_input() {
    let plan = CutPlan { two_way_up_to: 64, ..CutPlan::quick(0) };
    let machine = Tiny::with(Fault::ForgetsAtChunkEnd);
    let violation = check_chunk_invariance(&machine, "\n<think>", plan).unwrap_err();
    assert_eq!(
        violation.to_string(),
        "L1 chunk invariance broken\n  cut: each scalar\n  event 0 differs\n  \
         expected: Text { channel: 0, text: \"\\n\" }\n  \
         got:      Text { channel: 0, text: \"\\n<think>\" }\n  \
         input: \"\\n<think>\" (8 bytes)"
    );
}
