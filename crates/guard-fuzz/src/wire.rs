//! The remapping of delimiters in text, streams and bodies, with tables from the input.

use serde_json::{Value, json};
use stream_laws::{Cut, CutPlan};
use wire_remap::{
    DecodedPiece, MarkerDetection, Mode, Regime, RemapTable, StreamDecoder, StreamEncoder, Syntax,
    Truncated,
    bodies::{AnthropicMessages, BodyShape, OpenAiChat, OpenAiResponses},
};

use crate::input::{Input, halved};

const OPTIONS: usize = 16;

const PIECES: [&str; 44] = [
    "<tool_call>",
    "</tool_call>",
    "<toolcall>",
    "</toolcall>",
    "[[CALL]]",
    "[[/CALL]]",
    "[[TOOLCALL]]",
    "[[/TOOLCALL]]",
    "[[~CALL]]",
    "[[/~CALL]]",
    "[[~~CALL]]",
    "[[~~~TOOLCALL]]",
    "[[CALL]",
    "[CALL]]",
    "[[call]]",
    "[[ CALL ]]",
    "~",
    "~~",
    "\n",
    "```\n",
    "é",
    "◁",
    "\"",
    "\\",
    "{\"a\": 1}",
    "\\u003c",
    "\\/",
    "\\ud83d",
    "<a>",
    "</a>",
    "((A))",
    "((~A))",
    "_call>",
    "tool_call",
    "TOOL",
    "CALL",
    "]]",
    "[[",
    "</",
    "[[/~",
    "(A))",
    "((/A))",
    "\u{1F331}",
    " ",
];

/// Returns a table: the known one, plain or with a nonce, or a random one.
fn table(input: &mut Input<'_>) -> Option<RemapTable> {
    let word = |input: &mut Input<'_>| format!("{}{}", input.pick(&PIECES), input.pick(&PIECES));
    let mut builder = match input.below(4) {
        0 | 1 => RemapTable::hermes_builder(),
        2 => RemapTable::builder().pair("<a>", "((A))").pair("</a>", "((/A))"),
        _ => (0..=input.below(3)).fold(RemapTable::builder(), |builder, _| {
            let (canonical, wire) = (word(input), word(input));
            builder.pair(&canonical, &wire)
        }),
    };
    if input.one_in(4) {
        builder = builder.mode(Mode::Plain);
    }
    if input.one_in(4) {
        builder = builder.nonce("7f3");
    }
    builder = builder.truncated(*input.pick(&[
        Truncated::Diagnose,
        Truncated::Ignore,
        Truncated::Recover,
    ]));
    if input.one_in(6) {
        builder = builder.escape('^');
    }
    builder.build().ok()
}

fn encoded(table: &RemapTable, syntax: Syntax, text: &str, cut: Cut) -> String {
    let (mut encoder, mut out) = (StreamEncoder::with_syntax(table, syntax), String::new());
    for piece in cut.pieces(text) {
        encoder.push(piece, &mut out);
        let held = encoder.held();
        let most = most(table, syntax);
        assert!(held <= most, "{held} held in {text:?} ({syntax:?}), {:?}", table.pairs());
    }
    encoder.finish(&mut out);
    assert!(encoder.examined() <= LOOKS * (text.len() as u64 + 64), "{}", encoder.examined());
    out
}

/// Returns the maximum number of held bytes: an escape of JSON has six bytes, or eleven for a pair
/// that is not complete.
fn most(table: &RemapTable, syntax: Syntax) -> usize {
    match syntax {
        Syntax::Json => 6 * table.max_held() + 11,
        _ => table.max_held(),
    }
}

/// The allowed number of examinations of a byte of text.
const LOOKS: u64 = 64;

/// Returns the output and its events, with neighbouring texts merged.
fn decoded(new: &StreamDecoder, most: usize, text: &str, cut: Cut) -> (String, Vec<String>) {
    let (mut decoder, mut out) = (new.clone(), String::new());
    let mut said = Vec::new();
    let mut on = |piece: DecodedPiece<'_>| {
        out.push_str(piece.text());
        match piece {
            DecodedPiece::Text(_) => {}
            other => said.push(format!("{} {other:?}", out.len())),
        }
    };
    for piece in cut.pieces(text) {
        decoder.push(piece, &mut on);
        assert!(decoder.held() <= most, "{} held", decoder.held());
    }
    decoder.finish(&mut on);
    assert!(decoder.examined() <= LOOKS * (text.len() as u64 + 64), "{}", decoder.examined());
    (out, said)
}

type Way = fn(&RemapTable, &str) -> String;

/// Checks that encoded text decodes to itself, that no canonical marker is on the wire, and that
/// the result does not depend on cuts.
pub(crate) fn text(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let Some(table) = table(&mut input) else { return };
    let plan = input.cuts();
    let syntax = *input.pick(&[Syntax::Text, Syntax::Json]);
    let detection = *input.pick(&[MarkerDetection::Structural, MarkerDetection::Everywhere]);
    let text = input.text(&halved(PIECES.map(String::from)));
    let (encode, decode): (Way, Way) = match syntax {
        Syntax::Json => (
            |table, text| table.encode_json(text).into(),
            |table, text| table.decode_json(text).into(),
        ),
        _ => (|table, text| table.encode(text).into(), |table, text| table.decode(text).into()),
    };
    let wire = encode(&table, &text);
    if table.mode() == Mode::Exact && syntax == Syntax::Text {
        for pair in table.pairs() {
            assert!(
                !wire.contains(pair.canonical()),
                "{} on the wire of {text:?}",
                pair.canonical()
            );
        }
        assert_eq!(decode(&table, &wire), text, "by way of {wire:?}");
        // Checks that decoding once gives canonical text, which decoding again does not change.
        let echo = decode(&table, &text);
        assert_eq!(decode(&table, &encode(&table, &echo)), echo);
    }
    for cut in plan.text(&text) {
        assert_eq!(encoded(&table, syntax, &text, cut), wire, "{cut} of {text:?}");
    }
    let decoder = StreamDecoder::with_syntax(&table, syntax).detection(detection);
    for text in [&text, &wire] {
        let whole = decoded(&decoder, most(&table, syntax), text, Cut::Whole);
        for cut in plan.text(text) {
            assert_eq!(
                decoded(&decoder, most(&table, syntax), text, cut),
                whole,
                "{cut} of {text:?}"
            );
        }
    }
}

