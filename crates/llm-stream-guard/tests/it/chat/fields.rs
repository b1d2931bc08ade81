//! Fields of deltas and choices: known and unknown, once, in order.

use llm_stream_guard::{
    Delivery, End,
    chat::{ChatGuard, ChatOptions, ReasoningField},
};
use serde_json::json;

use crate::chat::{
    feed::{builder, chat, choice, choices, clean, run, stop, text},
    reader::read_finished,
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

fn delta(delta: serde_json::Value) -> llm_stream_guard::chat::Chunk {
    choice(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

// Contract: S1.42.
#[test]
fn role_is_emitted_once_despite_withheld_text() {
    for (roles, expected) in [
        ([json!("assistant"), json!("assistant")], "assistant"),
        ([json!("model"), json!(null)], "model"),
        ([json!(null), json!(null)], ""),
    ] {
        let [one, other] = roles;
        let seen = clean(
            "hermes",
            vec![
                delta(json!({"role": one, "content": "<tool_call>{\"name\""})),
                delta(json!({"role": other, "content": ": \"f\", \"arguments\": {}}</tool_call>"})),
                stop(0, "stop"),
            ],
        );
        assert_eq!(read_finished(&seen.chunks)[&0].role, expected);
    }
}

#[test]
fn reasoning_is_read_under_both_names_and_written_under_one() {
    for (name, other) in [("reasoning", "reasoning_content"), ("reasoning_content", "reasoning")] {
        let mut options = ChatOptions::default();
        if name == "reasoning" {
            options.reasoning = ReasoningField::Reasoning;
        }
        let seen = run(
            &mut chat("qwen3", options),
            vec![
                delta(json!({"reasoning": "a", "content": ""})),
                delta(json!({"reasoning_content": "b"})),
                delta(json!({"reasoning_content": "c", "reasoning": "c"})),
                delta(json!({"content": "<think>d</think>e"})),
                stop(0, "stop"),
            ],
            End::Stop,
        );
        assert_eq!(read_finished(&seen.chunks)[&0].reasoning, "abcd");
        assert_eq!(read_finished(&seen.chunks)[&0].content, "e");
        assert!(choices(&seen.chunks).iter().all(|it| it["delta"].get(other).is_none()));
    }
}

// Contract: S1.44.
#[test]
fn unknown_delta_fields_are_emitted_once_and_in_order() {
    let seen = clean(
        "hermes",
        vec![
            delta(json!({"content": "a", "audio": {"id": "x"}})),
            delta(json!({"content": "b <"})),
            delta(json!({"refusal": "no", "content": "c"})),
            delta(json!({"function_call": {"name": "old"}})),
            stop(0, "stop"),
        ],
    );
    let order: Vec<_> =
        choices(&seen.chunks).into_iter().map(|mut it| it["delta"].take()).collect();
    assert_eq!(
        order,
        [
            json!({"audio": {"id": "x"}, "content": "a"}),
            json!({"content": "b "}),
            json!({"content": "<"}),
            json!({"refusal": "no", "content": "c"}),
            json!({"function_call": {"name": "old"}}),
            json!({}),
        ]
    );
}

#[test]
fn fields_beside_reasoning_do_not_wait_for_text() {
    let details = json!([{"index": 0, "text": "hm"}]);
    let seen = clean(
        "hermes",
        vec![
            delta(json!({"content": "\n<tool"})),
            delta(json!({"content": "", "reasoning": "hm", "reasoning_details": details})),
            delta(json!({"content": "box"})),
            stop(0, "stop"),
        ],
    );
    assert_eq!(choices(&seen.chunks)[1]["delta"]["reasoning_details"], details);
    assert_eq!(choices(&seen.chunks)[1]["delta"]["reasoning_content"], "hm");
    assert_eq!(read_finished(&seen.chunks)[&0].content, "\n<toolbox");
}

// Contract: S1.44, X.32.
#[test]
fn content_parts_wait_for_the_text_before_them() {
    let guard = builder("hermes").delivery(Delivery::Atomic).build().expect("builds");
    let part = json!([{"type": "image_url", "image_url": {"url": "u"}}]);
    let (one, two) = CALL.split_at(30);
    let mut guard = ChatGuard::new(guard, ChatOptions::default());
    let seen = run(
        &mut guard,
        vec![
            delta(json!({"content": one})),
            delta(json!({"content": part})),
            delta(json!({"content": part})),
            delta(json!({"content": format!("{two}b")})),
        ],
        End::Stop,
    );
    let order: Vec<_> = choices(&seen.chunks)
        .into_iter()
        .map(|it| {
            if it["delta"]["tool_calls"].is_array() {
                json!("call")
            } else {
                it["delta"]["content"].clone()
            }
        })
        .collect();
    assert_eq!(order, [json!("call"), part.clone(), part, json!("b"), json!(null)]);
}

#[test]
fn choice_fields_are_emitted_with_the_first_delta_or_the_finish_reason() {
    let seen = clean(
        "hermes",
        vec![
            choice(
                json!({"index": 0, "delta": {"content": format!("a{CALL}")}, "token_ids": [1], "finish_reason": null}),
            ),
            choice(
                json!({"index": 0, "delta": {"content": "<"}, "token_ids": [2], "finish_reason": null, "stop_reason": null}),
            ),
            choice(
                json!({"index": 0, "delta": {"content": ""}, "finish_reason": "stop", "stop_reason": 5, "matched_stop": null}),
            ),
        ],
    );
    let deltas = choices(&seen.chunks);
    let ids: Vec<_> = deltas.iter().filter_map(|it| it.get("token_ids").cloned()).collect();
    assert_eq!(ids, [json!([1]), json!([2])]);
    let last = deltas.last().expect("some");
    assert_eq!((&last["stop_reason"], &last["finish_reason"]), (&json!(5), &json!("tool_calls")));
    assert_eq!(last["delta"]["content"], "<");
    assert!(last.get("matched_stop").is_some());
}

#[test]
fn empty_deltas_are_not_forwarded() {
    let seen = clean(
        "hermes",
        vec![
            text(0, "a"),
            delta(json!({"content": ""})),
            delta(json!({"content": null, "refusal": null, "tool_calls": []})),
            delta(json!({})),
            stop(0, "stop"),
        ],
    );
    assert_eq!(seen.chunks.len(), 2);
}

#[test]
fn delta_field_repeated_during_a_call_is_emitted_as_often() {
    let pieces = ["<tool_call>{\"name\"", ": \"f\", ", "\"arguments\": {}}", "</tool_call>"];
    let chunks = pieces.iter().zip(1..).map(|(text, n)| {
        choice(json!({"index": 0, "delta": {"content": text, "x": n}, "finish_reason": null}))
    });
    let seen = clean("hermes", chunks.collect());
    let xs: Vec<_> =
        seen.chunks.iter().filter_map(|it| it.choices[0].delta.extra.get("x")).collect();
    assert_eq!(xs, [1, 2, 3, 4]);
}
