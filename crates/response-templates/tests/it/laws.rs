//! The laws of streams, with random sequences of markers and text.

use guard_laws::TemplateMachine;
use proptest::prelude::*;
use response_templates::Boundaries;
use stream_laws::{
    CutPlan, StreamMachine as _, TextForm, Work, check_bounded, check_chunk_invariance, check_held,
    check_idle, check_linear, check_nothing_lost, check_prompt, check_total, push_all, suffixes,
};

use crate::support::{
    DIALECT, ENDLESS, KINDS, LENIENT, LINED, NAMED, NUMBERS, PARAMETERS, PLAIN, TAGGED, machine,
    machine_with,
};

const PIECES: [&str; 36] = [
    "<t>",
    "</t>",
    "<c>",
    "</c>",
    "<c f>",
    "<s>",
    "</s>",
    "</s>!",
    "<end>",
    "<",
    "{\"name\": \"f\"",
    ", \"arguments\": {\"a\": \"x\"}}",
    ", \"arguments\": {\"a\": \"x\ty",
    "{\"a\": \"é\nx\", \"\\q",
    "{\"a\": [1, \"\\u00e9\\ud83d\"]}",
    "{}",
    "<a>1</>",
    "<b>",
    "\n",
    "  ",
    "text",
    "é🌟",
    "\"",
    "}",
    "{\"arguments\": {}, \"name\": \"g\"}",
    "12",
    "{a:<q>",
    "</q>",
    "'",
    ",b:",
    "k: v\n",
    "<k>",
    "</k>",
    "<c \"f\">",
    "[",
    "]",
];

/// Kinds of diagnostics that count dropped bytes.
const DROPS: [&str; 4] = ["noise", "malformed_region", "bad_payload", "halted"];

const EACH: &str = r#""tool_calls": {"open": "<c>", "close": "</c>", "content": "json",
    "transform_each": true, "transform": {"type": "function",
    "function": {"name": "{name}", "arguments": "{arguments}"}}}"#;

const STUCK: &str = r#""thinking": {"open": "<t>", "close": "</t>"},
    "extra": {"open": "<a>", "close": "</>", "content": "json"},
    "content": {"close_pattern": "(?=<s>)|\\n+$"}"#;

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..12).prop_map(|all| all.concat())
}

fn machines() -> Vec<TemplateMachine> {
    let shown = [PLAIN, NAMED, TAGGED, PARAMETERS, LINED, DIALECT, EACH, STUCK];
    let exact = shown.into_iter().chain([NUMBERS, LENIENT, ENDLESS, KINDS]).map(machine);
    exact.chain([PLAIN, PARAMETERS, DIALECT, LENIENT].map(aware)).chain(limited()).collect()
}

/// Returns machines with limits that short texts hit.
fn limited() -> impl Iterator<Item = TemplateMachine> {
    let limits = [(1, 1), (3, 2)].into_iter();
    limits.flat_map(|(hold, blanks)| {
        [PLAIN, NAMED, TAGGED, STUCK]
            .map(|fields| machine_with(fields, |it| (it.hold, it.blanks) = (hold, blanks)))
    })
}

