//! Tests of Python literals and keyword arguments.

use alloc::{format, string::String};

use super::harness::Case;
use crate::{
    CallLimits,
    value::{Syntax, ValueKind},
};

fn keywords() -> Case {
    Case::new(ValueKind::Keywords, Syntax::Python)
}

/// Checks values of the keyword `a`, alone and inside other values.
fn check_values(rows: &[(&str, &str)]) {
    for (python, json) in rows {
        let wire = format!("a={python})");
        keywords().check(&wire, &format!("{{\"a\": {json}}} .{}", wire.len()));
        let wire = format!("a={python} , b = [ {python} , {{'k':{python}}},],)");
        let json = format!("{{\"a\": {json}, \"b\": [{json}, {{\"k\": {json}}}]}}");
        keywords().check(&wire, &format!("{json} .{}", wire.len()));
    }
}

#[test]
fn python_scalars_become_json() {
    check_values(&[
        ("'x'", r#""x""#),
        (r#""it's""#, r#""it's""#),
        (r#"'say "hi"'"#, r#""say \"hi\"""#),
        ("''", r#""""#),
        ("''''''", r#""""#),
        ("'''a'b''c\nd'''", r#""a'b''c\nd""#),
        (r#""""a"b""""#, r#""a\"b""#),
        (r"'a\n\t\\\'\x41\u00e9\101\d\ud83e\udd80'", r#""a\n\t\\'AéA\\d🦀""#),
        (r"'C:\users'", r#""C:\\users""#),
        ("'a\\\nb'", r#""ab""#),
        (r"r'a\n\''", r#""a\\n\\'""#),
        (r"u'x'", r#""x""#),
        ("f'{{x}}'", r#""{x}""#),
        (r"'a' 'b' r'\c'", r#""ab\\c""#),
        ("'a\nb\u{1}'", r#""a\nb\u0001""#),
        ("'São 東京 ☀'", r#""São 東京 ☀""#),
        ("'x] ) , y=1 ['", r#""x] ) , y=1 [""#),
        ("-5", "-5"),
        ("+2", "2"),
        ("1_000", "1000"),
        ("007", "7"),
        ("0x1f", "31"),
        (".5", "0.5"),
        ("1.", "1.0"),
        ("-1.5E+3", "-1.5E+3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("True", "true"),
        ("False", "false"),
        ("None", "null"),
        ("true", "true"),
        ("null", "null"),
        ("none", "null"),
        ("nil", "null"),
        ("undefined", "null"),
        ("(3)", "3"),
        ("('a' \n 'b')", r#""ab""#),
        ("(None)", "null"),
    ]);
}

#[test]
fn python_containers_become_arrays_and_objects() {
    check_values(&[
        ("[]", "[]"),
        ("{}", "{}"),
        ("()", "[]"),
        ("(800, 600)", "[800, 600]"),
        ("(1,)", "[1]"),
        ("((1, 2), (3,))", "[[1, 2], [3]]"),
        ("([1], 2)", "[[1], 2]"),
        ("{'urgent', 'bug'}", r#"["urgent", "bug"]"#),
        ("{1}", "[1]"),
        ("{(1, 2)}", "[[1, 2]]"),
        ("{'a': 1, \"b\" : {'c': (True, [])},}", r#"{"a": 1, "b": {"c": [true, []]}}"#),
        ("{1: 'x', None: 2, True: 3}", r#"{"1": "x", "null": 2, "true": 3}"#),
        ("{'a' 'b': 1}", r#"{"ab": 1}"#),
        ("[{'n': 1, 'sub': [{'x': 'y'}]}, {}]", r#"[{"n": 1, "sub": [{"x": "y"}]}, {}]"#),
        ("[[], [[]], {'x': {}}]", r#"[[], [[]], {"x": {}}]"#),
    ]);
}

#[test]
fn keyword_arguments_end_at_their_parenthesis() {
    keywords().check_rows(&[
        (") b()", "{} .1"),
        (" )", "{} .2"),
        ("from=1,)\n]", "{\"from\": 1} .8"),
        ("straße='ß')", "{\"straße\": \"ß\"} .13"),
        ("{'a': 1})", "{\"a\": 1} .9"),
        (" {} ) x", "{} .5"),
    ]);
}

#[test]
fn text_without_keyword_arguments_is_refused_without_output() {
    for wire in [
        "x)",
        "x=y)",
        "x==1)",
        "a=bar(1))",
        "a=[bar(1)])",
        "a=-x)",
        "a=...)",
        "a=nan)",
        "a=b'x')",
        "a=True or False)",
        "a=[)",
        "1a=1)",
        "1)",
        "[1])",
    ] {
        let read = keywords().read([wire]);
        assert!(read.starts_with(" !"), "{wire}: {read}");
        keywords().check_cuts(wire);
    }
}

#[test]
fn malformed_keyword_arguments_are_refused_at_the_faulty_byte() {
    keywords().check_rows(&[
        ("a=1+2)", "{\"a\":  !3 Syntax"),
        ("a=1, 2)", "{\"a\": 1 !5 Syntax"),
        ("a=1, b=nan)", "{\"a\": 1, \"b\":  !10 Inexpressible"),
        ("a=2j)", "{\"a\":  !4 Inexpressible"),
        ("a='x', b=f'{y}')", "{\"a\": \"x\", \"b\": \" !11 Inexpressible"),
        ("a=([1]))", "{\"a\": [[1] !6 Inexpressible"),
        ("a=[True, x.y])", "{\"a\": [true !9 Syntax"),
    ]);
}

#[test]
fn truncated_keyword_arguments_report_how_to_close_them() {
    keywords().check_rows(&[
        ("a='Bre", "{\"a\": \"Bre ?\"}"),
        ("a='Bre\\u00", "{\"a\": \"Bre ?\"}"),
        ("a=[1, {'k': ['x', ", "{\"a\": [1, {\"k\": [\"x\" ?]}]}"),
        ("a={'k': 1, 'l", "{\"a\": {\"k\": 1, \"l ?\": null}}"),
        ("a=12", "{\"a\":  ?12}"),
        ("a=1, b=", "{\"a\": 1, \"b\":  ?null}"),
        ("a=1, b=Tru", "{\"a\": 1, \"b\":  ?"),
        ("a=1, ", "{\"a\": 1 ?}"),
        ("a='x', b", "{\"a\": \"x\" ?}"),
        ("a={'k'", "{\"a\":  ?"),
        ("a={'k':", "{\"a\": {\"k\":  ?null}}"),
        ("a", " ?{}"),
    ]);
}

#[test]
fn inner_quotes_in_python_strings_are_data() {
    keywords().check_rows(&[
        ("a='sed -n '1,9p' f', b='it's')", "{\"a\": \"sed -n '1,9p' f\", \"b\": \"it's\"} .30"),
        ("a=\"say \"hi\" \n now\" \n )", "{\"a\": \"say \\\"hi\\\" \\n now\"} .22"),
        ("a={'k' : ['x' ]})", "{\"a\": {\"k\": [\"x\"]}} .17"),
        ("a='x 'y' z')", "{\"a\": \"x 'y' z\"} .12"),
        (
            "cmd='python3 -c \"f(sep='\\,'))\"')]",
            "{\"cmd\": \"python3 -c \\\"f(sep='\\\\,'))\\\"\"} .32",
        ),
    ]);
}

#[test]
fn value_limits_apply_at_the_same_byte_at_every_cut() {
    let limits = CallLimits { name: 8, ..CallLimits::default() };
    let case = Case { limits, ..keywords() };
    case.check_rows(&[
        ("a=1, b23456789=1)", "{\"a\": 1 !13 Syntax"),
        ("a=12345678)", "{\"a\": 12345678} .11"),
        ("a=123456789)", "{\"a\":  !10 Syntax"),
        ("a={'123456': 1})", "{\"a\": {\"123456\": 1}} .16"),
        ("a={'longer than a key', 'b'})", "{\"a\": [\"longer than a key\", \"b\"]} .29"),
        ("a={'longer than a key': 1})", "{\"a\": [\"longer than a key\" !22 Syntax"),
        ("a=('longer than ' 'a key'))", "{\"a\": \"longer than a key\"} .27"),
        ("a=('longer than a key', 1))", "{\"a\": \"longer than a key\" !22 Inexpressible"),
        ("a='b'                    )", "{\"a\": \"b\"} .26"),
    ]);
}

#[test]
fn value_nesting_is_limited_to_128_levels() {
    let wire = |levels: usize| format!("a=1, b={}{})", "[".repeat(levels), "]".repeat(levels));
    assert!(!keywords().read([wire(127).as_str()]).contains('!'));
    assert!(keywords().read([wire(128).as_str()]).contains('!'));
    keywords().check_cuts(&wire(127));
}

#[test]
fn python_arguments_are_a_dict_or_empty() {
    let arguments = Case::new(ValueKind::Arguments, Syntax::Python);
    arguments.check_rows(&[
        ("{'a': 1}, x", "{\"a\": 1} .8"),
        (" None}", "{} .5"),
        ("undefined}", "{} .9"),
        ("[1]", " !0 Syntax"),
        ("Nope", " !2 Syntax"),
        ("{'a'}", "{\"a\" !4 Syntax"),
        ("{'a': 'b", "{\"a\": \"b ?\"}"),
        ("{", " ?{}"),
    ]);
    let value = Case::new(ValueKind::Value, Syntax::Python);
    value.check_rows(&[
        ("[1, {}],", "[1, {}] .7"),
        ("True}", "true .4"),
        ("-1 ,", "-1 .2"),
        ("'a' ,", "\"a\" .4"),
    ]);
}

#[test]
fn strings_without_escapes_pass_unparsed() {
    use crate::value::ValueReader;
    let case = keywords();
    let mut reader = ValueReader::new(ValueKind::Keywords);
    let mut json = String::new();
    let _ = reader.feed(&case.dialect(), "a='", &mut |text| json.push_str(text));
    let _ = reader.feed(&case.dialect(), "'x", &mut |text| json.push_str(text));
    assert!(reader.passes("a piece of a long string"));
    assert!(
        !reader.passes("it's")
            && !reader.passes("a\\")
            && !reader.passes("a\"")
            && !reader.passes("\n")
    );
}
