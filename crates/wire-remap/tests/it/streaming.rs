//! Streams: they equal whole texts, and hold only possible markers.

use proptest::prelude::*;
use wire_remap::{RemapTable, StreamDecoder, StreamEncoder, Syntax, Truncated};

use crate::support::{FRAGMENTS, Machine, check_cuts, pieces, run, texts};

fn tables() -> [RemapTable; 3] {
    let builder = RemapTable::hermes_builder().accept_garbled().truncated(Truncated::Recover);
    [RemapTable::hermes(), RemapTable::hermes_plain(), builder.build().unwrap()]
}

fn check(table: &RemapTable, text: &str) -> Result<(), String> {
    check_cuts(&StreamEncoder::new(table), text, &table.encode(text))?;
    check_cuts(&StreamDecoder::new(table), text, &table.decode(text))?;
    let json = Syntax::Json;
    check_cuts(&StreamEncoder::with_syntax(table, json), text, &table.encode_json(text))?;
    check_cuts(&StreamDecoder::with_syntax(table, json), text, &table.decode_json(text))
}

// Contract: S2.6, S2.7.
#[test]
fn decoded_text_is_the_same_at_every_cut() {
    for table in tables() {
        for text in [
            "<tool_call>é</tool_call>[[CALL]]◁[[~~~~CALL]]\n[[CALL]x[[/CALL",
            "[[~[[~~[[~~~TOOLCALL]] [[/~~CALL]][[CALL",
            "[[~CALL] [[~~CALL] [[~~~CALL]\n[[~~~CALL",
            r#"{"a":"<\/tool_call>[[\/CALL]]\u005b[CALL]]\ud83d\ude00\ud83d\u12"#,
        ] {
            check(&table, text).unwrap();
        }
    }
}

// Contract: S2.6.
#[test]
fn complete_marker_is_never_delayed() {
    for table in tables() {
        for pair in table.pairs() {
            let (mut out, mut decoder) = (String::new(), StreamDecoder::new(&table));
            decoder.push_str(pair.wire(), &mut out);
            assert_eq!((&*out, decoder.held()), (pair.canonical(), 0));
            let (mut out, mut encoder) = (String::new(), StreamEncoder::new(&table));
            encoder.push(pair.canonical(), &mut out);
            assert_eq!((&*out, encoder.held()), (pair.wire(), 0));
        }
    }
    let mut out = String::new();
    let mut decoder = StreamDecoder::new(&RemapTable::hermes());
    decoder.push_str("[[~CALL]][[~~~CALL]][[~~CALL]]", &mut out);
    assert_eq!((&*out, decoder.held()), ("[[CALL]][[~CALL]]<tool_call>", 0));
}

#[test]
fn escape_character_outside_a_marker_is_not_held() {
    let mut out = String::new();
    let mut decoder = StreamDecoder::new(&RemapTable::hermes());
    for (chunk, held) in [
        ("a~", 0),
        ("~", 0),
        ("[", 1),
        ("x[[", 2),
        ("~", 3),
        ("~", 4),
        ("~", 2),
        ("~", 2),
        ("C", 3),
        ("x", 0),
    ] {
        decoder.push_str(chunk, &mut out);
        assert_eq!(decoder.held(), held, "after {out:?} and {chunk:?}");
    }
    assert_eq!(out, "a~~[x[[~~~~Cx");
}

#[test]
fn canonical_markers_pass_a_decoder_without_being_held() {
    let mut out = String::new();
    let mut decoder = StreamDecoder::new(&RemapTable::hermes());
    decoder.push_str("a <tool_ca", &mut out);
    assert_eq!((&*out, decoder.held()), ("a <tool_ca", 0));
    decoder.push_str("ll>", &mut out);
    assert_eq!((&*out, decoder.tally().canonical), ("a <tool_call>", 1));
}

#[test]
fn reset_remap_machine_equals_a_new_one() {
    let table = RemapTable::hermes();
    let mut decoder = StreamDecoder::new(&table);
    decoder.push_str("```\n[[CALL]][[~~C", &mut String::new());
    decoder.reset();
    assert_eq!((decoder.held(), decoder.tally().decoded), (0, 0));
    assert_eq!(pieces(&decoder, ["[[CALL]]"]), ["Wire Structural <tool_call>"]);
    let mut encoder = StreamEncoder::new(&table);
    encoder.push("[[~<tool", &mut String::new());
    encoder.reset();
    assert_eq!(run(&encoder, ["_call>"]), "_call>");
}

