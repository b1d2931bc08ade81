//! Log probabilities: every entry goes where its text goes.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, Chunk, Logprobs, ReasoningField},
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{aggregate, chat, choice, choices, clean, run, stop},
    reader::read_finished,
};

/// A chunk of tokens.
fn tokens(tokens: &[&str]) -> Chunk {
    let entries: Vec<_> = tokens
        .iter()
        .map(|token| json!({"token": token, "logprob": -0.5, "bytes": token.as_bytes()}))
        .collect();
    choice(json!({
        "index": 0, "delta": {"content": tokens.concat()}, "finish_reason": null,
        "logprobs": {"content": entries, "refusal": null},
    }))
}

/// Each delta's text, and the tokens that came with it.
fn seen(chunks: &[Chunk]) -> Vec<(String, String)> {
    let tokens = |choice: &Value| {
        let entries = choice["logprobs"]["content"].as_array().cloned().unwrap_or_default();
        let tokens: Vec<_> = entries.iter().filter_map(|it| it["token"].as_str()).collect();
        tokens.join("|")
    };
    let text = |choice: &Value| match &choice["delta"]["content"] {
        Value::String(text) => text.clone(),
        _ => format!("call {}", choice["delta"]["tool_calls"][0]["index"]),
    };
    choices(chunks).iter().map(|choice| (text(choice), tokens(choice))).collect()
}

// Contract: S1.43.
#[test]
fn logprob_entries_are_emitted_with_their_text() {
    let out =
        clean("hermes", vec![tokens(&["n", " ", "<"]), tokens(&[" 5", "!"]), stop(0, "stop")]);
    let expected = [("n ", "n| "), ("< 5!", "<| 5|!"), ("call null", "")];
    assert_eq!(seen(&out.chunks), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    read_finished(&out.chunks);
}

const CALL: [&[&str]; 3] =
    [&["Hi. <tool", "_call>"], &["{\"name\": \"f\", \"arguments\": "], &["{}}", "</tool_call>bye"]];

/// The tokens of each list, after all chunks.
fn lists(chunks: &[Chunk]) -> Value {
    let logprobs = aggregate(chunks).choices.remove(0).logprobs.into_value().unwrap_or_default();
    let names = |(name, list): (&String, &Value)| {
        let tokens = list.as_array().into_iter().flatten().map(|entry| entry["token"].clone());
        (name.clone(), tokens.collect::<Value>())
    };
    logprobs.as_object().into_iter().flatten().map(names).collect()
}

// Contract: S1.43.
#[test]
fn logprob_entries_of_markup_are_dropped_and_others_cut_to_their_text() {
    let out = clean("hermes", CALL.map(tokens).into_iter().chain([stop(0, "stop")]).collect());
    let calls = ["_call>", "{\"name\": \"f\", \"arguments\": ", "{}}"];
    let lists = lists(&out.chunks);
    assert_eq!(lists["content"], json!(["Hi. ", "bye"]));
    let of_calls = lists["tool_calls"].as_array().expect("a list").clone();
    assert!(of_calls.iter().all(|token| calls.iter().any(|call| token == call)), "{of_calls:?}");
    assert!(of_calls.len() >= 2, "{of_calls:?}");
}

// Contract: S1.43.
#[test]
fn logprobs_all_keeps_entries_of_markup() {
    let mut options = ChatOptions::default();
    options.logprobs = Logprobs::All;
    let chunks = CALL.map(tokens).into_iter().chain([stop(0, "stop")]).collect();
    let out = run(&mut chat("hermes", options), chunks, End::Stop);
    assert_eq!(lists(&out.chunks), json!({"content": CALL.concat(), "refusal": []}));
    let out = seen(&out.chunks);
    let text = out.iter().position(|(text, _)| text == "bye").expect("text");
    assert!(out[text].1.ends_with("bye"));
}

// Contract: S1.43.
#[test]
fn reasoning_logprobs_use_the_name_of_the_reasoning_field() {
    let chunks = || vec![tokens(&["<think>", "h", "m.</", "think>", "Hi"]), stop(0, "stop")];
    for (field, lists_of) in [
        (
            ReasoningField::ReasoningContent,
            json!({"reasoning_content": ["h", "m."], "content": ["Hi"]}),
        ),
        (ReasoningField::Reasoning, json!({"reasoning": ["h", "m."], "content": ["Hi"]})),
        (
            ReasoningField::Both,
            json!({"reasoning": ["h", "m."], "reasoning_content": ["h", "m."], "content": ["Hi"]}),
        ),
        (ReasoningField::Inline, json!({"content": ["h", "m.", "Hi"]})),
        (ReasoningField::Hidden, json!({"content": ["Hi"]})),
    ] {
        let mut options = ChatOptions::default();
        options.reasoning = field;
        let mut seen = lists(&run(&mut chat("qwen3", options), chunks(), End::Stop).chunks);
        seen.as_object_mut().expect("lists").remove("refusal");
        assert_eq!(seen, lists_of, "{field:?}");
    }
}

#[test]
fn text_completion_logprobs_are_split_between_reasoning_and_content() {
    let text = ["<think>", "hm", "</think>", "Hi"];
    let chunk = choice(
        json!({"index": 0, "delta": {"content": text.concat()}, "finish_reason": null,
        "logprobs": {"tokens": text, "token_logprobs": [1, 2, 3, 4], "text_offset": [0, 7, 9, 17]}}),
    );
    let whole = aggregate(&clean("qwen3", vec![chunk, stop(0, "stop")]).chunks);
    assert_eq!(
        whole.choices[0].logprobs.value(),
        Some(&json!({
            "reasoning_content": {"tokens": ["hm"], "token_logprobs": [2], "text_offset": [7]},
            "tokens": ["Hi"], "token_logprobs": [4], "text_offset": [17],
        }))
    );
}

#[test]
fn logprob_entries_without_text_are_kept() {
    let out = clean(
        "hermes",
        vec![
            choice(
                json!({"index": 0, "delta": {"content": ""}, "logprobs": {"content": [{"token": "<s>", "bytes": []}]}}),
            ),
            tokens(&["<tool_call>"]),
            stop(0, "stop"),
        ],
    );
    assert_eq!(lists(&out.chunks)["content"], json!(["<s>"]));
}

#[test]
fn other_logprobs_members_are_emitted_once() {
    let refused = json!({"content": [], "refusal": [{"token": "no"}]});
    let out = clean(
        "hermes",
        vec![
            choice(json!({"index": 0, "delta": {"content": "<tool"}, "logprobs": refused})),
            tokens(&["box"]),
            stop(0, "stop"),
        ],
    );
    let all: Vec<_> = choices(&out.chunks)
        .iter()
        .filter_map(|it| it["logprobs"].get("refusal").cloned())
        .collect();
    assert_eq!(all, [json!([{"token": "no"}])]);
}
