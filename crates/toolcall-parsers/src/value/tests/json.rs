//! Tests of JSON: strict JSON is unchanged, and lenient JSON is converted.

use alloc::format;

use super::harness::Case;
use crate::value::{Syntax, ValueKind};

fn json(kind: ValueKind) -> Case {
    Case::new(kind, Syntax::Json)
}

#[test]
fn json_values_pass_byte_for_byte() {
    for wire in [
        "{}",
        "[]",
        "\"\"",
        "true",
        "{\"a\" :[1, 2.50e+3,\n null], \"b\":\"\\u00E9\\/\\n\u{e9}\"}",
        "[[[{}]]]",
        "\"\\ud83e\\udd80\\uFFFD\"",
        "-0.0",
        "{\"\":{\"\":\"\"}}",
    ] {
        let expected = format!("{wire} .{}", wire.len());
        json(ValueKind::Value).check(&format!("{wire},"), &expected);
    }
}

#[test]
fn control_characters_and_lone_surrogates_are_escaped_or_replaced() {
    json(ValueKind::Value).check_rows(&[
        ("\"a\n\u{1}\t\"", "\"a\\n\\u0001\\t\" .6"),
        ("\"\\ud83ex\"", "\"\\ufffdx\" .9"),
        ("\"\\udd80\"", "\"\\ufffd\" .8"),
        ("\"\\ud83e\\n\"", "\"\\ufffd\\n\" .10"),
        ("\"\\ud83e\\u0041\"", "\"\\ufffd\\u0041\" .14"),
    ]);
}

#[test]
fn malformed_json_is_refused_at_the_faulty_byte() {
    json(ValueKind::Value).check_rows(&[
        ("x", " !0 Syntax"),
        ("'a'", " !0 Syntax"),
        ("{a", "{ !1 Syntax"),
        ("[1,]", "[1, !3 Syntax"),
        ("{\"a\":}", "{\"a\": !5 Syntax"),
        ("\"\\x\"", "\" !1 Syntax"),
        ("\"\\u12g4\"", "\" !1 Syntax"),
        ("01", "0 .1"),
        ("1.x", "1. !2 Syntax"),
        ("trux", "tru !3 Syntax"),
        ("[1}", "[1 !2 Syntax"),
        ("{\"a\" 1", "{\"a\"  !5 Syntax"),
    ]);
}

#[test]
fn truncated_values_report_how_to_close_them() {
    json(ValueKind::Value).check_rows(&[
        ("{\"a", "{\"a ?\":null}"),
        ("{\"a\"", "{\"a\" ?:null}"),
        ("{\"a\": ", "{\"a\":  ?null}"),
        ("{\"a\": [\"x\\u00", "{\"a\": [\"x ?\"]}"),
        ("{\"a\": tr", "{\"a\": tr ?ue}"),
        ("{\"a\": -", "{\"a\": - ?"),
        ("{\"a\": 1,", "{\"a\": 1, ?"),
        ("[12", "[12 ?]"),
        ("", " ?"),
    ]);
}

