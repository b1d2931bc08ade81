//! The JSON reader takes what RFC 8259 allows, and compares values.

use stream_laws::json::{MAX_NESTING, parse, parse_object};

#[test]
fn json_values_are_equal_in_every_spelling() {
    for (one, other) in [
        ("1000.0", "1e3"),
        ("-0.0", "0"),
        ("0.00120", "12E-4"),
        ("1", "10e-1"),
        (r#"{"a":1,"b":2}"#, r#" { "b" : 2.0 , "a" : 1 } "#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#""\u00fc\ud83e\udd80\n\/""#, "\"ü🦀\\u000a/\""),
        ("[true,false,null,[]]", " [ true , false , null , [ ] ]\n"),
    ] {
        assert_eq!(parse(one).unwrap(), parse(other).unwrap(), "{one} {other}");
    }
}

#[test]
fn different_json_values_are_not_equal() {
    for (one, other) in [
        ("9007199254740993", "9007199254740992"),
        ("1", "-1"),
        ("1", "10"),
        ("1", "\"1\""),
        ("[1,2]", "[2,1]"),
        (r#"{"a":null}"#, "{}"),
    ] {
        assert_ne!(parse(one).unwrap(), parse(other).unwrap(), "{one} {other}");
    }
}

#[test]
fn text_that_is_not_json_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "tru",
        "NaN",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"a\nb\"",
        "{} {}",
        "[1 2]",
        "{\"a\" 1}",
        "\"\\ü\"",
        "\"\\uü123\"",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn json_errors_name_the_byte_and_the_expected_token() {
    let error = parse(r#"{"a" 1}"#).unwrap_err();
    assert_eq!(error.to_string(), "byte 5: expected a colon");
}

#[test]
fn hostile_nesting_is_refused_without_overflow() {
    let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
    parse(&nested(MAX_NESTING)).unwrap();
    parse(&nested(MAX_NESTING + 1)).unwrap_err();
    parse(&"[".repeat(1_000_000)).unwrap_err();
}

#[test]
fn only_an_object_is_recognised_as_one() {
    parse_object("{}").unwrap();
    parse_object("[]").unwrap_err();
    parse_object("{}x").unwrap_err();
}
