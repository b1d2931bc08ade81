//! Places of markers: structure, prose, code, quotes.

use wire_remap::{MarkerDetection, RemapTable, StreamDecoder};

use crate::support::pieces;

/// Returns the markers of a text: their place, and whether they count.
fn places(text: &str) -> Vec<String> {
    let mut found = pieces(&StreamDecoder::new(&RemapTable::hermes()), [text]);
    found.retain(|piece| piece.starts_with("Wire"));
    found
}

#[test]
fn call_on_its_own_lines_is_structural() {
    assert_eq!(
        places("Sure.\n[[CALL]]\n{\"name\":\"a\"}\n[[/CALL]]\nDone."),
        ["Wire Structural <tool_call>", "Wire Structural </tool_call>"]
    );
    assert_eq!(places("  \t[[CALL]]"), ["Wire Structural <tool_call>"]);
}

#[test]
fn blocks_on_one_line_are_structural() {
    let found = places("[[CALL]]{}[[/CALL]][[CALL]]{}[[/CALL]] [[CALL]]");
    assert!(found.iter().all(|piece| piece.starts_with("Wire Structural")), "{found:?}");
}

// Contract: S2.14.
#[test]
fn markers_in_prose_fences_and_code_are_text() {
    assert_eq!(places("write [[CALL]] first"), ["Wire Prose <tool_call> as text"]);
    assert_eq!(places("use `[[CALL]]` here"), ["Wire InlineCode <tool_call> as text"]);
    assert_eq!(places("``a ` b [[CALL]]``"), ["Wire InlineCode <tool_call> as text"]);
    assert_eq!(places("say \"[[CALL]]\""), ["Wire Quotes <tool_call> as text"]);
    assert_eq!(
        places("```text\n[[CALL]]\n```\n[[CALL]]"),
        ["Wire Fence <tool_call> as text", "Wire Structural <tool_call>"]
    );
    assert_eq!(
        places("~~~~\n```\n~~~\n[[CALL]]\n~~~~\n[[CALL]]"),
        ["Wire Fence <tool_call> as text", "Wire Structural <tool_call>"]
    );
}

#[test]
fn stray_backtick_or_quote_ends_with_its_line() {
    assert_eq!(places("it`s 5\" wide\n[[CALL]]"), ["Wire Structural <tool_call>"]);
}

// Contract: S2.14, X.13.
#[test]
fn closer_inside_an_argument_string_is_text() {
    assert_eq!(
        places("[[CALL]]{\"text\": \"say [[/CALL]] \\\" and [[CALL]]\"}[[/CALL]]"),
        [
            "Wire Structural <tool_call>",
            "Wire Quotes </tool_call> as text",
            "Wire Quotes <tool_call> as text",
            "Wire Structural </tool_call>"
        ]
    );
}

// Contract: S2.14.
#[test]
fn detection_everywhere_reports_markers_in_prose_and_code() {
    let text = "write [[CALL]] or `[[/CALL]]`";
    let decoder = StreamDecoder::new(&RemapTable::hermes()).detection(MarkerDetection::Everywhere);
    assert_eq!(
        pieces(&decoder, [text]),
        [
            "text write ",
            "Wire Prose <tool_call>",
            "text  or `",
            "Wire InlineCode </tool_call>",
            "text `"
        ]
    );
}

// Contract: X.12.
#[test]
fn echoed_escape_is_a_literal() {
    let table = RemapTable::hermes();
    let wire = table.encode("[[CALL]]\n").into_owned();
    assert_eq!(pieces(&StreamDecoder::new(&table), [&*wire]), ["literal [[CALL]]", "text \n"]);
}

// Contract: X.14.
#[test]
fn canonical_markers_of_the_model_are_counted_and_paired() {
    let mut decoder = StreamDecoder::new(&RemapTable::hermes());
    let mut out = String::new();
    decoder.push_str("[[CALL]]{}</tool_", &mut out);
    decoder.push_str("call>[[CALL]]{}[[/CALL]]<tool_call>{}[[/CALL]]", &mut out);
    assert_eq!(out, "<tool_call>{}</tool_call><tool_call>{}</tool_call><tool_call>{}</tool_call>");
    let tally = decoder.tally();
    assert_eq!((tally.canonical, tally.decoded, tally.mixed), (2, 4, 2));
    assert_eq!(
        pieces(&decoder, ["[[CALL]]{}</tool_call>[[CALL]]"]),
        ["Wire Structural <tool_call>", "text {}</tool_call>", "Wire Structural <tool_call>"]
    );
}
