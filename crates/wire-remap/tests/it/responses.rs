//! Response bodies and events of every shape.

use proptest::prelude::*;
use serde_json::{Value, json};
use wire_remap::{
    DecodedPiece, Location, Regime, RemapTable, Scope,
    bodies::{
        AnthropicMessages, BodyShape, GeminiContents, OpenAiChat, OpenAiResponses, ResponseRemap,
        TextId, TextKind,
    },
};

use crate::support::texts;

fn response() -> ResponseRemap {
    Regime::on(RemapTable::hermes()).response()
}

fn send(remap: &mut ResponseRemap, shape: &dyn BodyShape, events: Vec<Value>) -> Vec<Value> {
    let mut sent = Vec::new();
    for mut event in events {
        let before = remap.event(&mut event, shape);
        sent.extend(before);
        sent.push(event);
    }
    sent.extend(remap.finish(shape));
    sent
}

/// Returns the texts of a path, joined, for events that pass the filter.
fn joined(events: &[Value], path: &str, choose: impl Fn(&Value) -> bool) -> String {
    let chosen = events.iter().filter(|event| choose(event));
    chosen.filter_map(|event| event.pointer(path)?.as_str()).collect()
}

fn delta(choice: u64, delta: Value) -> Value {
    json!({"id": "c", "choices": [{"index": choice, "delta": delta, "finish_reason": null}]})
}

fn finish(choice: u64) -> Value {
    json!({"id": "c", "choices": [{"index": choice, "delta": {}, "finish_reason": "stop"}]})
}

// Contract: S2.11, S2.20.
#[test]
fn choices_and_fields_are_decoded_separately() {
    let events = vec![
        delta(0, json!({"role": "assistant", "content": "a [[CA"})),
        delta(7, json!({"content": "b [[/CA"})),
        delta(0, json!({"reasoning": "[[CALL]", "content": "LL]]"})),
        delta(7, json!({"content": "LL]]", "reasoning_content": "x[["})),
        delta(0, json!({"reasoning": "]", "refusal": "[[CALL]]"})),
        delta(7, json!({"reasoning_content": "CALL]]", "content": null})),
        finish(0),
        finish(7),
        json!({"id": "c", "choices": [], "usage": {"total_tokens": 3}}),
    ];
    let mut remap = response();
    let sent = send(&mut remap, &OpenAiChat, events);
    let of = |choice: u64, field: &str| {
        let path = format!("/choices/0/delta/{field}");
        joined(&sent, &path, |e| e["choices"][0]["index"] == choice)
    };
    assert_eq!(of(0, "content"), "a <tool_call>");
    assert_eq!(of(7, "content"), "b </tool_call>");
    assert_eq!(of(0, "reasoning"), "<tool_call>");
    assert_eq!(of(7, "reasoning_content"), "x<tool_call>");
    assert_eq!(of(0, "refusal"), "<tool_call>");
    assert_eq!(sent.len(), 9);
    assert_eq!(sent[8]["usage"]["total_tokens"], 3);
    assert_eq!(sent[0]["choices"][0]["delta"]["role"], "assistant");
    let report = remap.report();
    assert_eq!(report.tally(Location::Content).decoded, 2);
    assert_eq!(report.tally(Location::Reasoning).decoded, 2);
    assert_eq!(report.tally(Location::Refusal).decoded, 1);
    assert_eq!((report.tally(Location::Content).texts, report.total().max_held), (2, 7));
}

#[test]
fn pieces_over_the_limit_of_open_texts_pass_unchanged() {
    let mut remap = response().with_limit(2);
    let piece = |index| delta(index, json!({"content": "x [[CA"}));
    let sent: Vec<Value> = (0..4).chain([1]).map(piece).collect();
    let sent = send(&mut remap, &OpenAiChat, sent);
    let first: Vec<&str> =
        sent.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(first[..5], ["x ", "x ", "x [[CA", "x [[CA", "[[CAx "]);
    assert_eq!(remap.report().undecoded(), 2);
    assert_eq!(remap.held(), 0);
    // The end of a text frees its place.
    let mut event = piece(3);
    remap.event(&mut event, &OpenAiChat);
    assert_eq!(event["choices"][0]["delta"]["content"], "x ");
}

#[test]
fn held_text_is_emitted_with_the_finishing_chunk() {
    let mut last = finish(0);
    last["choices"][0]["delta"] = json!({"content": "x [[CA"});
    let mut remap = response();
    let sent = send(&mut remap, &OpenAiChat, vec![last]);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["choices"][0]["delta"]["content"], "x [[CA");
    let sent =
        send(&mut response(), &OpenAiChat, vec![delta(0, json!({"content": "[[CA"})), finish(0)]);
    assert_eq!(sent[1]["choices"][0]["delta"]["content"], "[[CA");
    let mut remap = response();
    let sent = send(&mut remap, &OpenAiChat, vec![delta(2, json!({"reasoning": "[[CA"}))]);
    assert_eq!(
        sent[1]["choices"][0],
        json!({"index": 2, "delta": {"reasoning": "[[CA"}, "finish_reason": null})
    );
    assert_eq!(remap.held(), 0);
}