#[test]
fn work_is_linear_for_any_chunking() {
    for table in tables() {
        for unit in ["[", "[[", "~", "[[~", "[[~~~~CALL]", "[[CALL]", "[[CALL", "<tool_call", "<"] {
            let work = |n: usize| {
                let text = unit.repeat(n / unit.len());
                let (mut decoder, mut encoder) =
                    (StreamDecoder::new(&table), StreamEncoder::new(&table));
                let mut out = String::new();
                for (at, _) in text.char_indices() {
                    decoder.push_str(&text[at..=at], &mut out);
                    encoder.push(&text[at..=at], &mut out);
                }
                (decoder.examined() + encoder.examined()) as f64
            };
            let (small, large) = (work(2_000), work(8_000));
            assert!(large < 4.4 * small, "{unit:?}: {small} {large}");
            assert!(large < 8_000.0 * 200.0, "{unit:?}: {large}");
        }
    }
}

#[test]
fn long_run_of_escapes_is_not_held() {
    let table = RemapTable::hermes();
    let text = format!("[[{}CALL]]", "~".repeat(10_000));
    let mut decoder = StreamDecoder::new(&table);
    let mut most = 0;
    let mut out = String::new();
    for (at, _) in text.char_indices() {
        decoder.push_str(&text[at..=at], &mut out);
        most = most.max(decoder.held());
    }
    assert_eq!(out.len(), text.len() - 2);
    assert!(most <= table.max_held());
    assert_eq!(decoder.tally().max_held, most);
}

/// A faulty decoder that decodes each chunk on its own.
#[derive(Clone)]
struct Forgetful(RemapTable);

impl Machine for Forgetful {
    fn push(&mut self, chunk: &str, out: &mut String) {
        out.push_str(&self.0.decode(chunk));
    }
    fn finish(&mut self, _: &mut String) {}
}

#[test]
fn checker_rejects_a_decoder_that_forgets_its_chunks() {
    let table = RemapTable::hermes();
    let broken = Forgetful(table.clone());
    assert!(check_cuts(&broken, "a[[CALL]]b", &table.decode("a[[CALL]]b")).is_err());
}

/// Texts that may be held: the beginning of a word at its level, or the last two escapes and the
/// text after them.
fn may_be_held(table: &RemapTable, held: &str) -> bool {
    let mut whole = Vec::new();
    for pair in table.pairs() {
        let wire = pair.wire();
        let core = wire.trim_start_matches(['[', '/']);
        let lead = &wire[..wire.len() - core.len()];
        whole.extend([wire.to_string(), format!("{lead}~{core}"), format!("{lead}~~{core}")]);
        whole.extend([format!("~~{core}"), wire[1..].to_string()]);
    }
    held.is_empty() || whole.iter().any(|word| word.len() > held.len() && word.starts_with(held))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // Contract: S2.6, S2.7.
    #[test]
    fn decoded_streams_equal_decoded_complete_texts(text in texts(), which in 0..3usize) {
        check(&tables()[which], &text).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn emitted_pieces_are_chunk_invariant(parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..14), which in 0..3usize) {
        let decoder = StreamDecoder::new(&tables()[which]);
        let text = parts.concat();
        let whole = pieces(&decoder, [&*text]);
        prop_assert_eq!(&pieces(&decoder, parts), &whole);
        let scalars: Vec<String> = text.chars().map(String::from).collect();
        prop_assert_eq!(&pieces(&decoder, scalars.iter().map(|s| &**s)), &whole);
    }

    // Contract: S2.6, S2.20.
    #[test]
    fn only_a_possible_marker_is_held(text in texts()) {
        let table = RemapTable::hermes();
        let (mut decoder, mut out) = (StreamDecoder::new(&table), String::new());
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            decoder.push_str(&text[at..end], &mut out);
            let held = &text[end - decoder.held()..end];
            prop_assert!(may_be_held(&table, held), "{:?} of {:?}", held, &text[..end]);
            prop_assert!(decoder.held() <= table.max_held());
        }
    }
}
