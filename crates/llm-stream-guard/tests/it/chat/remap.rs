//! Chunks and responses of a model that was shown remapped delimiters: every field comes back.

use llm_stream_guard::{
    End, Guard,
    chat::{ChatGuard, ChatOptions, Chunk, Completion},
    profile,
    wire_remap::{Location, Regime, RemapTable, Scope},
};
use serde_json::{Value, json};

use crate::chat::feed::aggregate;

fn guard(regime: Regime) -> ChatGuard {
    let guard = Guard::builder(&profile("qwen3").unwrap()).stage(regime);
    ChatGuard::new(guard.build().unwrap(), ChatOptions::default())
}

fn hermes() -> Regime {
    Regime::on(RemapTable::hermes())
}

/// The message with a marker, a literal one and the beginning of one in each of its fields.
fn message() -> Value {
    json!({
        "role": "assistant",
        "reasoning_content": "a [[CALL]] b [[~CALL]] [[CA",
        "refusal": "no [[/CALL]] [[",
        "content": "Go. [[CALL]]{\"name\": \"f\", \"arguments\": {\"x\": \"[[CALL]] [[~CALL]]\"}}[[/CALL]]",
        "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "t [[CALL]] [[CAL"},
            {"type": "reasoning.text", "index": 1, "text": "[[CALL]]", "signature": "c2ln"},
        ],
        "tool_calls": [
            {"index": 0, "id": "n0", "type": "function", "function": {"name": "g", "arguments": "{\"y\": \"[[CALL]]\"}"}},
            {"index": 1, "id": "n1", "type": "function", "function": {"name": "h", "arguments": "{\"z\": \"[[\\/CALL]] [[~CALL]]\"}"}},
        ],
    })
}

/// The deltas of a message whose texts come `len` characters a chunk, field by field.
fn deltas(message: &Value, len: usize) -> Vec<Value> {
    let mut deltas = vec![json!({"role": "assistant"})];
    let cut = |text: &Value| -> Vec<String> {
        let chars: Vec<char> = text.as_str().unwrap().chars().collect();
        chars.chunks(len).map(|piece| piece.iter().collect()).collect()
    };
    for name in ["reasoning_content", "refusal", "content"] {
        deltas.extend(cut(&message[name]).iter().map(|piece| json!({name: piece})));
    }
    for detail in message["reasoning_details"].as_array().unwrap() {
        for piece in cut(&detail["text"]) {
            let mut delta = detail.clone();
            delta["text"] = piece.into();
            deltas.push(json!({"reasoning_details": [delta]}));
        }
    }
    for call in message["tool_calls"].as_array().unwrap() {
        let mut begun = call.clone();
        begun["function"]["arguments"] = "".into();
        deltas.push(json!({"tool_calls": [begun]}));
        for piece in cut(&call["function"]["arguments"]) {
            let function = json!({"arguments": piece});
            deltas.push(json!({"tool_calls": [{"index": call["index"], "function": function}]}));
        }
    }
    deltas
}

fn streamed(guard: &ChatGuard, deltas: &[Value]) -> (Value, ChatGuard) {
    let (mut guard, mut out) = (guard.clone(), Vec::<Chunk>::new());
    let chunk = |delta: &Value, finish: Value| -> Chunk {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        serde_json::from_value(json!({"id": "r", "choices": [choice]})).unwrap()
    };
    for delta in deltas {
        guard.push(chunk(delta, Value::Null), &mut out).unwrap();
    }
    guard.push(chunk(&json!({}), "stop".into()), &mut out).unwrap();
    guard.finish(End::Stop, &mut out).unwrap();
    (serde_json::to_value(aggregate(&out)).unwrap()["choices"][0]["message"].clone(), guard)
}

/// The texts of the entries, joined by index.
fn details(message: &Value) -> Vec<String> {
    let mut texts = vec![String::new(); 2];
    for detail in message["reasoning_details"].as_array().unwrap() {
        texts[detail["index"].as_u64().unwrap() as usize] += detail["text"].as_str().unwrap();
    }
    texts
}

fn check(message: &Value) {
    assert_eq!(message["reasoning_content"], "a <tool_call> b [[CALL]] [[CA");
    assert_eq!(message["refusal"], "no </tool_call> [[");
    assert_eq!(message["content"], "Go. ");
    assert_eq!(details(message), ["t <tool_call> [[CAL", "[[CALL]]"], "signed text stays");
    let calls: Vec<(&str, Value)> = message["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let function = &call["function"];
            let arguments = function["arguments"].as_str().unwrap();
            (function["name"].as_str().unwrap(), serde_json::from_str(arguments).unwrap())
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("f", json!({"x": "<tool_call> [[CALL]]"})),
            ("g", json!({"y": "<tool_call>"})),
            ("h", json!({"z": "</tool_call> [[CALL]]"})),
        ]
    );
}

