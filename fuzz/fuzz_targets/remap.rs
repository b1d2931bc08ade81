//! Text made of marker fragments: what is encoded comes back exactly, however it is cut.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use stream_laws::CutPlan;
use wire_remap::{RemapTable, StreamDecoder, StreamEncoder};

const FRAGMENTS: [&str; 16] = [
    "<",
    "</",
    "tool_call",
    "toolcall",
    ">",
    "[[",
    "[[/",
    "CALL",
    "TOOLCALL",
    "]]",
    "]",
    "~",
    "/",
    "\n",
    " ",
    "x",
];

/// Compiled once: it is the texts that vary.
static TABLE: LazyLock<RemapTable> = LazyLock::new(RemapTable::hermes);

fuzz_target!(|data: &[u8]| {
    let text: String = data.iter().map(|&byte| FRAGMENTS[usize::from(byte % 16)]).collect();
    let table = &*TABLE;
    let wire = table.encode(&text);
    for reserved in ["<tool_call>", "</tool_call>", "<toolcall>", "</toolcall>"] {
        assert!(!wire.contains(reserved), "{reserved} on the wire of {text:?}");
    }
    assert_eq!(table.decode(&wire), text);
    // Whatever the model writes becomes canonical once, and is stable from then on.
    let echo = table.decode(&text);
    assert_eq!(table.decode(&table.encode(&echo)), echo);
    for cut in CutPlan::quick(data.len() as u64).text(&text) {
        let (mut encoder, mut sent) = (StreamEncoder::new(table), String::new());
        for piece in cut.pieces(&text) {
            encoder.push(piece, &mut sent);
        }
        encoder.finish(&mut sent);
        assert_eq!(sent, wire, "{cut}");
    }
    for cut in CutPlan::quick(data.len() as u64).text(&wire) {
        let (mut decoder, mut back) = (StreamDecoder::new(table), String::new());
        for piece in cut.pieces(&wire) {
            decoder.push(piece, |piece| back.push_str(piece.text()));
        }
        decoder.finish(|piece| back.push_str(piece.text()));
        assert_eq!(back, text, "{cut}");
    }
});
