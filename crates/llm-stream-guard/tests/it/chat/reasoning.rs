//! Where reasoning is written, the text's and upstream's own.

use llm_stream_guard::{
    Delivery, End,
    chat::{ChatGuard, ChatOptions, Chunk, Field, ReasoningField},
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{builder, chat, choice, choices, run, stop},
    reader::read,
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;

fn delta(delta: Value) -> Chunk {
    choice(json!({"index": 0, "delta": delta, "finish_reason": null}))
}

fn written(field: ReasoningField, chunks: Vec<Chunk>) -> Vec<Value> {
    let mut options = ChatOptions::default();
    options.reasoning = field;
    let guard = builder("qwen3").delivery(Delivery::Atomic).build().expect("builds");
    let chunks = chunks.into_iter().chain([stop(0, "stop")]).collect();
    let seen = run(&mut ChatGuard::new(guard, options), chunks, End::Stop);
    choices(&seen.chunks).into_iter().map(|mut choice| choice["delta"].take()).collect()
}

#[test]
fn reasoning_is_written_in_the_configured_field() {
    let text = || delta(json!({"content": "<think>r</think>b"}));
    for (field, expected) in [
        (ReasoningField::ReasoningContent, json!({"reasoning_content": "r"})),
        (ReasoningField::Reasoning, json!({"reasoning": "r"})),
        (ReasoningField::Both, json!({"reasoning": "r", "reasoning_content": "r"})),
        (ReasoningField::AsUpstream, json!({"reasoning_content": "r"})),
    ] {
        let own = delta(json!({"reasoning": "r"}));
        for (input, expected) in [
            (text(), expected.clone()),
            (
                own,
                if field == ReasoningField::AsUpstream {
                    json!({"reasoning": "r"})
                } else {
                    expected
                },
            ),
        ] {
            assert_eq!(written(field, vec![input])[0], expected, "{field:?}");
        }
    }
    // Upstream's name is learnt of what says nothing, too.
    let learnt = vec![delta(json!({"content": "", "reasoning": null})), text()];
    assert_eq!(written(ReasoningField::AsUpstream, learnt)[0]["reasoning"], "r");
}

#[test]
fn inline_reasoning_is_written_between_tags() {
    let content = |chunks: Vec<Chunk>| {
        let deltas = written(ReasoningField::Inline, chunks);
        let text = |delta: &Value| match delta["tool_calls"].is_array() {
            true => "#".to_owned(),
            false => delta["content"].as_str().unwrap_or_default().to_owned(),
        };
        deltas.iter().map(text).collect::<String>()
    };
    let call = format!("<think>s</think>{CALL}");
    for (chunks, expected) in [
        (vec![delta(json!({"content": "<think>r</think>b"}))], "<think>r</think>b"),
        (
            vec![delta(json!({"reasoning": "r"})), delta(json!({"content": "b"}))],
            "<think>r</think>b",
        ),
        (vec![delta(json!({"reasoning": "r"}))], "<think>r</think>"),
        (vec![delta(json!({"content": call}))], "<think>s</think>#"),
        (
            vec![
                delta(json!({"reasoning": "r"})),
                delta(
                    json!({"tool_calls": [{"index": 0, "id": "n", "function": {"name": "g", "arguments": "{}"}}]}),
                ),
            ],
            "<think>r</think>#",
        ),
    ] {
        assert_eq!(content(chunks), expected);
    }
}

#[test]
fn hidden_reasoning_is_removed_with_its_logprobs_and_ids() {
    let token = |token: &str, field: &str| {
        choice(
            json!({"index": 0, "delta": {field: token}, "token_ids": [token.len()], "finish_reason": null,
            "logprobs": {"content": [{"token": token, "bytes": token.as_bytes()}]}}),
        )
    };
    let own = choice(json!({"index": 0, "delta": {"reasoning": "secret",
        "reasoning_details": [{"text": "secret"}]}, "token_ids": [7], "finish_reason": null}));
    for chunks in [
        ["<think>", "sec", "ret", "</think>", "b", "c"].map(|it| token(it, "content")).to_vec(),
        vec![token("secret", "reasoning_content"), token("b", "content"), token("c", "content")],
        vec![own, token("b", "content"), token("c", "content")],
    ] {
        let mut options = ChatOptions::default();
        options.reasoning = ReasoningField::Hidden;
        let guard = builder("qwen3").build().expect("builds");
        let chunks = chunks.into_iter().chain([stop(0, "stop")]).collect();
        let seen = run(&mut ChatGuard::new(guard, options), chunks, End::Stop);
        let all = serde_json::to_string(&seen.chunks).expect("JSON");
        assert_eq!(read(&seen.chunks)[&0].content, "bc");
        assert!(
            !all.contains("sec") && !all.contains("ret") && !all.contains("reasoning"),
            "{all}"
        );
        let ids = choices(&seen.chunks).into_iter().filter_map(|it| it.get("token_ids").cloned());
        let ids: Vec<_> = ids.filter(|ids| *ids == json!([1])).collect();
        assert_eq!(ids.len(), 2, "{all}");
    }
}

// Contract: X.39.
#[test]
fn continuous_usage_counts_inline_and_separated_reasoning() {
    let options = ChatOptions::default();
    let guard = builder("qwen3").build().expect("builds");
    let counted = |delta_of: Value| {
        let mut chunk = delta(delta_of);
        chunk.usage = Field::Value(json!({"completion_tokens": 9}));
        chunk
    };
    let chunks = vec![
        counted(json!({"reasoning": "12345678"})),
        counted(json!({"content": "<think>12345678</think>"})),
        counted(json!({"content": "b"})),
    ];
    let seen = run(&mut ChatGuard::new(guard, options), chunks, End::Stop);
    let counts: Vec<_> = seen
        .chunks
        .iter()
        .filter_map(|chunk| chunk.usage.value())
        .map(|usage| usage["completion_tokens_details"]["reasoning_tokens"].clone())
        .collect();
    assert_eq!(counts, [json!(1), json!(2), json!(2)]);
}

#[test]
fn as_upstream_writes_reasoning_under_every_name_upstream_used() {
    let names = |first: Value| {
        let mut options = ChatOptions::default();
        options.reasoning = ReasoningField::AsUpstream;
        let input = vec![delta(first), delta(json!({"content": "<think>hm</think>a"}))];
        let seen = run(&mut chat("qwen3", options), input, End::Stop);
        let mut deltas = seen.chunks.iter().map(|chunk| &chunk.choices[0].delta);
        let last = deltas.rfind(|delta| delta.reasoning_text() == Some("hm"));
        let last = last.expect("reasoning");
        (last.reasoning.value().is_some(), last.reasoning_content.value().is_some())
    };
    assert_eq!(names(json!({"reasoning": "r", "reasoning_content": "r"})), (true, true));
    assert_eq!(names(json!({"reasoning": "r"})), (true, false));
    assert_eq!(names(json!({"reasoning_content": "r"})), (false, true));
    assert_eq!(names(json!({"role": "assistant"})), (false, true));
}