/// Returns all texts that a shape visits in a request.
fn texts(shape: &dyn BodyShape, body: &mut Value, blank: bool) -> Vec<(Syntax, String)> {
    let mut texts = Vec::new();
    shape.request(body, &mut |field| {
        texts.push((field.syntax, field.text.clone()));
        if blank {
            field.text.clear();
        }
    });
    texts
}

/// Returns a request of each dialect with these texts.
fn requests(texts: &[String]) -> [Value; 3] {
    let text = |n: usize| texts.get(n).cloned().unwrap_or_default();
    let arguments = json!({"a": text(2)}).to_string();
    [
        json!({
            "model": text(0), "messages": [
                {"role": "system", "content": text(0)},
                {"role": "user", "name": text(0), "content": [{"type": "text", "text": text(1)}, {"type": "odd", "text": text(1)}]},
                {"role": "assistant", "content": text(2), "reasoning_content": text(3), "tool_calls": [
                    {"id": text(1), "type": "function", "function": {"name": "f", "arguments": arguments}}]},
                {"role": "tool", "tool_call_id": text(1), "content": text(4)},
            ],
            "stop": [text(0), text(1)], "odd": [text(3)],
            "tools": [{"type": "function", "function": {"name": "f", "description": text(3),
                "parameters": {"type": "object", "properties": {"a": {"description": text(4), "enum": [text(5)]}}}}}],
        }),
        json!({
            "system": text(0), "messages": [
                {"role": "user", "content": [{"type": "text", "text": text(1)}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": text(2)}, {"type": "tool_use", "name": "f", "input": {"a": text(3)}}]},
                {"role": "user", "content": [{"type": "tool_result", "content": text(4)}]},
            ],
            "stop_sequences": [text(5)],
            "tools": [{"name": "f", "description": text(5), "input_schema": {"type": "object"}}],
        }),
        json!({
            "instructions": text(0), "input": [
                {"role": "user", "content": [{"type": "input_text", "text": text(1)}]},
                {"type": "function_call", "name": "f", "call_id": text(2), "arguments": arguments},
                {"type": "function_call_output", "call_id": text(2), "output": text(3)},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": text(4)}]},
            ],
        }),
    ]
}

/// Functions that make an event with a piece of text, and that read the text of an event.
type Dialect = (fn(&str) -> Value, fn(&Value) -> Option<&str>);

const DIALECTS: [Dialect; 3] = [
    (
        |text| json!({"choices": [{"index": 0, "delta": {"content": text}}]}),
        |event| event["choices"][0]["delta"]["content"].as_str(),
    ),
    (
        |text| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        |event| event["delta"]["text"].as_str(),
    ),
    (
        |text| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text}),
        |event| event["delta"].as_str(),
    ),
];

/// Checks the bodies of three dialects: the texts of a shape are remapped like plain texts, nothing
/// else changes, and a streamed answer equals a whole one.
pub(crate) fn bodies(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let Some(table) = table(&mut input) else { return };
    let plan = CutPlan { two_way_up_to: 8, ..input.cuts() };
    let pieces: Vec<String> =
        halved(PIECES.map(String::from)).into_iter().chain(["\0".to_owned()]).collect();
    let text = input.text(&pieces);
    let parts: Vec<String> = text.split('\0').map(String::from).collect();
    let regime = Regime::on(table.clone());
    let shapes: [&dyn BodyShape; 3] = [&OpenAiChat, &AnthropicMessages, &OpenAiResponses];
    for ((shape, mut body), (event, said)) in shapes.into_iter().zip(requests(&parts)).zip(DIALECTS)
    {
        let mut wire = body.clone();
        regime.request().apply(&mut wire, shape).expect("the shape fits");
        let (before, after) = (texts(shape, &mut body, true), texts(shape, &mut wire, true));
        assert_eq!(body, wire, "something else than texts changed");
        for ((syntax, before), (_, after)) in before.iter().zip(&after) {
            let alone = encoded(&table, *syntax, before, Cut::Whole);
            assert_eq!(*after, alone, "{before:?} in a body");
        }
        assert_eq!(before.len(), after.len());

        let whole = decoded(&decoder(&regime, &table), usize::MAX, &text, Cut::Whole).0;
        for cut in plan.text(&text) {
            let (mut response, mut out) = (regime.response(), String::new());
            for piece in cut.pieces(&text) {
                let mut event = event(piece);
                for event in response.event(&mut event, shape).iter().chain([&event]) {
                    out.push_str(said(event).unwrap_or_default());
                }
            }
            response
                .finish(shape)
                .iter()
                .for_each(|event| out.push_str(said(event).unwrap_or_default()));
            assert_eq!(out, whole, "{cut} of {text:?}");
        }
    }
}

fn decoder(regime: &Regime, table: &RemapTable) -> StreamDecoder {
    StreamDecoder::new(table).detection(regime.detection().unwrap_or_default())
}