// Contract: S2.11.
#[test]
fn argument_fragments_are_decoded_by_scope() {
    let call =
        |text| delta(0, json!({"tool_calls": [{"index": 1, "function": {"arguments": text}}]}));
    let path = "/choices/0/delta/tool_calls/0/function/arguments";
    let events = || vec![call("{\"a\":\"[[\\"), call("/CALL]] \\u00"), call("e9[["), finish(0)];
    let sent = send(&mut response(), &OpenAiChat, events());
    assert_eq!(joined(&sent, path, |_| true), "{\"a\":\"</tool_call> \\u00e9[[");
    assert_eq!(sent[3]["choices"][0]["delta"]["tool_calls"][0]["index"], 1);
    let scope = Scope { arguments: false, ..Scope::default() };
    let regime = Regime::on(RemapTable::hermes()).with_scope(scope);
    assert_eq!(send(&mut regime.response(), &OpenAiChat, events()), events());
}

#[test]
fn events_are_unchanged_when_remapping_is_off() {
    let events = vec![delta(0, json!({"content": "[[CALL]] [["})), finish(0)];
    let mut off = Regime::off().response();
    assert_eq!(send(&mut off, &OpenAiChat, events.clone()), events);
    let mut body = json!("[[CALL]]");
    off.body(&mut body, &OpenAiChat).unwrap();
    assert_eq!(body, "[[CALL]]");
}

// Contract: S2.11.
#[test]
fn complete_chat_response_is_decoded() {
    let mut body = json!({"id": "c", "choices": [
        {"index": 0, "finish_reason": "stop", "stop_reason": "[[/CALL]]", "message": {
            "content": "[[CALL]] [[~CALL]]", "reasoning": "[[CALL]]", "refusal": null,
            "tool_calls": [{"id": "[[CALL]]", "function": {"name": "f", "arguments": "{\"a\":\"[[\\/CALL]]\"}"}}],
        }},
        {"index": 1, "text": "[[TOOLCALL]]"},
    ]});
    let mut remap = response();
    remap.body(&mut body, &OpenAiChat).unwrap();
    let message = &body["choices"][0]["message"];
    assert_eq!(message["content"], "<tool_call> [[CALL]]");
    assert_eq!(message["reasoning"], "<tool_call>");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"a\":\"</tool_call>\"}");
    assert_eq!(message["tool_calls"][0]["id"], "[[CALL]]");
    assert_eq!(body["choices"][0]["stop_reason"], "</tool_call>");
    assert_eq!(body["choices"][1]["text"], "<toolcall>");
    assert_eq!(remap.report().total().decoded, 5);
    assert_eq!(remap.report().total().unescaped, 1);
    let mut list = json!(["[[CALL]]"]);
    let error = remap.body(&mut list, &OpenAiChat).unwrap_err();
    assert_eq!(
        error.to_string(),
        "response: expected an object, found an array; the body was not changed"
    );
    assert_eq!(list[0], "[[CALL]]");
}

