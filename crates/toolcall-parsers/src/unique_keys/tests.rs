//! Tests of the filter of keys.

use alloc::{format, string::String, vec::Vec};

use super::UniqueKeys;

/// Returns the filtered text, and how long it was when each member began to be dropped.
fn filtered(pieces: &[&str]) -> (String, Vec<usize>) {
    let mut keys = UniqueKeys::default();
    keys.begin(0, 1024);
    filtered_by(&mut keys, pieces)
}

fn filtered_by(keys: &mut UniqueKeys, pieces: &[&str]) -> (String, Vec<usize>) {
    let mut out = String::new();
    let mut dropped = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while let Some(used) = keys.feed(rest, &mut |text| out.push_str(text)) {
            dropped.push(out.len());
            rest = &rest[used..];
        }
    }
    keys.flush(&mut |text| out.push_str(text));
    assert_eq!(keys.has_dropped(), !dropped.is_empty());
    (out, dropped)
}

#[test]
fn key_counts_once_at_every_level_however_the_text_is_cut() {
    for (text, expected) in [
        (r#"{"a": 1, "b": 2}"#, r#"{"a": 1, "b": 2}"#),
        (r#"{"a": 1, "a": 2}"#, r#"{"a": 1}"#),
        (r#"{"a": 1, "a": 2, "b": 3}"#, r#"{"a": 1, "b": 3}"#),
        (
            r#"{"a": 1, "b": {"a": 2, "a": [1, {"x": "}"}]}, "b": "," , "c":0}"#,
            r#"{"a": 1, "b": {"a": 2}, "c":0}"#,
        ),
        (r#"{"a": "\"", "\u0061": {"a": 1}, "é\\": 1, "\u00e9\\": 2}"#, r#"{"a": "\"", "é\\": 1}"#),
        (r#"[{"a": 1}, {"a": 1, "a": "x,y"}]"#, r#"[{"a": 1}, {"a": 1}]"#),
        (r#"{"": 1, "": 2}"#, r#"{"": 1}"#),
        (r#"{"a": {"b": 1}, "b": 1, "a": {"b": 2}}"#, r#"{"a": {"b": 1}, "b": 1}"#),
        (r#"{"\ud800": 1, "\ud800": 2}"#, r#"{"\ud800": 1}"#),
        // What is not closed is emitted as far as it came.
        (r#"{"a": 1, "a"#, r#"{"a": 1, "a"#),
        (r#"{"a": 1, "a": 2"#, r#"{"a": 1"#),
    ] {
        let whole = filtered(&[text]);
        assert_eq!(whole.0, expected, "{text}");
        let cuts: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        for &at in &cuts {
            let (head, tail) = text.split_at(at);
            assert_eq!(filtered(&[head, tail]), whole, "{text} at {at}");
        }
        let each: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        assert_eq!(filtered(&each), whole, "{text}");
        let fewer = text.matches(':').count() > expected.matches(':').count();
        assert_eq!(!whole.1.is_empty(), fewer, "{text}");
    }
}

#[test]
fn objects_with_many_keys_are_compared_too() {
    let members: Vec<String> = (0..100).map(|n| format!("\"k{n}\": {n}")).collect();
    let inner = format!("{{{}}}", members.join(", "));
    let text = format!("{{\"a\": {inner}, \"b\": {inner}, \"a\": {inner}}}");
    assert_eq!(filtered(&[&text]).0, format!("{{\"a\": {inner}, \"b\": {inner}}}"));
    let twice = format!("{{{}, \"k3\": 0, \"k99\": 0}}", members.join(", "));
    assert_eq!(filtered(&[&twice]).0, inner);
}

#[test]
fn keys_over_the_limit_pass_and_are_reported_at_every_cut() {
    let long = "k".repeat(2_000);
    let text = format!("{{\"{long}\": 1, \"a\": 2, \"{long}\": 3, \"a\": 4}}");
    for step in [1, 7, 1_023, 1_024, 1_025, text.len()] {
        let pieces: Vec<&str> =
            (0..text.len()).step_by(step).map(|at| &text[at..text.len().min(at + step)]).collect();
        let mut keys = UniqueKeys::default();
        keys.begin(0, 1024);
        let out = filtered_by(&mut keys, &pieces).0;
        assert_eq!(out, text.replace(", \"a\": 4", ""), "{step}");
        assert!(keys.has_overflowed());
    }
}
