//! Models switched in the middle of a transcript; cache keys.

use serde_json::{Value, json};
use wire_remap::{CapabilityTable, Location, Regime, RemapTable, bodies::OpenAiChat};

fn routes() -> CapabilityTable {
    CapabilityTable::hermes_families()
}

/// Plays one turn and returns the request. The request is derived from the canonical transcript,
/// the model answers in the spelling of the wire, and the transcript grows by the canonical answer.
fn turn(transcript: &mut Vec<Value>, regime: &Regime, model: &str, answer: &str) -> Value {
    let mut body = json!({"model": model, "messages": transcript});
    regime.request().apply(&mut body, &OpenAiChat).unwrap();
    let spoken = regime.encode(answer).into_owned();
    let mut response =
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": spoken}}]});
    regime.response().body(&mut response, &OpenAiChat).unwrap();
    transcript.push(response["choices"][0]["message"].clone());
    body
}

const ANSWERS: [&str; 3] = [
    "<tool_call>\n{\"name\": \"read\"}\n</tool_call>",
    "You typed [[CALL]], which is not <toolcall>.",
    "<tool_call>{\"name\": \"grep\", \"arguments\": {\"p\": \"[[~CALL]]\"}}</tool_call>",
];

fn talk(models: [&str; 3], routes: &CapabilityTable) -> (Vec<Value>, Vec<Value>) {
    let mut transcript = vec![
        json!({"role": "system", "content": "Calls: <tool_call>{..}</tool_call>"}),
        json!({"role": "user", "content": "What about [[CALL]] and [[~CALL]]?"}),
    ];
    let mut bodies = Vec::new();
    for (model, answer) in models.into_iter().zip(ANSWERS) {
        let regime = routes.regime("vllm", model);
        bodies.push(turn(&mut transcript, &regime, model, answer));
        transcript.push(json!({"role": "user", "content": "go on with [[/CALL]]"}));
    }
    (transcript, bodies)
}

// Contract: S2.18, X.16.
#[test]
fn switching_models_leaves_the_transcript_byte_identical() {
    let (reserved, plain) = ("Qwen3-32B", "llama-4");
    let expected = talk([plain; 3], &CapabilityTable::new()).0;
    for models in [[reserved, plain, reserved], [plain, reserved, plain], [reserved; 3]] {
        let (transcript, bodies) = talk(models, &routes());
        let text = |messages: &[Value]| serde_json::to_string(messages).unwrap();
        assert_eq!(text(&transcript), text(&expected));
        for (body, model) in bodies.iter().zip(models) {
            // The history has the same spelling in every turn.
            let sent = body.to_string();
            assert_eq!(sent.contains("<tool_call>"), model == plain, "{model}: {sent}");
            assert_eq!(sent.contains("[[~CALL]] and [[~~~CALL]]"), model == reserved);
        }
    }
}

// Contract: X.16.
#[test]
fn equal_history_yields_an_equal_prefix_in_each_turn() {
    let (_, bodies) = talk(["Qwen3-32B"; 3], &routes());
    for pair in bodies.windows(2) {
        let [before, after] = pair else { unreachable!() };
        let before = before["messages"].as_array().unwrap();
        assert_eq!(before[..], after["messages"].as_array().unwrap()[..before.len()]);
    }
}

fn cache_key(model: &str, body: &Value, table: Option<&RemapTable>) -> [u8; 32] {
    table.map_or(Regime::off(), |table| Regime::on(table.clone())).cache_key(model, body)
}

// Contract: S2.17.
#[test]
fn cache_key_depends_on_the_canonical_form() {
    let table = RemapTable::hermes();
    let body = json!({"messages": [{"role": "user", "content": "<tool_call>"}], "n": 1});
    let key = cache_key("m", &body, Some(&table));
    let nonce = RemapTable::hermes_builder().nonce("a1").build().unwrap();
    assert_eq!(key, cache_key("m", &body, Some(&nonce)));
    let mut others = vec![
        cache_key("m2", &body, Some(&table)),
        cache_key("m", &body, None),
        cache_key("m", &body, Some(&RemapTable::hermes_plain())),
        cache_key(
            "m",
            &json!({"messages": [{"role": "user", "content": "[[CALL]]"}], "n": 1}),
            Some(&table),
        ),
        cache_key(
            "m",
            &json!({"messages": [{"role": "user", "content": "<tool_call>"}], "n": 1.0}),
            Some(&table),
        ),
        cache_key("m", &json!([["ab", "c"]]), None),
        cache_key("m", &json!([["a", "bc"]]), None),
        cache_key("m", &json!([["a"], "bc"]), None),
        cache_key("m", &json!({"a": null}), None),
        cache_key("m", &json!({"a": "null"}), None),
    ];
    others.push(key);
    others.sort_unstable();
    others.dedup();
    assert_eq!(others.len(), 11);
}

#[test]
fn cache_key_ignores_the_order_of_members() {
    let parse = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let (a, b) = (parse(r#"{"a":1,"b":[true]}"#), parse(r#"{ "b":[true], "a":1 }"#));
    assert_eq!(cache_key("m", &a, None), cache_key("m", &b, None));
}

// Contract: S2.12.
#[test]
fn regime_remaps_if_on_and_changes_nothing_if_off() {
    let on = Regime::on(RemapTable::hermes());
    assert!(on.encoder(Location::User).is_some() && on.decoder().is_some() && on.table().is_some());
    assert_eq!(on.decode(&on.encode("<tool_call>[[CALL]]")), "<tool_call>[[CALL]]");
    let off = Regime::off();
    assert!(
        off.encoder(Location::User).is_none() && off.decoder().is_none() && off.table().is_none()
    );
    assert_eq!(off.encode("<tool_call>"), "<tool_call>");
    assert_eq!(off.decode("[[CALL]]"), "[[CALL]]");
}