#[test]
fn anthropic_blocks_are_decoded_and_flushed_before_they_stop() {
    let block = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let events = vec![
        json!({"type": "message_start", "message": {"content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        block(0, json!({"type": "thinking_delta", "thinking": "[[CALL"})),
        block(0, json!({"type": "thinking_delta", "thinking": "]] a [[C"})),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "input": {}}}),
        block(1, json!({"type": "input_json_delta", "partial_json": "{\"a\":\"[["})),
        block(1, json!({"type": "input_json_delta", "partial_json": "CALL]]\"}"})),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_sequence": "[[/CALL]]"}}),
        json!({"type": "message_stop"}),
    ];
    let sent = send(&mut response(), &AnthropicMessages, events);
    assert_eq!(joined(&sent, "/delta/thinking", |_| true), "<tool_call> a [[C");
    assert_eq!(joined(&sent, "/delta/partial_json", |_| true), "{\"a\":\"<tool_call>\"}");
    assert_eq!(sent[4], block(0, json!({"type": "thinking_delta", "thinking": "[[C"})));
    assert_eq!(sent[10]["delta"]["stop_sequence"], "</tool_call>");
    let mut body = json!({"content": [{"type": "text", "text": "[[CALL]]"}, {"type": "tool_use", "input": {"a": "[[CALL]]"}}]});
    response().body(&mut body, &AnthropicMessages).unwrap();
    assert_eq!(body["content"][0]["text"], "<tool_call>");
    assert_eq!(body["content"][1]["input"]["a"], "<tool_call>");
}

#[test]
fn responses_events_are_decoded_and_keep_consecutive_numbers() {
    let event = |number: u64, rest: Value| {
        let mut event = json!({"sequence_number": number, "item_id": "m", "output_index": 0});
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    };
    let text = |number, text: &str| {
        event(
            number,
            json!({"type": "response.output_text.delta", "content_index": 0, "delta": text}),
        )
    };
    let events = vec![
        event(
            0,
            json!({"type": "response.created", "response": {"instructions": "use [[CALL]]", "output": []}}),
        ),
        text(1, "a [[CA"),
        event(
            2,
            json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": "[[/"}),
        ),
        text(3, "LL]] [["),
        event(
            4,
            json!({"type": "response.output_text.done", "content_index": 0, "text": "a [[CALL]] [["}),
        ),
        event(
            5,
            json!({"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": "CALL]]"}),
        ),
        event(
            6,
            json!({"type": "response.content_part.done", "content_index": 0, "part": {"type": "output_text", "text": "a [[CALL]] [["}}),
        ),
        event(
            7,
            json!({"type": "response.function_call_arguments.done", "arguments": "{\"a\":\"[[\\/CALL]]\"}"}),
        ),
        event(
            8,
            json!({"type": "response.output_item.done", "item": {"type": "message", "content": [{"type": "output_text", "text": "a [[CALL]] [["}]}}),
        ),
        event(
            9,
            json!({"type": "response.completed", "response": {"output": [{"type": "function_call", "arguments": "{\"a\":\"[[CALL]]\"}"}, {"type": "message", "content": [{"type": "refusal", "refusal": "[[CALL]]"}]}]}}),
        ),
    ];
    let mut remap = response();
    let sent = send(&mut remap, &OpenAiResponses, events);
    let is = |kind: &'static str| move |e: &Value| e["type"] == kind;
    assert_eq!(joined(&sent, "/delta", is("response.output_text.delta")), "a <tool_call> [[");
    assert_eq!(
        joined(&sent, "/delta", is("response.reasoning_summary_text.delta")),
        "</tool_call>"
    );
    assert_eq!(joined(&sent, "/text", is("response.output_text.done")), "a <tool_call> [[");
    assert_eq!(sent[0]["response"]["instructions"], "use <tool_call>");
    assert_eq!(
        sent[4],
        event(4, json!({"type": "response.output_text.delta", "content_index": 0, "delta": "[["}))
    );
    assert_eq!(sent[7]["part"]["text"], "a <tool_call> [[");
    assert_eq!(sent[8]["arguments"], "{\"a\":\"</tool_call>\"}");
    assert_eq!(sent[9]["item"]["content"][0]["text"], "a <tool_call> [[");
    assert_eq!(sent[10]["response"]["output"][0]["arguments"], "{\"a\":\"<tool_call>\"}");
    assert_eq!(sent[10]["response"]["output"][1]["content"][0]["refusal"], "<tool_call>");
    let numbers: Vec<_> = sent.iter().map(|e| e["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..11).collect::<Vec<_>>());
    assert_eq!(remap.report().tally(Location::Refusal).decoded, 1);
}

#[test]
fn maximum_sequence_number_saturates_when_events_are_inserted() {
    let event = |number: u64, rest: Value| {
        let mut event = json!({"sequence_number": number, "item_id": "m", "output_index": 0});
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    };
    let delta = json!({"type": "response.output_text.delta", "content_index": 0, "delta": "[["});
    let done = json!({"type": "response.output_text.done", "content_index": 0, "text": "[["});
    let events = vec![event(u64::MAX - 1, delta), event(u64::MAX, done)];
    let sent = send(&mut response(), &OpenAiResponses, events);
    let numbers: Vec<_> = sent.iter().map(|e| e["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [u64::MAX - 1, u64::MAX, u64::MAX]);
}

#[test]
fn single_texts_are_decoded_without_bodies() {
    let slot = TextId { choice: 0, part: 0, field: TextKind::Content };
    let mut remap = response();
    let mut counted = 0;
    for text in ["[[CA", "LL]]{}", "[[/CALL]] [["] {
        assert!(remap.push(slot, text, |piece| {
            counted += u32::from(matches!(piece, DecodedPiece::Marker(marker) if marker.counts));
        }));
    }
    assert_eq!((counted, remap.held()), (2, 2));
    let mut rest = String::new();
    remap.end(slot, |piece| rest.push_str(piece.text()));
    assert_eq!((&*rest, remap.held()), ("[[", 0));
    assert!(!Regime::off().response().push(slot, "x", |_| ()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // Contract: S2.11, S2.12.
    #[test]
    fn streamed_response_equals_the_complete_one(
        a in texts(),
        b in texts(),
        order in prop::collection::vec(any::<bool>(), 64),
    ) {
        let regime = Regime::on(RemapTable::hermes());
        let (mut first, mut second) = (a.chars(), b.chars());
        let mut events = Vec::new();
        // Pieces arrive in the given order, then the rest of each text.
        let rest = [true, false].into_iter().flat_map(|turn| vec![turn; 300]);
        for turn in order.into_iter().chain(rest) {
            let (choice, text) = if turn { (0, first.next()) } else { (1, second.next()) };
            events.extend(text.map(|c| delta(choice, json!({"content": c.to_string()}))));
        }
        let read: [String; 2] = [0, 1].map(|choice| joined(&events, "/choices/0/delta/content", |e| e["choices"][0]["index"] == choice));
        events.extend([finish(0), finish(1)]);
        let sent = send(&mut regime.response(), &OpenAiChat, events);
        for choice in 0..2u64 {
            let text = joined(&sent, "/choices/0/delta/content", |e| e["choices"][0]["index"] == choice);
            prop_assert_eq!(text, regime.decode(&read[choice as usize]));
            prop_assert_eq!(&read[choice as usize], [&a, &b][choice as usize]);
        }
    }
}

#[test]
fn held_end_of_a_server_side_call_is_an_event_of_its_type() {
    for (stem, whole) in [
        ("response.mcp_call_arguments", "arguments"),
        ("response.code_interpreter_call_code", "code"),
        ("response.apply_patch_call_operation_diff", "diff"),
    ] {
        let event = |end: &str, name: &str| json!({"type": format!("{stem}.{end}"), "output_index": 1, "item_id": "i", name: "[[CALL]] [[CA"});
        let mut remap = response();
        let sent =
            send(&mut remap, &OpenAiResponses, vec![event("delta", "delta"), event("done", whole)]);
        assert_eq!(sent[0]["delta"], "<tool_call> ", "{stem}");
        assert_eq!((&sent[1]["type"], &sent[1]["delta"]), (&sent[0]["type"], &json!("[[CA")));
        assert_eq!(sent[2][whole], "<tool_call> [[CA");
    }
}

#[test]
fn thinking_is_decoded_as_reasoning() {
    let events = vec![
        delta(0, json!({"thinking": "a [[CA"})),
        delta(0, json!({"thinking": "LL]] [["})),
        finish(0),
    ];
    let sent = send(&mut response(), &OpenAiChat, events);
    assert_eq!(joined(&sent, "/choices/0/delta/thinking", |_| true), "a <tool_call> [[");
    let mut body = json!({"choices": [{"message": {"thinking": "[[CALL]]"}}]});
    response().body(&mut body, &OpenAiChat).unwrap();
    assert_eq!(body["choices"][0]["message"]["thinking"], "<tool_call>");
}

// Contract: S2.10, S2.11.
#[test]
fn gemini_stream_is_decoded_and_flushed_with_its_finish() {
    let parts = |parts: Value| json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]});
    let mut last = parts(json!([{"text": "LL]] [[", }]));
    last["candidates"][0]["finishReason"] = "STOP".into();
    let events = vec![
        parts(json!([{"text": "t [[CA", "thought": true}, {"text": "a [[CA"}])),
        parts(
            json!([{"text": "LL]]", "thought": true}, {"functionCall": {"name": "f", "args": {"x": "[[CALL]]"}}}]),
        ),
        last,
    ];
    let mut remap = response();
    let sent = send(&mut remap, &GeminiContents, events);
    assert_eq!(sent.len(), 3);
    let (mut text, mut thought) = (String::new(), String::new());
    for part in sent.iter().flat_map(|e| e["candidates"][0]["content"]["parts"].as_array().unwrap())
    {
        let into = if part["thought"] == true { &mut thought } else { &mut text };
        *into += part["text"].as_str().unwrap_or_default();
    }
    assert_eq!((&*text, &*thought), ("a <tool_call> [[", "t <tool_call>"));
    assert_eq!(
        sent[1]["candidates"][0]["content"]["parts"][1]["functionCall"]["args"]["x"],
        "<tool_call>"
    );
    let mut cut = response();
    let sent = send(&mut cut, &GeminiContents, vec![parts(json!([{"text": "x [["}]))]);
    assert_eq!(sent[1]["candidates"][0]["content"]["parts"][0]["text"], "[[");
    let mut whole = parts(json!([{"text": "[[CALL]]"}]));
    response().body(&mut whole, &GeminiContents).unwrap();
    assert_eq!(whole["candidates"][0]["content"]["parts"][0]["text"], "<tool_call>");
}
