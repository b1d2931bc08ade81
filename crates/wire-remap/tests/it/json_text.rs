//! Markers inside JSON text.

use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::Value;
use wire_remap::{RemapTable, StreamEncoder, Syntax};

use crate::support::texts;

#[test]
fn markers_in_json_are_found_in_every_spelling() {
    let table = RemapTable::hermes();
    for spelled in
        ["</tool_call>", r"<\/tool_call>", r"\u003c/tool_call\u003E", r"<\u002ftool_call>"]
    {
        let text = format!(r#"{{"a":"x {spelled} y"}}"#);
        assert_eq!(table.encode_json(&text), r#"{"a":"x [[/CALL]] y"}"#);
    }
    assert_eq!(table.decode_json(r#"{"a":"[[\/CALL]]"}"#), r#"{"a":"</tool_call>"}"#);
}

#[test]
fn escaped_json_holds_at_most_the_documented_bytes() {
    let table = RemapTable::builder().pair("<a>", "((A))").build().expect("a table");
    for syntax in [Syntax::Text, Syntax::Json] {
        let mut encoder = StreamEncoder::with_syntax(&table, syntax);
        encoder.push(r"<\ud83d", &mut String::new());
        assert_eq!(encoder.held(), if syntax == Syntax::Json { 7 } else { 0 });
        encoder.reset();
        encoder.push(r"\u003c\u0061\ud83d\ud83", &mut String::new());
        let most = 6 * table.max_held() + 11;
        assert!(encoder.held() <= most, "{} of {most}", encoder.held());
    }
}

#[test]
fn json_text_outside_markers_is_unchanged() {
    let table = RemapTable::hermes();
    let text =
        r#"{ "n": 1.0e5, "s": "\u00e9\/\ud83d\ude00 \ud800 \\<tool_call>\n", "t":"\u0041" }"#;
    let wire = table.encode_json(text);
    assert_eq!(wire, text.replace("<tool_call>", "[[CALL]]"));
    assert_eq!(table.decode_json(&wire), text);
}

// Contract: S2.5.
#[test]
fn text_without_markers_is_borrowed() {
    let table = RemapTable::hermes();
    for text in [r#"{"a":"\n\u00e9[[~"}"#, r#""\"#, r#""\u12"#, r#""\ud83d\ude"#, r#""\ud83dx\q"#] {
        assert!(matches!(table.encode_json(text), Cow::Borrowed(same) if same == text), "{text}");
        assert!(matches!(table.decode_json(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn replacements_are_escaped_for_json() {
    let table = RemapTable::builder().pair("<say \"x\">", "[[a\\b\n]]").build().unwrap();
    let text = serde_json::to_string("1 <say \"x\"> 2").unwrap();
    let wire = table.encode_json(&text);
    assert_eq!(serde_json::from_str::<String>(&wire).unwrap(), "1 [[a\\b\n]] 2");
    assert_eq!(table.decode_json(&wire), text);
}

#[test]
fn marker_with_quotes_is_found_in_strings_and_not_across_them() {
    let table = RemapTable::builder().pair("<say x=\"", "[[SAY:\"").build().unwrap();
    for (value, wire) in [
        (r#"{"a": "<say x=\"1"}"#, r#"{"a": "[[SAY:\"1"}"#),
        (r#"{"<say x=": "<say x="}"#, r#"{"<say x=": "<say x="}"#),
        (r#"["<say x=","<say x=\u0022"]"#, r#"["<say x=","[[SAY:\""]"#),
    ] {
        let encoded = table.encode_json(value);
        assert_eq!(encoded, wire);
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&table.decode_json(&encoded)), read(value));
    }
}

#[test]
fn damaged_marker_in_json_is_unchanged() {
    let table = RemapTable::hermes();
    let wire = r#""[[CALL\u005d[[CALL]]\u005bCALL]]""#;
    assert_eq!(table.decode_json(wire), wire.replace("[[CALL]]", "<tool_call>"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    // Contract: S2.2, S2.3.
    #[test]
    fn string_values_are_remapped_like_texts(text in texts(), spelled in prop::collection::vec(any::<bool>(), 80)) {
        let table = RemapTable::hermes();
        // Spell some characters as unicode escapes.
        let mut json = String::from("\"");
        for (i, c) in text.chars().enumerate() {
            if spelled[i % spelled.len()] {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    json.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                let one = serde_json::to_string(&c.to_string()).unwrap();
                json.push_str(&one[1..one.len() - 1]);
            }
        }
        json.push('"');
        let wire = table.encode_json(&json).into_owned();
        let value: String = serde_json::from_str(&wire).unwrap();
        prop_assert_eq!(&value, &*table.encode(&text));
        let back: Value = serde_json::from_str(&table.decode_json(&wire)).unwrap();
        prop_assert_eq!(back, Value::from(text));
    }
}
