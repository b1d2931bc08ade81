//! What surrounds the choices: ids, usage, counters, unknown fields, packing.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, Chunk, Emission, Field, ReasoningTokens},
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{chat, choice, choices, chunk, clean, run, stop, text, usage},
    reader::{read, read_finished},
};

const CALL: &str = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;

fn with(mut chunk: Chunk, name: &str, value: Value) -> Chunk {
    chunk.fields.insert(name.into(), value);
    chunk
}

fn with_usage(mut chunk: Chunk, tokens: u32) -> Chunk {
    chunk.usage = Field::Value(json!({"total_tokens": tokens}));
    chunk
}

// Contract: S1.1.
#[test]
fn text_without_markup_passes_unchanged() {
    let role = json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null, "logprobs": null});
    let chunks = vec![
        chunk(json!({"id": "c1", "choices": [role], "usage": null, "obfuscation": "xy"})),
        with(text(0, "Hello, "), "system_fingerprint", json!("fp")),
        text(0, "wörld."),
        stop(0, "stop"),
        usage(),
    ];
    assert_eq!(clean("hermes", chunks.clone()).chunks, chunks);
}

// Contract: S1.41.
#[test]
fn split_and_synthesized_chunks_keep_the_response_fields() {
    let mut first = text(0, &format!("a{CALL}b{CALL}"));
    for name in ["system_fingerprint", "service_tier", "provider"] {
        first = with(first, name, json!("x"));
    }
    let first = with(first, "timings", json!({"ms": 3}));
    let seen = run(&mut chat("hermes", ChatOptions::default()), vec![first], End::Stop);
    assert_eq!(seen.chunks.len(), 5, "text, call, text, call, the reason made up");
    for chunk in &seen.chunks {
        for (name, value) in [
            ("id", json!("c1")),
            ("created", json!(7)),
            ("model", json!("m")),
            ("system_fingerprint", json!("x")),
            ("service_tier", json!("x")),
            ("provider", json!("x")),
        ] {
            assert_eq!(chunk.fields.get(name), Some(&value), "{name}");
        }
    }
    let timings = seen.chunks.iter().filter(|chunk| chunk.fields.contains_key("timings"));
    assert_eq!(timings.count(), 1, "unknown fields come once");
}

// Contract: S1.39.
#[test]
fn usage_is_emitted_once_on_the_last_chunk_of_a_split() {
    let seen = clean("hermes", vec![with_usage(text(0, &format!("a{CALL}b")), 5), stop(0, "stop")]);
    let at: Vec<_> = seen.chunks.iter().map(|chunk| chunk.usage.value().is_some()).collect();
    assert_eq!(at, [false, false, true, false]);
}

// Contract: X.21.
#[test]
fn usage_of_withheld_chunks_is_emitted_with_the_latest_counts() {
    let seen = clean(
        "hermes",
        vec![
            with_usage(text(0, "<tool"), 1),
            with_usage(text(0, "_ca"), 2),
            text(0, "ke"),
            with_usage(text(0, "<tool"), 3),
        ],
    );
    let usages: Vec<_> = seen.chunks.iter().filter_map(|chunk| chunk.usage.value()).collect();
    assert_eq!(usages, [&json!({"total_tokens": 2}), &json!({"total_tokens": 3})]);
    assert_eq!(read(&seen.chunks)[&0].content, "<tool_cake<tool");
}

// Contract: X.21.
#[test]
fn final_usage_chunk_replaces_withheld_usage() {
    let seen = clean("hermes", vec![with_usage(text(0, "<tool"), 1), usage()]);
    let usages: Vec<_> = seen.chunks.iter().filter_map(|chunk| chunk.usage.value()).collect();
    assert_eq!(usages, [&json!({"total_tokens": 9})]);
}

