//! Decoding undoes encoding, for every text and every table.

use std::borrow::Cow;

use proptest::prelude::*;
use wire_remap::{Mode, RemapTable, Truncated};

use crate::support::{Naive, check_exact, reserved, texts};

fn exact(table: &RemapTable, text: &str) -> Result<(), String> {
    check_exact(
        text,
        &reserved(table),
        |text| table.encode(text).into_owned(),
        |text| table.decode(text).into_owned(),
    )
}

#[test]
fn canonical_markers_round_trip_as_wire_markers() {
    let table = RemapTable::hermes();
    let text = "<tool_call>\nopen({ path: \"a\" })\n</tool_call> and <tool_call>2</tool_call>";
    let wire = table.encode(text);
    assert_eq!(wire, "[[CALL]]\nopen({ path: \"a\" })\n[[/CALL]] and [[CALL]]2[[/CALL]]");
    assert_eq!(table.decode(&wire), text);
}

// Contract: S2.4, X.12.
#[test]
fn typed_wire_markers_are_escaped_and_restored() {
    let table = RemapTable::hermes();
    for (text, wire) in [
        ("[[CALL]]", "[[~CALL]]"),
        ("[[/CALL]]", "[[/~CALL]]"),
        ("[[~CALL]]", "[[~~~CALL]]"),
        ("[[~~CALL]]", "[[~~~~CALL]]"),
        ("[[[CALL]]]", "[[[~CALL]]]"),
        ("[[CALL<tool_call>", "[[CALL[[CALL]]"),
        ("[[~<tool_call>", "[[~[[CALL]]"),
        ("[[~[[~CALL]]", "[[~[[~~~CALL]]"),
        ("[<tool_call>]", "[[[CALL]]]"),
    ] {
        assert_eq!(table.encode(text), wire);
        assert_eq!(table.decode(wire), text);
    }
}

#[test]
fn compact_spelling_round_trips() {
    let table = RemapTable::hermes();
    let text = "<toolcall>a</toolcall><tool_call>b</tool_call>";
    let wire = table.encode(text);
    assert_eq!(wire, "[[TOOLCALL]]a[[/TOOLCALL]][[CALL]]b[[/CALL]]");
    assert_eq!(table.decode(&wire), text);
}

// Contract: S2.5.
#[test]
fn text_without_markers_is_borrowed() {
    let table = RemapTable::hermes();
    for text in ["", "let x = [[a]]; // ~[[", "[[~x", "[[CALLER]", "[[~~CALL", "<tool_", "[[CALL"] {
        assert!(matches!(table.encode(text), Cow::Borrowed(same) if same == text), "{text:?}");
        assert!(matches!(table.decode(text), Cow::Borrowed(same) if same == text), "{text:?}");
    }
}

// Contract: S2.4.
#[test]
fn canonical_text_is_unchanged_by_decoding() {
    let table = RemapTable::hermes();
    let text = "a <tool_call>{}</tool_call> [[~x]] <toolcall>";
    assert_eq!(table.decode(text), text);
    assert_eq!(table.decode(&table.decode("[[CALL]]{}")), "<tool_call>{}");
}

// Contract: S2.3.
#[test]
fn escaped_wire_text_contains_no_canonical_marker() {
    let table = RemapTable::hermes();
    let wire = table.encode("<tool_call>[[CALL]]</tool_call><toolcall></toolcall>").into_owned();
    let json = serde_json::to_string(&wire).unwrap();
    let html = wire.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for marker in reserved(&table) {
        let escaped = marker.replace('<', "&lt;").replace('>', "&gt;");
        let unicode = marker.replace('<', "\\u003c").replace('>', "\\u003e");
        for form in [marker, &escaped, &unicode] {
            assert!(!json.contains(form) && !html.contains(form));
        }
    }
}

// Contract: S2.23.
#[test]
fn wire_markers_without_the_nonce_are_text() {
    let table = RemapTable::hermes_builder().nonce("k3x9").build().unwrap();
    assert_eq!(table.encode("<tool_call>[[CALL]]"), "[[CALL:k3x9]][[CALL]]");
    assert_eq!(table.decode("[[CALL]] [[CALL:other]]"), "[[CALL]] [[CALL:other]]");
    assert_eq!(table.encode("[[/CALL:k3x9]]"), "[[/~CALL:k3x9]]");
    exact(&table, "[[CALL:k3x9]][[~CALL:k3x9]]<tool_call>").unwrap();
    let other = RemapTable::hermes_builder().nonce("zzz").build().unwrap();
    assert_eq!(table.version(), other.version());
}

