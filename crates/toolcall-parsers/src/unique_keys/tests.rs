//! Tests of the filter of keys.

use alloc::{format, string::String, vec::Vec};

use super::UniqueKeys;

fn filtered(pieces: &[&str]) -> (String, bool) {
    let (mut keys, mut out) = (UniqueKeys::default(), String::new());
    keys.begin(0, 1024);
    let mut dropped = false;
    for piece in pieces {
        dropped |= keys.feed(piece, &mut |text| out.push_str(text));
    }
    keys.flush(&mut |text| out.push_str(text));
    assert_eq!(keys.has_dropped(), dropped);
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
        let cuts: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        for &at in &cuts {
            let (head, tail) = text.split_at(at);
            assert_eq!(filtered(&[head, tail]).0, expected, "{text} at {at}");
        }
        let each: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        assert_eq!(
            filtered(&each),
            (expected.into(), text.matches(':').count() > expected.matches(':').count())
        );
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
        let (mut keys, mut out) = (UniqueKeys::default(), String::new());
        keys.begin(0, 1024);
        for at in (0..text.len()).step_by(step) {
            let piece = &text[at..text.len().min(at + step)];
            keys.feed(piece, &mut |text| out.push_str(text));
        }
        assert_eq!(out, text.replace(", \"a\": 4", ""), "{step}");
        assert!(keys.has_overflowed());
    }
}
