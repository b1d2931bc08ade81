//! Truncated and garbled markers.

use wire_remap::{RemapTable, StreamDecoder, Truncated};

use crate::support::pieces;

fn decoder(truncated: Truncated) -> StreamDecoder {
    StreamDecoder::new(&RemapTable::hermes_builder().truncated(truncated).build().unwrap())
}

// Contract: S2.15.
#[test]
fn marker_without_a_bracket_at_a_line_start_is_reported() {
    let decoder = decoder(Truncated::Diagnose);
    assert_eq!(
        pieces(&decoder, ["ok\n[[CALL]\n{}[[/CALL]]"]),
        ["text ok\n", "suspect Truncated [[CALL]", "text \n{}", "Wire Prose </tool_call> as text"]
    );
    assert_eq!(pieces(&decoder, ["[/CALL]] x"]), ["suspect Truncated [/CALL]]", "text  x"]);
    assert_eq!(pieces(&decoder, ["[CALL]]{}"]), ["suspect Truncated [CALL]]", "text {}"]);
}

// Contract: S2.15, S2.20.
#[test]
fn marker_without_a_bracket_is_recovered_on_request() {
    let decoder = decoder(Truncated::Recover);
    assert_eq!(
        pieces(&decoder, ["ok\n[[CALL]\n{}[[/CALL]\n"]),
        [
            "text ok\n",
            "Truncated Structural <tool_call>",
            "text \n{}",
            "Truncated Structural </tool_call>",
            "text \n"
        ]
    );
    let mut decoder = decoder;
    decoder.push_str("[[CALL]{}", &mut String::new());
    assert_eq!((decoder.tally().recovered, decoder.tally().decoded), (1, 1));
}

// Contract: S2.15.
#[test]
fn damaged_markers_in_prose_and_code_are_text() {
    for truncated in [Truncated::Diagnose, Truncated::Recover] {
        for text in
            ["[[CALLER] is prose", "see [[CALL] there", "```\n[[CALL]\n```", "`[[CALL]`", "[[a]"]
        {
            assert_eq!(pieces(&decoder(truncated), [text]), [format!("text {text}")]);
        }
    }
}

// Contract: S2.15.
#[test]
fn marker_truncated_by_the_end_is_reported_at_an_expected_place() {
    let decoder = decoder(Truncated::Diagnose);
    assert_eq!(pieces(&decoder, ["ok\n[[CALL"]), ["text ok\n", "suspect Cut [[CALL"]);
    assert_eq!(pieces(&decoder, ["ok\n[[CALL]"]), ["text ok\n", "suspect Truncated [[CALL]"]);
    assert_eq!(
        pieces(&decoder, ["[[CALL]]{}[[/CA"]),
        ["Wire Structural <tool_call>", "text {}[[/CA"]
    );
    assert_eq!(
        pieces(&decoder, ["[[CALL]]{}[[/CALL"]),
        ["Wire Structural <tool_call>", "text {}", "suspect Cut [[/CALL"]
    );
    assert_eq!(pieces(&decoder, ["see [[CALL"]), ["text see [[CALL"]);
}

#[test]
fn damaged_markers_are_text_when_ignored() {
    assert_eq!(pieces(&decoder(Truncated::Ignore), ["[[CALL]\n[[CALL"]), ["text [[CALL]\n[[CALL"]);
}

#[test]
fn recovery_keeps_typed_damaged_markers() {
    let table = RemapTable::hermes_builder().truncated(Truncated::Recover).build().unwrap();
    let text = "[[CALL]\nis one bracket short";
    let wire = table.encode(text);
    assert_eq!(wire, "[[~CALL]\nis one bracket short");
    assert_eq!(table.decode(&wire), text);
    assert_eq!(table.decode("[[CALL]\n{}"), "<tool_call>\n{}");
}

// Contract: S2.22.
#[test]
fn garbled_spellings_are_decoded_on_request_only() {
    let text = "[[call]]{}[[ /CALL ]][[Call]][[ CALL ]]";
    assert_eq!(RemapTable::hermes().decode(text), text);
    let table = RemapTable::hermes_builder().accept_garbled().build().unwrap();
    let canonical = "<tool_call>{}</tool_call><tool_call><tool_call>";
    assert_eq!(table.decode(text), canonical);
    assert_eq!(table.decode(&table.encode(text)), text);
    let mut decoder = StreamDecoder::new(&table);
    decoder.push_str(text, &mut String::new());
    assert_eq!((decoder.tally().garbled, decoder.tally().decoded), (4, 4));
}
