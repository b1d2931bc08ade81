//! The plain swap without escapes.

use std::borrow::Cow;

use wire_remap::{MarkerPolicy, Provenance, Regime, RemapTable};

#[test]
fn plain_mode_swaps_substrings_and_escapes_nothing() {
    let table = RemapTable::hermes_plain();
    let text = "<tool_call>x</tool_call> [[~CALL]]";
    assert_eq!(table.encode(text), "[[CALL]]x[[/CALL]] [[~CALL]]");
    assert_eq!(table.decode("[[CALL]]x[[/CALL]] [[~CALL]]"), text);
    // This mode changes typed wire markers.
    assert_eq!(table.encode("[[CALL]]"), "[[CALL]]");
    assert_eq!(table.decode("[[CALL]]"), "<tool_call>");
}

#[test]
fn plain_mode_leaves_other_text_borrowed() {
    let table = RemapTable::hermes_plain();
    let text = "no markers here, just code: let x = [[a]]; ~";
    assert!(matches!(table.encode(text), Cow::Borrowed(_)));
    assert!(matches!(table.decode(text), Cow::Borrowed(_)));
}

#[test]
fn decoding_twice_equals_decoding_once() {
    let table = RemapTable::hermes_plain();
    let once = table.decode("[[CALL]]\n{}\n[[/CALL]][[CALL]]{}[[/CALL]]").into_owned();
    assert!(!once.contains("[["));
    assert_eq!(table.decode(&once), once);
}

#[test]
fn plain_mode_refuses_escape_literal() {
    let quote = Provenance { user: MarkerPolicy::EscapeLiteral, ..Provenance::default() };
    let error = Regime::on(RemapTable::hermes_plain()).with_provenance(quote).unwrap_err();
    assert_eq!(
        error.to_string(),
        "remap regime: EscapeLiteral needs a table in exact mode, found plain mode"
    );
    assert!(Regime::on(RemapTable::hermes()).with_provenance(quote).is_ok());
}
