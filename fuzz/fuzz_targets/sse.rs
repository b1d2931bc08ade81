//! Event streams made of the parts of lines: however they are cut, the same events come out, and
//! their raw bytes are the input.

#![no_main]

use libfuzzer_sys::fuzz_target;
use llm_stream_guard::sse::{Decoder, Item};
use stream_laws::{Cut, CutPlan};

const FRAGMENTS: [&[u8]; 16] = [
    b"data:",
    b"data: ",
    b"event:",
    b"id:",
    b"retry:1",
    b":",
    b" ",
    b"{\"a\":1}",
    b"[DONE]",
    b"\xFF",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\xEF\xBB\xBF",
    b"x",
];

fn decode(decoder: &Decoder, input: &[u8], cut: Cut) -> (Vec<u8>, String) {
    let (mut decoder, mut raw, mut events) = (decoder.clone(), Vec::new(), String::new());
    let mut on = |item: Item<'_>| {
        let Item::Event(event) = item else { panic!("{item:?}") };
        raw.extend_from_slice(event.raw);
        events += &format!("{event:?}\n");
    };
    for piece in cut.byte_pieces(input) {
        decoder.push(piece, &mut on).expect("the limits are far");
    }
    decoder.finish(&mut on).expect("the limits are far");
    (raw, events)
}

fuzz_target!(|data: &[u8]| {
    let input =
        data.iter().map(|&byte| FRAGMENTS[usize::from(byte % 16)]).collect::<Vec<_>>().concat();
    for decoder in [Decoder::new(), Decoder::new().lenient()] {
        let whole = decode(&decoder, &input, Cut::Whole);
        assert_eq!(whole.0, input);
        for cut in CutPlan::quick(data.len() as u64).bytes(&input) {
            assert_eq!(decode(&decoder, &input, cut), whole, "{cut}");
        }
    }
});