/// Returns a machine in which closers do not count in strings and tags.
fn aware(fields: &str) -> TemplateMachine {
    machine_with(fields, |it| it.boundaries = Boundaries::StringAware)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn events_are_chunk_invariant(wire in soup(), seed: u64) {
        for machine in machines() {
            check_chunk_invariance(&machine, &wire, CutPlan::standard(seed))
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }

    #[test]
    fn every_input_byte_is_accounted_for(wire in soup(), seed: u64) {
        // Templates with values that are not text are left out: such values are written as new
        // JSON.
        for machine in [PLAIN, NAMED, TAGGED, PARAMETERS, LINED, DIALECT].map(machine) {
            check_nothing_lost(&machine, &wire, &DROPS, CutPlan::standard(seed))
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }

    #[test]
    fn certain_text_is_not_held(wire in soup()) {
        // The possible continuations: the rest of each marker, text, and blanks before text.
        let mut witnesses = suffixes(&["<t>", "</t>", "<c>", "<c f>", "</c>", "<end>", "<s>"]);
        witnesses.extend(["x", " x", ">"].map(String::from));
        for machine in [PLAIN, NAMED, PARAMETERS, LINED, DIALECT].map(machine) {
            check_prompt(&machine, &wire, &witnesses)
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }

    #[test]
    fn reported_held_bytes_equal_the_held_ones(wire in soup()) {
        let fields = [PLAIN, NAMED, TAGGED, PARAMETERS, LINED, EACH, NUMBERS, LENIENT, ENDLESS];
        let strings = [PLAIN, PARAMETERS, LENIENT].map(aware);
        let machines = fields.map(machine).into_iter().chain(strings);
        // A dialect becomes longer as JSON, and values that are not text are written as new JSON.
        let decoded = [DIALECT, KINDS, STUCK].map(|fields| (machine(fields), TextForm::Decoded));
        for (machine, unit) in machines.map(|it| (it, TextForm::WireBytes)).chain(decoded) {
            check_held(&machine, &wire, unit)
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }

    #[test]
    fn template_buffers_are_empty_after_the_end(wire in soup(), seed: u64) {
        for machine in machines() {
            check_idle(&machine, &wire, CutPlan::quick(seed))
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }

    #[test]
    fn arbitrary_text_is_read_without_panics(wire in any::<String>(), seed: u64) {
        for machine in machines() {
            check_total(&machine, &wire, CutPlan::standard(seed))
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
        }
    }
}

#[test]
fn arguments_before_a_fault_are_chunk_invariant() {
    for (fields, wire) in [
        (NUMBERS, "<c f>a: 1\nb: x\n</c>"),
        (PLAIN, r#"<c>{"name": "f", "arguments": {}, "arguments": {"l": 2}}</c>"#),
        (NAMED, r#"<c f>{"a": 1, "b": [NaN], "c": -Infinity}</c>"#),
        (EACH, "<c>[{\"name\": \"f\", \"arguments\": {}}x"),
        (NAMED, "<c f>{\"a\": \"x\\ud83dy\tz\"}</c>"),
        (NAMED, r#"<c f>{"a": "x\q"}</c>"#),
        (NAMED, r#"<c f>{"a": [1.5, -.5]}</c>"#),
        (NAMED, r#"<c f>{"a": trux}</c>"#),
    ] {
        check_chunk_invariance(&machine(fields), wire, CutPlan::standard(0))
            .unwrap_or_else(|it| panic!("{it}"));
    }
}

#[test]
fn text_streams_in_constant_space_and_linear_time() {
    const TEXT: &str = "Some text <b, é and so on. ";
    let work = Work { per_byte: 16, ..Work::default() };
    for fields in [PLAIN, NAMED] {
        let machine = machine(fields);
        check_bounded(&machine, std::iter::repeat_n(TEXT, 1000), 64)
            .unwrap_or_else(|it| panic!("{it}"));
        check_linear(&machine, |bytes| TEXT.repeat(bytes / TEXT.len()), work)
            .unwrap_or_else(|it| panic!("{it}"));
    }
}

// A search may be at every place of a repetition at once, so the length of repetitions is limited.
#[test]
fn longest_repetition_takes_bounded_work_per_byte() {
    let fields = r#""thinking": {"open_pattern": ".{1,128}END", "close": "</t>"}, "content": {}"#;
    let work = Work { per_byte: 1024, bytes: 4096, growth_percent: 220 };
    check_linear(&machine(fields), |bytes| "x".repeat(bytes), work)
        .unwrap_or_else(|it| panic!("{it}"));
}

/// Returns the work for `text` by `TAGGED`, whose first opener looks ahead to any `</t>`.
fn look_ahead_work(text: &str) -> u64 {
    let mut machine = machine(TAGGED);
    push_all(&mut machine, text, stream_laws::Cut::EachScalar, &mut Default::default());
    machine.finish(&mut Default::default());
    machine.work()
}

#[test]
fn text_with_a_long_look_ahead_is_read_in_linear_time() {
    let work = |n: usize| look_ahead_work(&"no closer <t and so on. ".repeat(n));
    let (short, long) = (work(100), work(1000));
    assert!(long < 12 * short, "{short} {long}");
}

#[test]
fn regions_with_a_long_look_ahead_are_read_in_linear_time() {
    let work = |n: usize| look_ahead_work(&"<c f><a>1</></c> ".repeat(n));
    let (short, long) = (work(100), work(1000));
    assert!(long < 12 * short, "{short} {long}");
}
