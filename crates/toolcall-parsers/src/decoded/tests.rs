//! Tests of decoding strings: which are decoded, and which are unchanged.

use alloc::{format, string::String, vec::Vec};

use serde_json::{Value, json};

use super::Decoder;
use crate::options::{ArgumentTypes, CallLimits};

/// Returns the decoded arguments, and whether a string was decoded. Checks that the result is the
/// same at every cut.
fn decoded(arguments: &str) -> (String, bool) {
    decoded_under(ArgumentTypes::Written, arguments)
}

fn decoded_under(types: ArgumentTypes, arguments: &str) -> (String, bool) {
    let schema = json!({"properties": {
        "list": {"type": "array", "items": {"type": "object"}},
        "map": {"type": ["object", "null"], "additionalProperties": {"type": "array"}},
        "either": {"type": ["array", "string"]},
        "text": {"type": "string"},
        "n": {"type": "integer"},
        "x": {"type": ["number", "null"]},
        "ok": {"type": "boolean"},
    }});
    let read = |pieces: &[&str], limits: CallLimits| read_under(types, pieces, (&schema, &limits));
    let whole = read(&[arguments], CallLimits::default());
    let cuts: Vec<usize> = arguments.char_indices().map(|(at, _)| at).collect();
    for &at in &cuts {
        let (head, tail) = arguments.split_at(at);
        assert_eq!(read(&[head, tail], CallLimits::default()), whole, "{arguments} cut at {at}");
    }
    let scalars: Vec<&str> = cuts
        .iter()
        .zip(cuts.iter().skip(1).chain([&arguments.len()]))
        .map(|(&from, &to)| &arguments[from..to])
        .collect();
    assert_eq!(read(&scalars, CallLimits::default()), whole, "{arguments}");
    let (json, reported) = whole;
    (json, reported.is_some())
}

/// Returns the JSON, and how long it was when a decoded string was reported.
fn read_under(
    types: ArgumentTypes,
    pieces: &[&str],
    (schema, limits): (&Value, &CallLimits),
) -> (String, Option<usize>) {
    let (mut decoder, mut out, mut reported) = (Decoder::default(), String::new(), None);
    decoder.begin(0, 0, types);
    for piece in pieces {
        let mut rest = *piece;
        while let Some(used) = decoder.feed(rest, schema, limits, &mut |json| out.push_str(json)) {
            assert_eq!(reported.replace(out.len()), None, "{pieces:?}");
            rest = &rest[used..];
        }
    }
    decoder.flush(&mut |json| out.push_str(json));
    (out, reported)
}

#[test]
fn strings_containing_the_declared_type_are_decoded() {
    for (wire, json) in [
        (r#"{"list": "[1, 2]"}"#, r#"{"list": [1, 2]}"#),
        (r#"{"list": " [\"a\\n\u00e9\"] \n", "text": "x"}"#, r#"{"list": ["a\né"], "text": "x"}"#),
        (r#"{"map": "{\"a\": [null]}"}"#, r#"{"map": {"a": [null]}}"#),
        (
            r#"{"map": {"m": "[]", "n": "[1]"}, "list": "[]"}"#,
            r#"{"map": {"m": [], "n": [1]}, "list": []}"#,
        ),
        (r#"{"list": [{}, "{\"k\": 1}"]}"#, r#"{"list": [{}, {"k": 1}]}"#),
        (r#"{"li\u0073t": "\u005b]"}"#, r#"{"li\u0073t": []}"#),
    ] {
        assert_eq!(decoded(wire), (String::from(json), true), "{wire}");
    }
}

#[test]
fn strings_without_the_declared_type_are_unchanged() {
    for wire in [
        r#"{"list": "[1, 2"}"#,
        r#"{"list": "[1] and more"}"#,
        r#"{"list": "{}", "map": "[]"}"#,
        r#"{"list": "", "map": "null"}"#,
        r#"{"either": "[1]", "text": "[1]", "other": "[1]"}"#,
        r#"{"text": {"list": "[1]"}}"#,
        r#"{"list": ["[1]"]}"#,
        r#"{"list": "[\"cut"#,
        r#"{"list": "[\"cut\"#,
    ] {
        assert_eq!(decoded(wire), (String::from(wire), false), "{wire}");
    }
}

#[test]
fn strings_over_the_limit_and_all_after_a_long_name_are_unchanged() {
    let schema = json!({"properties": {"list": {"type": "array"}}});
    let limits = CallLimits { value: 8, name: 8, ..CallLimits::default() };
    for (wire, json) in [
        (r#"{"list": "[1, 2, 3]", "list": "[]"}"#, r#"{"list": "[1, 2, 3]", "list": []}"#),
        (
            r#"{"a name that is long": 1, "list": "[]"}"#,
            r#"{"a name that is long": 1, "list": "[]"}"#,
        ),
    ] {
        let (out, _) = read_under(ArgumentTypes::Written, &[wire], (&schema, &limits));
        assert_eq!(out, json);
    }
}

#[test]
fn strings_that_are_exactly_a_declared_scalar_are_decoded_on_request() {
    for (wire, json) in [
        (r#"{"n": "5", "text": "5"}"#, r#"{"n": 5, "text": "5"}"#),
        (r#"{"x": "-1.50", "ok": "true"}"#, r#"{"x": -1.50, "ok": true}"#),
        (r#"{"x": "null", "ok": "false"}"#, r#"{"x": null, "ok": false}"#),
        (r#"{"n": "\u0035", "list": "[1]"}"#, r#"{"n": 5, "list": [1]}"#),
        (r#"{"n": "12345678901234567890123"}"#, r#"{"n": 12345678901234567890123}"#),
    ] {
        assert_eq!(
            decoded_under(ArgumentTypes::Declared, wire),
            (String::from(json), true),
            "{wire}"
        );
        let has_list = wire.contains("list");
        assert_eq!(decoded(wire).1, has_list, "{wire}");
    }
}

#[test]
fn strings_that_are_not_exactly_a_declared_scalar_are_unchanged() {
    let long = format!("{{\"n\": \"{}\"}}", "1".repeat(65));
    for wire in [
        r#"{"n": "1.5", "x": "1,5", "ok": "yes"}"#,
        r#"{"n": " 5", "x": "+1", "ok": "True"}"#,
        r#"{"n": "007", "x": "0x1", "ok": "1"}"#,
        r#"{"n": "", "x": "NaN", "ok": "null"}"#,
        r#"{"n": "five", "text": "5", "other": "5", "list": "5"}"#,
        r#"{"n": "5"#,
        &long,
    ] {
        assert_eq!(
            decoded_under(ArgumentTypes::Declared, wire),
            (String::from(wire), false),
            "{wire}"
        );
    }
}