#[test]
fn checker_rejects_a_remap_without_escapes() {
    let plain = RemapTable::hermes_plain();
    assert!(exact(&plain, "<tool_call> is fine").is_ok());
    assert!(exact(&plain, "someone typed [[CALL]]").is_err());
}

#[test]
fn checker_rejects_a_remap_whose_escapes_are_not_escaped() {
    let encode =
        |text: &str| text.replace("[[CALL]]", "[[~CALL]]").replace("<tool_call>", "[[CALL]]");
    let decode =
        |text: &str| text.replace("[[CALL]]", "<tool_call>").replace("[[~CALL]]", "[[CALL]]");
    let check = |text| check_exact(text, &["<tool_call>"], encode, decode);
    assert!(check("[[CALL]] <tool_call>").is_ok());
    assert!(check("[[~CALL]]").is_err());
}

/// Generates markers of few characters, so that they often overlap.
fn marker() -> impl Strategy<Value = String> {
    "[\\[<]{1,2}/?[ab]{1,2}[\\]>]{1,2}|[ab\\[\\]]{1,4}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    // Contract: S2.2, S2.3.
    #[test]
    fn every_text_round_trips_over_the_default_table(text in texts()) {
        exact(&RemapTable::hermes(), &text).map_err(TestCaseError::fail)?;
    }

    // Contract: S2.2, S2.22.
    #[test]
    fn every_text_round_trips_with_garbled_forms_and_recovery(text in texts()) {
        let builder = RemapTable::hermes_builder().accept_garbled().truncated(Truncated::Recover);
        exact(&builder.clone().build().unwrap(), &text).map_err(TestCaseError::fail)?;
        let table = builder.nonce("CALL").build().unwrap();
        exact(&table, &text.replace("CALL", "CALL:CALL")).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn default_table_equals_the_brute_force_remap(text in texts()) {
        let table = RemapTable::hermes();
        prop_assert_eq!(table.encode(&text), Naive::encode(&text));
        prop_assert_eq!(table.decode(&text), Naive::decode(&text));
    }

    // Contract: X.17.
    #[test]
    fn echoed_text_has_the_same_wire_form_in_the_next_turn(text in texts()) {
        let table = RemapTable::hermes();
        // The first decoding makes any text canonical, and later turns keep it.
        let canonical = table.decode(&text).into_owned();
        let wire = table.encode(&canonical).into_owned();
        let back = table.decode(&wire).into_owned();
        prop_assert_eq!(&back, &canonical);
        prop_assert_eq!(table.encode(&back).into_owned(), wire);
    }

    // Contract: S2.1, S2.2.
    #[test]
    fn every_accepted_table_is_exact(
        markers in prop::collection::vec((marker(), marker()), 1..4),
        seed in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..10),
        options in 0..8,
    ) {
        let mut builder = RemapTable::builder().mode(Mode::Exact);
        for (canonical, wire) in &markers {
            builder = builder.pair(canonical, wire);
        }
        if options & 1 != 0 {
            builder = builder.accept_garbled();
        }
        builder = builder.truncated(match options >> 1 {
            0 | 1 => Truncated::Diagnose,
            2 => Truncated::Recover,
            _ => Truncated::Ignore,
        });
        let Ok(table) = builder.build() else { return Ok(()) };
        // Texts are pieces of the markers with escapes between them.
        let mut text = String::new();
        for (which, from, to) in &seed {
            let mut sources = vec!["~".to_string(), "~~".into(), "\n".into(), "ab".into(), "]".into()];
            for pair in table.pairs() {
                let wire = table.encode(pair.wire()).into_owned();
                sources.extend([pair.canonical().into(), pair.wire().into(), wire]);
            }
            let source = &sources[which.index(sources.len())];
            let (from, to) = (from.index(source.len() + 1), to.index(source.len() + 1));
            text.push_str(if from < to { &source[from..to] } else { source });
        }
        exact(&table, &text).map_err(TestCaseError::fail)?;
    }
}