// Contract: S2.11, S2.12.
#[test]
fn streamed_fields_are_decoded_at_every_chunk_size() {
    for len in [1, 2, 3, 5, 7, 1000] {
        let (message, _) = streamed(&guard(hermes()), &deltas(&message(), len));
        check(&message);
    }
}

#[test]
fn reasoning_detail_with_the_maximum_index_is_decoded() {
    let delta = |text: &str| json!({"reasoning_details": [{"index": u64::MAX, "text": text}]});
    let (message, _) = streamed(&guard(hermes()), &[delta("a [[CA"), delta("LL]] [[")]);
    let details = message["reasoning_details"].as_array().unwrap();
    let texts: String = details.iter().filter_map(|detail| detail["text"].as_str()).collect();
    assert_eq!(texts, "a <tool_call> [[");
}

// Contract: S2.11, S2.12.
#[test]
fn complete_response_is_decoded_like_its_stream() {
    let response = json!({"id": "r", "object": "chat.completion", "choices": [
        {"index": 0, "message": message(), "finish_reason": "stop"}]});
    let response: Completion = serde_json::from_value(response).unwrap();
    let whole = guard(hermes()).complete(response).unwrap();
    check(&serde_json::to_value(whole).unwrap()["choices"][0]["message"]);
}

// Contract: S2.20.
#[test]
fn decoded_and_unescaped_markers_are_counted_by_location() {
    let (_, guard) = streamed(&guard(hermes()), &deltas(&message(), 3));
    let report = guard.remap_report();
    let decoded = |location| (report.tally(location).decoded, report.tally(location).unescaped);
    assert_eq!(decoded(Location::Content), (3, 1));
    assert_eq!(decoded(Location::Reasoning), (2, 1));
    assert_eq!(decoded(Location::Refusal), (1, 0));
    assert_eq!(decoded(Location::Arguments), (2, 1));
}

