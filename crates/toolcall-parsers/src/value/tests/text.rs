//! Tests of plain text, members of objects, and escaping.

use alloc::{format, string::String, vec::Vec};

use super::harness::Case;
use crate::{
    CallLimits,
    value::{Member, Members, Scanned, Syntax, TextReader, ValueKind, escape},
};

fn read(syntax: Syntax, key: bool, pieces: &[&str]) -> String {
    let limits = CallLimits { name: 8, ..CallLimits::default() };
    let case = Case { limits, ..Case::new(ValueKind::Value, syntax) };
    let dialect = case.dialect();
    let mut reader = TextReader::new();
    if key {
        reader.restart_key();
    }
    let (mut tail, mut done) = (String::new(), 0);
    for piece in pieces {
        tail.push_str(piece);
        match reader.feed(&dialect, &tail) {
            Scanned::More { used } => {
                done += used;
                tail.drain(..used);
            }
            Scanned::End { used } => return format!("{} .{}", reader.text(), done + used),
            Scanned::Bad { at, .. } => return format!("!{}", done + at),
            Scanned::Noted { .. } => return String::from("a note"),
        }
    }
    String::from("?")
}

#[test]
fn keys_and_strings_are_unescaped_up_to_a_limit() {
    use Syntax::{Json, Lenient, Literal, Python};
    let rows = [
        (Json, false, "\"a\\n\\u00e9\\\"\n\": 1", "a\né\"\n .14"),
        (Json, false, "\"12345678\"", "12345678 .10"),
        (Json, false, "\"123456789\"", "!9"),
        (Json, false, "\"1234567é\"", "!8"),
        (Json, false, "\"1234567\\u00e9\"", "!8"),
        (Json, false, "'a'", "!0"),
        (Json, false, "\"\\x\"", "!1"),
        (Json, true, "a: 1", "!0"),
        (Lenient, true, "a: 1", "a .1"),
        (Lenient, false, "a: 1", "!0"),
        (Lenient, true, "'it\\'s' : 1", "it's .7"),
        (Python, false, "u'it\\'s',", "it's .8"),
        (Python, false, "'a' 'b' ,", "ab .8"),
        (Python, false, "'a 'b' c'}", "a 'b' c .9"),
        (Python, true, "'name': 1", "name .6"),
        (Python, true, "name: 1", "!0"),
        (Python, false, "b'a'", "!0"),
        (Literal, true, "a key : 1", "a key .6"),
        (Literal, true, "`a`: 1", "a .3"),
    ];
    for (syntax, key, wire, expected) in rows {
        assert_eq!(read(syntax, key, &[wire]), expected, "{wire}");
        let scalars: Vec<&str> = wire.split_inclusive(|_: char| true).collect();
        assert_eq!(read(syntax, key, &scalars), expected, "{wire}");
        for (cut, _) in wire.char_indices() {
            let (head, tail) = wire.split_at(cut);
            assert_eq!(read(syntax, key, &[head, tail]), expected, "{head} + {tail}");
        }
    }
}

/// Returns each key with `=` and its value as JSON, then `.` or `!` and the offset of the end.
fn members(syntax: Syntax, wire: &str) -> String {
    let case = Case::new(ValueKind::Value, syntax);
    let dialect = case.dialect();
    let (mut members, mut i, mut seen) = (Members::new(), 0, String::new());
    loop {
        match members.next(&dialect, &wire[i..]) {
            Member::More { .. } => return seen + "?",
            Member::Bad { at } => return format!("{seen}!{}", i + at),
            Member::End { used } => return format!("{seen}.{}", i + used),
            Member::Key { used } => {
                i += used;
                let mut key = TextReader::new();
                key.restart_key();
                let Scanned::End { used } = key.feed(&dialect, &wire[i..]) else {
                    return seen + "key?";
                };
                i += used;
                seen += &format!("{}=", key.text());
            }
            Member::Value { used } => {
                i += used;
                let mut value = crate::value::ValueReader::new(ValueKind::Value);
                loop {
                    let out = &mut |text: &str| seen.push_str(text);
                    match value.feed(&dialect, &wire[i..], out) {
                        Scanned::Noted { used, .. } => i += used,
                        Scanned::End { used } => {
                            i += used;
                            break;
                        }
                        _ => return seen + "value?",
                    }
                }
                seen.push(' ');
            }
        }
    }
}

#[test]
fn members_of_objects_are_found_in_every_dialect() {
    let rows = [
        (Syntax::Json, " {\"name\" : \"f\", \"a\":{}} ", "name=\"f\" a={} .23"),
        (Syntax::Json, "{}", ".2"),
        (Syntax::Json, "{\"a\": 1,}", "a=1 !8"),
        (Syntax::Json, "{a: 1}", "!1"),
        (Syntax::Json, "[", "!0"),
        (Syntax::Lenient, "{name: 'f', /* x */ 'a': 1,}", "name=\"f\" a=1 .28"),
        (Syntax::Python, "{'name': 'f', 'a': (1, None),}", "name=\"f\" a=[1, null] .30"),
        (Syntax::Python, "{'a'}", "a=!4"),
        (Syntax::Literal, "{name: f, a: [x]}", "name=\"f\" a=[\"x\"] .17"),
    ];
    for (syntax, wire, expected) in rows {
        assert_eq!(members(syntax, wire), expected, "{wire}");
    }
}

#[test]
fn escaped_text_is_batched_and_plain_text_is_one_slice() {
    let mut pieces = Vec::new();
    escape("nothing to escape é", |piece| pieces.push(piece.as_ptr()));
    assert_eq!(pieces.len(), 1);
    let text = "say \"hi\"\n\\ \u{1}\u{8} é".repeat(1000);
    let (mut json, mut fragments) = (String::from("\""), 0);
    escape(&text, |piece| {
        fragments += 1;
        json.push_str(piece);
    });
    json.push('"');
    assert_eq!(serde_json::from_str::<String>(&json).ok(), Some(text));
    assert!(fragments < json.len() / 400, "{fragments}");
}