// Contract: X.39.
#[test]
fn reasoning_tokens_are_counted_unless_upstream_reports_them() {
    use ReasoningTokens::{Counted, Upstream};
    let thought = ["<think>", "a", "b c", "</th", "ink>", "Hi"];
    let chunks = |more: &dyn Fn(&str) -> Value| {
        let chunk = |text: &str| {
            let mut it = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
            it.as_object_mut()
                .expect("it is")
                .extend(more(text).as_object().cloned().expect("it is"));
            choice(it)
        };
        thought.map(chunk).to_vec()
    };
    let plain = chunks(&|_| json!({}));
    let ids = chunks(&|text| json!({"token_ids": vec![7; text.len()]}));
    let entries = chunks(&|text| {
        json!({"logprobs": {"content": text.chars().map(|token| {
        json!({"token": token.to_string()})
    }).collect::<Vec<_>>()}})
    });
    let whole = vec![text(0, &thought.concat())];
    let estimate = |n| json!({"reasoning_tokens": n, "reasoning_tokens_estimated": true});
    for (policy, chunks, details, expected) in [
        (Upstream, &plain, json!(null), json!(null)),
        (Counted, &plain, json!(null), estimate(2)),
        (Counted, &plain, json!({"reasoning_tokens": 0}), estimate(2)),
        (Counted, &plain, json!({"reasoning_tokens": 9}), json!({"reasoning_tokens": 9})),
        (Counted, &ids, json!({"x": 1}), json!({"x": 1, "reasoning_tokens": 4})),
        (Counted, &entries, json!(null), json!({"reasoning_tokens": 4})),
        (Counted, &whole, json!(null), estimate(1)),
        (Counted, &vec![text(0, "Hi")], json!(null), json!(null)),
    ] {
        let mut options = ChatOptions::default();
        options.reasoning_tokens = policy;
        let details = json!({"completion_tokens": 30, "completion_tokens_details": details});
        let mut last = usage();
        last.usage = Field::Value(details);
        let chunks: Vec<_> = chunks.iter().cloned().chain([stop(0, "stop"), last]).collect();
        let seen = run(&mut chat("qwen3", options), chunks, End::Stop);
        let usage = seen.chunks.last().and_then(|chunk| chunk.usage.value()).expect("usage");
        assert_eq!(usage["completion_tokens_details"], expected, "{policy:?}");
    }
}

// Contract: X.39.
#[test]
fn estimated_reasoning_tokens_never_exceed_completion_tokens() {
    for (tokens, expected) in [(90, 5), (3, 3)] {
        let response = serde_json::from_value(json!({
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "<think>sixteen bytes and 4.</think>a"}}],
            "usage": {"completion_tokens": tokens},
        }));
        let whole = chat("qwen3", ChatOptions::default()).complete(response.expect("a completion"));
        let usage = whole.expect("no limit").usage.into_value().expect("usage");
        let expected = json!({"reasoning_tokens": expected, "reasoning_tokens_estimated": true});
        assert_eq!(usage["completion_tokens_details"], expected);
    }
}

// Contract: S1.41.
#[test]
fn unknown_fields_of_a_withheld_chunk_are_emitted_at_once() {
    let seen = clean(
        "hermes",
        vec![
            with(with(text(0, "<tool"), "warning", json!("slow")), "obfuscation", json!("xy")),
            text(0, "box>"),
        ],
    );
    assert_eq!(seen.chunks[0].fields.get("warning"), Some(&json!("slow")));
    assert_eq!(seen.chunks[0].choices, []);
    assert_eq!(read(&seen.chunks)[&0].content, "<toolbox>");
    assert!(seen.chunks.iter().all(|chunk| !chunk.fields.contains_key("obfuscation")));
}

#[test]
fn chunks_without_choices_pass_at_once() {
    let filter = chunk(json!({"id": "c1", "choices": [], "prompt_filter_results": [1]}));
    let seen = clean("hermes", vec![text(0, "<tool"), filter.clone(), stop(0, "stop")]);
    assert_eq!(seen.chunks[0], filter);
}

