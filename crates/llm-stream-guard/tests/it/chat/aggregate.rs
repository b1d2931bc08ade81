//! Chunks put together: what stays, what is replaced, what grows.

use llm_stream_guard::chat::{Chunk, Completion, Field, MessageDelta};
use serde_json::{Value, json};

use crate::chat::feed::{aggregate, choice, chunk};

fn whole(deltas: &[Value]) -> Completion {
    let chunks: Vec<Chunk> =
        deltas.iter().map(|delta| choice(json!({"index": 0, "delta": delta}))).collect();
    aggregate(&chunks)
}

fn content(deltas: &[Value]) -> Value {
    let whole = serde_json::to_value(whole(deltas)).expect("JSON");
    whole["choices"][0]["message"]["content"].clone()
}

#[test]
fn last_usage_is_kept_and_not_replaced_by_null() {
    let with = |usage: &Value| chunk(json!({"choices": [], "usage": usage}));
    let bare = || chunk(json!({"choices": []}));
    let (one, two) = (json!({"total_tokens": 1}), json!({"total_tokens": 2}));
    let null = Value::Null;
    assert_eq!(aggregate(&[bare(), with(&null), bare()]).usage, Field::Null);
    assert_eq!(aggregate(&[with(&null), with(&one), with(&null)]).usage, Field::Value(one.clone()));
    assert_eq!(aggregate(&[with(&one), with(&two), bare()]).usage, Field::Value(two));
    assert_eq!(aggregate(&[bare()]).usage, Field::Missing);
}

#[test]
fn later_field_replaces_the_earlier_one_unless_null() {
    let with = |x: Value| chunk(json!({"choices": [], "x": x}));
    let x = |chunks: &[Chunk]| aggregate(chunks).fields.get("x").cloned();
    assert_eq!(x(&[with(json!(1)), with(json!(2))]), Some(json!(2)));
    assert_eq!(x(&[with(json!(1)), with(Value::Null)]), Some(json!(1)));
    assert_eq!(x(&[with(Value::Null)]), Some(Value::Null));
}

#[test]
fn first_role_and_first_finish_reason_are_kept() {
    let finish = |reason: Value| choice(json!({"index": 0, "delta": {}, "finish_reason": reason}));
    for behind in [json!("length"), Value::Null] {
        let whole = aggregate(&[finish(Value::Null), finish(json!("stop")), finish(behind)]);
        assert_eq!(whole.choices[0].finish_reason.value().map(String::as_str), Some("stop"));
    }
    assert_eq!(aggregate(&[finish(Value::Null)]).choices[0].finish_reason, Field::Null);
    let whole =
        whole(&[json!({"role": null}), json!({"role": "assistant"}), json!({"role": "user"})]);
    assert_eq!(whole.choices[0].message.role.value().map(String::as_str), Some("assistant"));
}

#[test]
fn empty_content_is_null_only_beside_calls_reasoning_or_refusal() {
    let call = json!({"tool_calls": [{"index": 0, "function": {"name": "f"}}]});
    assert_eq!(content(&[json!({"role": "assistant"})]), "");
    assert_eq!(content(&[json!({"content": ""}), call]), Value::Null);
    assert_eq!(content(&[json!({"reasoning": "hm"})]), Value::Null);
    assert_eq!(content(&[json!({"refusal": "no"})]), Value::Null);
    assert_eq!(content(&[json!({"refusal": null})]), "");
}

#[test]
fn nonempty_text_before_content_parts_becomes_a_part() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:,"}});
    let parts = json!({"content": [image]});
    assert_eq!(content(&[json!({"content": ""}), parts.clone()]), json!([image]));
    let text = json!({"type": "text", "text": "a"});
    assert_eq!(content(&[json!({"content": "a"}), parts]), json!([text, image]));
}

#[test]
fn nonempty_reasoning_field_is_preferred() {
    let delta = |delta| serde_json::from_value::<MessageDelta>(delta).expect("a delta");
    for (names, text) in [
        (json!({"reasoning": "", "reasoning_content": "b"}), Some("b")),
        (json!({"reasoning": "a", "reasoning_content": ""}), Some("a")),
        (json!({"reasoning": ""}), Some("")),
        (json!({"content": "c"}), None),
    ] {
        assert_eq!(delta(names.clone()).reasoning_text(), text, "{names}");
    }
}