#[test]
fn arguments_are_read_from_an_object_null_or_string() {
    json(ValueKind::Arguments).check_rows(&[
        (" {\"a\": 1} ", "{\"a\": 1} .9"),
        ("null}", "{} .4"),
        ("nul", " ?{}"),
        ("nulx", " !3 Syntax"),
        ("[1]", " !1 Syntax"),
        ("[ {\"a\": 1} ]", "{\"a\": 1} #Tolerated(List)@10 .12"),
        ("[{}, {}]", "{} #Tolerated(List)@3 !3 Syntax"),
        ("[[{}]]", " !1 Syntax"),
        ("[{", "{ ?}"),
        ("\"\"", "{} .2"),
        ("\" \\n\"", "{} .5"),
        ("\"{\\\"a\\\": \\\"b\\\\n\\\\\\\"c\\\"}\"", "{\"a\": \"b\\n\\\"c\"} .24"),
        ("\"{} \"", "{} .5"),
        ("\"{} x\"", "{} !4 Syntax"),
        ("\"[1]\"", " !1 Syntax"),
        ("\"{\\\"a\\\": \\u0031}\"", "{\"a\": 1} .17"),
        ("\"{\\\"a\\\": \\\"\\\\\\\\u00e9\\\"}\"", "{\"a\": \"\\\\u00e9\"} .24"),
        ("\"{\\\"a\\\": \\\"\\\\u00e9\\\"}\"", "{\"a\": \"\\u00e9\"} .22"),
        ("\"{\\\"a\\\": \\\"\\\\u00x9\\\"}\"", "{\"a\": \" !11 Syntax"),
        ("\"{\\\"a\\\": ", "{\"a\":  ?null}"),
        ("\"{\\\"a\\\": 1\"", "{\"a\": 1 !10 Syntax"),
        ("{\"a\": \"b", "{\"a\": \"b ?\"}"),
    ]);
}

#[test]
fn value_nesting_is_limited_to_128_levels() {
    for syntax in [Syntax::Json, Syntax::Lenient, Syntax::Literal] {
        let case = Case::new(ValueKind::Value, syntax);
        let wire = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(!case.read([wire(128).as_str()]).contains('!'));
        assert!(case.read([wire(129).as_str()]).contains("!128"));
    }
}

#[test]
fn lenient_json_is_repaired_and_each_tolerance_reported_once() {
    Case::new(ValueKind::Value, Syntax::Lenient).check_rows(&[
        ("{\"a\": [1, \"x\\u00e9\\/\"], \"b\": null},", "{\"a\": [1, \"xé/\"], \"b\": null} .34"),
        ("{'a': 'b\"c'}", "{\"a\": \"b\\\"c\"} #Tolerated(SingleQuotes)@1 .12"),
        ("{a: 1, $b-c: 2}", "{\"a\": 1, \"$b-c\": 2} #Tolerated(BareKey)@1 .15"),
        ("[True, false, None]", "[true, false, null] #Tolerated(PythonWord)@1 .19"),
        ("[1, 2, ]", "[1, 2] #Tolerated(TrailingComma)@7 .8"),
        ("{\"a\": 1,}", "{\"a\": 1} #Tolerated(TrailingComma)@8 .9"),
        ("[1, // x ] *\n 2 /* ] **/, # '\n 3]", "[1, 2, 3] #Tolerated(Comment)@4 .33"),
        ("\"a\nb\"", "\"a\\nb\" .5"),
        ("\"it\\'s \\d\"", "\"it's \\\\d\" #Tolerated(Escape)@3 .10"),
        ("[+1, .5, 007]", "[1, 0.5, 7] #Tolerated(Number)@3 .13"),
        ("[1 2]", "[ !3 Syntax"),
        ("{1: 2}", "{ !1 Syntax"),
        ("[,]", "[ !1 Syntax"),
        ("[1,,]", "[1 !3 Syntax"),
        ("[nil]", "[ !2 Syntax"),
        ("[NaN]", "[ !2 Syntax"),
        ("(1)", " !0 Syntax"),
        ("1.5e3 ", "1.5e3 .5"),
        ("{\"a", "{\"a ?\": null}"),
        ("{\"a\"", "{\"a\" ?: null}"),
        ("{a", "{ #Tolerated(BareKey)@1 ?}"),
        ("[1, /", "[1 ?]"),
    ]);
    Case::new(ValueKind::Arguments, Syntax::Lenient).check_rows(&[
        ("{'a': 1}", "{\"a\": 1} #Tolerated(SingleQuotes)@1 .8"),
        ("None,", "{} #Tolerated(PythonWord)@0 .4"),
        ("\"{\\\"a\\\": 1}\"", "{\"a\": 1} .12"),
        ("[1]", " !1 Syntax"),
    ]);
}