/// One chunk with text for several choices.
fn several(texts: &[(u32, &str)]) -> Chunk {
    let choices: Vec<_> = texts
        .iter()
        .map(|(index, text)| json!({"index": index, "delta": {"content": text}}))
        .collect();
    chunk(json!({"id": "c1", "choices": choices}))
}

// Contract: S1.57, X.27.
#[test]
fn packed_chunks_contain_each_index_once_in_ascending_order() {
    let input = several(&[(7, "z"), (0, &format!("a{CALL}b")), (2, CALL)]);
    let seen = clean("hermes", vec![input]);
    let indices: Vec<Vec<u32>> = seen
        .chunks
        .iter()
        .map(|chunk| chunk.choices.iter().map(|choice| choice.index).collect())
        .collect();
    assert_eq!(indices, [vec![0, 2, 7], vec![0], vec![0], vec![0, 2]]);
    let choices = read(&seen.chunks);
    assert_eq!((choices[&0].content.as_str(), choices[&0].calls.len()), ("ab", 1));
    assert_eq!(choices[&7].content, "z");
}

// Contract: S1.57.
#[test]
fn single_choice_emission_puts_one_choice_in_each_chunk() {
    let mut options = ChatOptions::default();
    options.emission = Emission::SingleChoice;
    let chunks = vec![
        with_usage(several(&[(7, "z"), (0, &format!("a{CALL}b"))]), 5),
        stop(0, "stop"),
        stop(7, "stop"),
    ];
    let seen = run(&mut chat("hermes", options), chunks.clone(), End::Stop);
    assert!(seen.chunks.iter().all(|chunk| chunk.choices.len() == 1));
    let usages = seen.chunks.iter().filter(|chunk| chunk.usage.value().is_some());
    assert_eq!(usages.count(), 1);
    assert_eq!(read_finished(&seen.chunks), read_finished(&clean("hermes", chunks).chunks));
}

// Contract: X.27.
#[test]
fn withheld_choice_does_not_delay_other_choices() {
    let seen = clean("hermes", vec![several(&[(0, "<tool_call>{"), (1, "Hi.")])]);
    assert_eq!(choices(&seen.chunks)[0]["index"], 1);
}

#[test]
fn emitted_text_reports_the_chunk_where_it_began() {
    let seen = clean(
        "hermes",
        vec![text(0, "a"), text(0, "<to"), text(1, "b"), text(0, "ol"), text(0, "x"), text(0, "y")],
    );
    assert_eq!(seen.origins, [1, 3, 2, 6]);
}

#[test]
fn synthesized_chunks_have_null_usage_if_upstream_does() {
    let bare = || text(0, "a <tool");
    let null = || Chunk { usage: Field::Null, ..bare() };
    for (input, usage) in [
        (vec![bare()], Field::Missing),
        (vec![null()], Field::Null),
        (vec![null(), text(0, "x")], Field::Missing),
        (vec![null(), text(0, "<tool")], Field::Null),
    ] {
        let seen = clean("hermes", input);
        assert_eq!(seen.chunks.last().map(|chunk| &chunk.usage), Some(&usage));
    }
    // One that says only what nobody knows, as its text is withheld.
    let said = with(Chunk { usage: Field::Null, ..text(0, "<tool") }, "x", json!(1));
    let seen = clean("hermes", vec![said]);
    assert_eq!(seen.chunks[0].fields["x"], 1);
    assert_eq!(seen.chunks[0].usage, Field::Null);
    assert!(seen.chunks[0].choices.is_empty());
}

#[test]
fn missing_finish_reason_field_stays_missing() {
    let bare = || choice(json!({"index": 0, "delta": {"content": "<tool"}}));
    let null = || text(0, "box> <tool");
    let rest = |input| {
        let seen = clean("hermes", input);
        seen.chunks
            .into_iter()
            .map(|chunk| chunk.choices[0].finish_reason.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(rest(vec![bare()]), [Field::Missing]);
    assert_eq!(rest(vec![bare(), null()]), [Field::Null, Field::Null]);
    assert_eq!(rest(vec![null(), bare()])[1..], [Field::Missing, Field::Missing]);
}
