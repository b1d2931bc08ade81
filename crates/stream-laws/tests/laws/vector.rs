//! Vectors: what a line may say, and that every compared field can fail.

use std::{fs, path::Path};

use stream_laws::{
    COMPLETE, CONTENT, Cut, CutPlan, REASONING, RunRecord,
    vector::{
        Arguments, CaseFinish, CaseKind, CaseStart, CaseWhitespace, VectorCase, check_record,
        read_cases, run_case, run_case_bytes,
    },
};

use crate::tiny::{Delivery, Fault, Tiny};

const FULL: &str = r#"{"id": "a", "kind": "both", "family": "tiny", "whitespace": "trim",
    "tools": [{"type": "function", "function": {"name": "weigh"}}], "start": "reasoning",
    "finish": "length", "options": {"recur": false}, "wire": "x",
    "expect": {"content": "c", "reasoning": "r",
        "calls": [{"name": "weigh", "arguments": {"kg": 1}, "id": "7"}],
        "incomplete": {"name": "weigh", "arguments_so_far": {"kg": 2}}},
    "note": "n", "policy": "p", "disputed": "d"}"#;

fn line(text: &str) -> String {
    text.replace('\n', " ")
}

fn one(text: &str) -> VectorCase {
    read_cases(&line(text)).unwrap().remove(0)
}