// Contract: S2.11.
#[test]
fn text_parts_are_decoded_and_fields_out_of_scope_are_unchanged() {
    let parts = |text: &str| json!({"content": [{"type": "text", "text": text}, {"type": "x", "text": "[[CALL]]"}]});
    let (message, _) = streamed(&guard(hermes()), &[parts("a [[CA"), parts("LL]] [[")]);
    let text: String = message["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["type"] == "text")
        .map(|part| part["text"].as_str().unwrap())
        .collect();
    assert_eq!(text, "a <tool_call> [[");
    assert!(message["content"].as_array().unwrap().iter().any(|part| part["text"] == "[[CALL]]"));

    let scope = Scope { reasoning: false, arguments: false, ..Scope::default() };
    let scoped = guard(hermes().with_scope(scope));
    let (kept, _) = streamed(&scoped, &deltas(&self::message(), 4));
    assert_eq!(kept["reasoning_content"], self::message()["reasoning_content"]);
    assert_eq!(kept["tool_calls"][1]["function"]["arguments"], "{\"y\": \"[[CALL]]\"}");
    assert_eq!(kept["refusal"], "no </tool_call> [[");
}

#[test]
fn held_reasoning_is_emitted_before_content_or_at_the_end() {
    let deltas = [json!({"reasoning_content": "r [[CA"}), json!({"content": "c"})];
    let (message, _) = streamed(&guard(hermes()), &deltas);
    assert_eq!(
        (&message["reasoning_content"], &message["content"]),
        (&json!("r [[CA"), &json!("c"))
    );
    assert_eq!(broken_off(3, &deltas[..1])["reasoning_content"], "r [[CA");
}

/// What came out of a choice that broke off, as one message.
fn broken_off(index: u32, deltas: &[Value]) -> Value {
    let (mut guard, mut out) = (guard(hermes()), Vec::<Chunk>::new());
    for delta in deltas {
        let chunk = json!({"choices": [{"index": index, "delta": delta}]});
        guard.push(serde_json::from_value(chunk).unwrap(), &mut out).unwrap();
    }
    guard.finish(End::Aborted, &mut out).unwrap();
    let whole = serde_json::to_value(aggregate(&out)).unwrap();
    assert_eq!(whole["choices"].as_array().map(Vec::len), Some(1));
    assert_eq!(whole["choices"][0]["index"], index);
    whole["choices"][0]["message"].clone()
}

#[test]
fn held_text_of_each_field_is_emitted_in_its_choice_after_a_broken_stream() {
    let text = "r [[CALL]] [[CA";
    let back = "r <tool_call> [[CA";
    for name in ["reasoning", "reasoning_content", "refusal", "thinking"] {
        let written = if name == "reasoning" { "reasoning_content" } else { name };
        assert_eq!(broken_off(2, &[json!({name: text})])[written], back, "{name}");
    }
    let call = |index: u32, member: &str, value: Value| json!({"tool_calls": [{"index": index, "id": format!("n{index}"), "type": "function", member: value}]});
    let quoted = json!("{\"a\": \"[[CALL]] [[CA");
    let function = |arguments: &Value| json!({"name": "f", "arguments": arguments});
    let seen = broken_off(
        1,
        &[call(0, "function", function(&quoted)), call(1, "function", function(&quoted))],
    );
    for at in 0..2 {
        let arguments = &seen["tool_calls"][at]["function"]["arguments"];
        assert_eq!(arguments, "{\"a\": \"<tool_call> [[CA\",]");
    }
    let seen = broken_off(1, &[call(0, "custom", json!({"name": "f", "input": text}))]);
    assert_eq!(seen["tool_calls"][0]["custom"]["input"], back);
    let seen = broken_off(1, &[json!({"function_call": function(&quoted)})]);
    assert_eq!(seen["function_call"]["arguments"], "{\"a\": \"<tool_call> [[CA");
    assert_eq!(seen.get("tool_calls"), None, "the older form has no number");
    let parts = json!([{"type": "text", "text": text}]);
    assert_eq!(broken_off(1, &[json!({"content": parts})])["content"][0]["text"], back);
    let summary = json!([{"type": "reasoning.summary", "index": 4, "summary": text}]);
    let seen = broken_off(1, &[json!({"reasoning_details": summary})]);
    let last = &seen["reasoning_details"][0];
    assert_eq!((&last["index"], &last["type"]), (&json!(4), &json!("reasoning.summary")));
    assert_eq!(last["summary"], back);
}

#[test]
fn another_field_ends_held_text_but_not_calls() {
    let (message, _) = streamed(
        &guard(hermes()),
        &[json!({"reasoning": "a [["}), json!({"refusal": "b [["}), json!({"reasoning": "CALL]]"})],
    );
    assert_eq!(
        (&message["reasoning_content"], &message["refusal"]),
        (&json!("a [[CALL]]"), &json!("b [["))
    );
    let (message, _) = streamed(
        &guard(hermes()),
        &[json!({"reasoning": "a [["}), json!({"content": ""}), json!({"reasoning": "CALL]] b"})],
    );
    assert_eq!(message["reasoning_content"], "a <tool_call> b", "nothing was said in between");
}