#[test]
fn every_field_of_a_file_is_read() {
    let case = one(FULL);
    assert_eq!((case.id.as_str(), case.family.as_str()), ("a", "tiny"));
    assert_eq!((case.kind, case.whitespace), (CaseKind::Both, CaseWhitespace::Trim));
    assert_eq!((case.start, case.finish), (CaseStart::Reasoning, CaseFinish::Length));
    assert!(case.tools.as_ref().unwrap().starts_with(r#"[{"type""#));
    assert_eq!(case.option("recur").and_then(|value| value.as_bool()), Some(false));
    assert_eq!(case.expect.calls[0].id.as_deref(), Some("7"));
    assert!(matches!(case.expect.incomplete.unwrap().arguments, Arguments::SoFar(_)));
    assert_eq!([case.note, case.policy, case.disputed], ["n", "p", "d"]);
}

#[test]
fn absent_fields_have_defaults_and_blank_lines_are_skipped() {
    let text =
        "\n{\"id\":\"a\",\"kind\":\"tools\",\"family\":\"f\",\"wire\":\"\",\"expect\":{}}\n \n";
    let cases = read_cases(text).unwrap();
    assert_eq!(cases.len(), 1);
    let case = &cases[0];
    assert_eq!((case.whitespace, case.start), (CaseWhitespace::Framing, CaseStart::Default));
    assert_eq!((case.finish, &case.tools), (CaseFinish::Stop, &None));
    assert_eq!(case.expect, Default::default());
}

#[test]
fn invalid_line_is_refused_with_its_number_and_field() {
    let full = line(FULL);
    for (from, to, said) in [
        ("{\"id\"", "{id", "line 2: expected a JSON object: byte"),
        ("\"a\"", "7", "line 2: `id`: expected a string, found 7"),
        ("\"a\"", "\"\"", "line 2: `id`: is empty"),
        ("\"a\"", "\"first\"", "line 2: `id`: \"first\" was used before"),
        ("\"id\": \"a\", ", "", "line 2: `id`: is missing"),
        ("\"both\"", "\"all\"", "line 2: `kind`: expected one of"),
        ("\"kind\": \"both\",", "", "line 2: `kind`: is missing"),
        ("\"kind\"", "\"kin\"", "line 2: `kind`: is missing"),
        ("\"trim\"", "\"none\"", "line 2: `whitespace`: expected one of"),
        ("\"start\": \"reasoning\"", "\"start\": \"here\"", "line 2: `start`: expected one of"),
        ("\"length\"", "\"eos\"", "line 2: `finish`: expected one of"),
        ("{\"recur\"", "{\"recurr\"", "line 2: `options.recurr`: is no option"),
        ("[{\"type\"", "{\"type\"", "line 2: "),
        ("\"note\"", "\"notes\"", "line 2: `notes`: is no field of this format"),
        ("\"note\"", "\"id\"", "line 2: `id`: is there twice"),
        ("\"content\"", "\"text\"", "line 2: `expect.text`: is no field"),
        ("\"id\": \"7\"", "\"ident\": \"7\"", "line 2: `expect.calls[0].ident`: is no field"),
        ("{\"kg\": 1}", "[1]", "line 2: `expect.calls[0].arguments`: byte 0: expected an object"),
        ("{\"kg\": 1}", "null", "line 2: `expect.calls[0].arguments`: is missing"),
        ("\"arguments_so_far\"", "\"so_far\"", "line 2: `expect.incomplete.so_far`: is no field"),
        ("{\"kg\": 2}", "2", "line 2: `expect.incomplete.arguments_so_far`: byte 0"),
        ("{\"kg\": 2}", "{}, \"arguments_prefix\": \"\"", "`expect.incomplete`: expected `argum"),
    ] {
        let broken = full.replacen(from, to, 1);
        assert_ne!(broken, full, "{from} is not there");
        let text = format!("{}\n{broken}", full.replacen("\"a\"", "\"first\"", 1));
        let error = read_cases(&text).expect_err(to).to_string();
        assert!(error.contains(said), "{to}: expected {said}, got {error}");
    }
}

/// Returns a record with content `c`, reasoning `r`, a complete call and one that was cut.
fn record() -> RunRecord {
    let mut record = RunRecord::default();
    record.text(REASONING, "r");
    record.text(CONTENT, "c");
    record.call_start(0, "7", "weigh");
    record.call_arguments(0, r#"{"kg": 1000.0, "at": "#);
    record.call_arguments(0, r#""dock"}"#);
    record.call_end(0, COMPLETE);
    record.call_start(1, "8", "stow");
    record.call_arguments(1, r#"{"deck": [1, {"a b": "x y"#);
    record.call_end(1, "incomplete");
    record
}

const EXPECTED: &str = r#"{"id": "a", "kind": "both", "family": "tiny", "wire": "x",
    "expect": {"content": "c", "reasoning": "r",
        "calls": [{"name": "weigh", "arguments": {"at": "dock", "kg": 1e3}, "id": "7"}],
        "incomplete": {"name": "stow", "arguments_prefix": "{\"deck\":[1,{ \"a b\":\"x y"}}}"#;

#[test]
fn number_spelling_key_order_and_outer_whitespace_are_ignored() {
    check_record(&one(EXPECTED), &record()).unwrap();
}

#[test]
fn every_compared_field_detects_a_difference() {
    for (from, to, field) in [
        ("\"content\": \"c\"", "\"content\": \"C\"", "content"),
        ("\"reasoning\": \"r\"", "\"reasoning\": \"\"", "reasoning"),
        ("weigh", "sway", "calls[0].name"),
        ("\"7\"", "\"8\"", "calls[0].id"),
        ("1e3", "1001", "calls[0].arguments"),
        ("\"at\"", "\"at \"", "calls[0].arguments"),
        (
            "{\"name\": \"weigh\", \"arguments\": {\"at\": \"dock\", \"kg\": 1e3}, \"id\": \"7\"}",
            "",
            "calls",
        ),
        (
            "\"calls\": [",
            "\"calls\": [{\"name\": \"weigh\", \"arguments\": {\"at\": \"dock\", \"kg\": 1e3}}, ",
            "calls",
        ),
        ("stow", "weigh", "incomplete"),
        ("x y", "xy", "incomplete"),
        ("x y", "x y z", "incomplete"),
        ("x y", "x", "incomplete"),
    ] {
        let broken = EXPECTED.replacen(from, to, 1);
        assert_ne!(broken, EXPECTED, "{from} is not there");
        let mismatch = check_record(&one(&broken), &record()).expect_err(to);
        assert_eq!(mismatch.field, field, "{to}: {mismatch}");
    }
    let mut malformed = record();
    malformed.call_start(2, "9", "weigh");
    malformed.call_end(2, COMPLETE);
    check_record(&one(EXPECTED), &malformed).expect_err("no arguments at all");
}

#[test]
fn malformed_call_does_not_match_an_expected_complete_call() {
    let mut record = record();
    record.events.truncate(5);
    record.call_end(0, "malformed");
    let case = one(&EXPECTED.replacen("stow", "weigh", 1));
    assert_eq!(check_record(&case, &record).unwrap_err().field, "calls");
}

#[test]
fn partial_arguments_are_closed_before_comparison() {
    for (text, value) in [
        ("", "{}"),
        ("{", "{}"),
        (r#"{"a"#, "{}"),
        (r#"{"a":"#, "{}"),
        (r#"{"a": tru"#, "{}"),
        (r#"{"a": "x"#, r#"{"a": "x"}"#),
        (r#"{"a": "x\"#, r#"{"a": "x"}"#),
        (r#"{"a": "x\u00e"#, r#"{"a": "x"}"#),
        (r#"{"a": "x\ud83e"#, r#"{"a": "x"}"#),
        (r#"{"a": "x\ud83e\udd"#, r#"{"a": "x"}"#),
        (r#"{"a": "x","#, r#"{"a": "x"}"#),
        (r#"{"a": "x", "b"#, r#"{"a": "x"}"#),
        (r#"{"a": [1, {"b": "],"#, r#"{"a": [1, {"b": "],"}]}"#),
        (r#"{"a": [1, -"#, r#"{"a": [1]}"#),
        (r#"{"a": {"b": 2}"#, r#"{"a": {"b": 2}}"#),
    ] {
        let mut record = RunRecord::default();
        record.call_start(0, "1", "f");
        record.call_arguments(0, text);
        record.call_end(0, "incomplete");
        let case = |value: &str| {
            let incomplete = format!(r#"{{"name": "f", "arguments_so_far": {value}}}"#);
            let expect = format!(r#"{{"incomplete": {incomplete}}}"#);
            let rest = r#""id": "a", "kind": "tools", "family": "f", "wire": """#;
            one(&format!(r#"{{{rest}, "expect": {expect}}}"#))
        };
        check_record(&case(value), &record).unwrap_or_else(|no| panic!("{text}: {no}"));
        check_record(&case(r#"{"z": 0}"#), &record).expect_err(text);
    }
}

const TINY: &str = r#"{"id": "tiny", "kind": "both", "family": "tiny",
    "wire": "<think>ü</think>a<call:f>{\"k\": 1}</call>b<call:g>{\"k\": \"v",
    "expect": {"content": "ab", "reasoning": "ü", "calls": [{"name": "f", "arguments": {"k": 1}}],
        "incomplete": {"name": "g"}}, "note": "all at once"}"#;

#[test]
fn correct_machine_passes_at_every_cut_and_a_mismatch_names_the_cut() {
    let plan = CutPlan::standard(3);
    run_case(&one(TINY), Tiny::good, plan).unwrap();
    run_case_bytes(&one(TINY), Tiny::good, plan).unwrap();
    let wrong = one(&TINY.replacen("\"ab\"", "\"a\"", 1));
    let failure = run_case(&wrong, Tiny::good, plan).unwrap_err();
    assert_eq!((failure.id.as_str(), failure.cut), ("tiny", Some(Cut::Whole.into())));
    assert_eq!(
        failure.to_string(),
        "tiny: content differs\n  expected: \"a\"\n  got:      \"ab\"\n  cut:      whole"
    );
}

#[test]
fn chunk_dependent_machine_fails_at_its_first_differing_cut() {
    let plan = CutPlan::standard(3);
    let case = one(TINY);
    let failure = run_case(&case, || Tiny::with(Fault::ForgetsAtChunkEnd), plan).unwrap_err();
    assert_eq!(failure.cut, Some(Cut::EachScalar.into()));
    let failure = run_case_bytes(&case, || Tiny::with(Fault::LossyBytes), plan).unwrap_err();
    assert!(failure.cut.is_some_and(|cut| cut.bytes), "{failure}");
}

/// The right texts in the wrong order, for one cut only.
#[derive(Clone)]
struct Swaps {
    first: usize,
    inner: Tiny,
}

impl stream_laws::StreamMachine for Swaps {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        self.first = if self.first == 0 { chunk.len() } else { self.first };
        self.inner.push(chunk, out);
    }
    fn finish(&mut self, out: &mut RunRecord) {
        self.inner.finish(out);
        if self.first == 3 {
            out.events.reverse();
        }
    }
    fn reset(&mut self) {
        self.inner.reset();
    }
    fn held(&self) -> stream_laws::HeldBytes {
        self.inner.held()
    }
    fn work(&self) -> u64 {
        self.inner.work()
    }
    fn state_size(&self) -> usize {
        self.inner.state_size()
    }
}

#[test]
fn different_event_order_at_one_cut_is_a_failure() {
    let text = r#"{"id": "order", "kind": "reasoning", "family": "tiny",
        "wire": "<think>r</think>c", "expect": {"content": "c", "reasoning": "r"}}"#;
    let machine = || Swaps { first: 0, inner: Tiny::new(Fault::None, Delivery::Streaming) };
    let failure = run_case(&one(text), machine, CutPlan::standard(3)).unwrap_err();
    assert_eq!(failure.mismatch.field, "event 0");
}

#[test]
fn every_vector_is_in_its_directory_and_has_notes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../families/vectors");
    let mut count = 0;
    for (directory, kind) in [
        ("tools", CaseKind::Tools),
        ("reasoning", CaseKind::Reasoning),
        ("profiles", CaseKind::Both),
    ] {
        for file in fs::read_dir(root.join(directory)).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let cases = read_cases(&text).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
            for case in cases {
                assert_eq!(case.kind, kind, "{}", case.id);
                assert!(case.id.starts_with(&format!("{}/", case.family)), "{}", case.id);
                assert!(!case.note.is_empty(), "{}", case.id);
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count}");
}
