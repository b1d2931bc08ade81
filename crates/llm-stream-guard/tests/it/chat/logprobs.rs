//! Log probabilities: every entry once, in order, with its text.

use llm_stream_guard::chat::Chunk;
use serde_json::{Value, json};

use crate::chat::{
    feed::{choice, choices, clean, stop},
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
fn entries_come_with_their_text() {
    let out =
        clean("hermes", vec![tokens(&["n", " ", "<"]), tokens(&[" 5", "!"]), stop(0, "stop")]);
    let expected = [("n ", "n| "), ("< 5!", "<| 5|!"), ("call null", "")];
    assert_eq!(seen(&out.chunks), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    read_finished(&out.chunks);
}

// Contract: S1.43.
#[test]
fn entries_of_markup_come_with_what_it_became_and_tokens_are_not_split() {
    let out = clean(
        "hermes",
        vec![
            tokens(&["Hi. <tool", "_call>"]),
            tokens(&["{\"name\": \"f\", \"arguments\": "]),
            tokens(&["{}}", "</tool_call>bye"]),
            stop(0, "stop"),
        ],
    );
    let out = seen(&out.chunks);
    let all: Vec<_> =
        out.iter().map(|(_, tokens)| tokens.as_str()).filter(|it| !it.is_empty()).collect();
    let input =
        ["Hi. <tool", "_call>", "{\"name\": \"f\", \"arguments\": ", "{}}", "</tool_call>bye"];
    assert_eq!(all.join("|"), input.join("|"), "each once, in order");
    let text = out.iter().position(|(text, _)| text == "bye").expect("text");
    assert!(out[text].1.ends_with("bye"));
}

#[test]
fn entries_without_text_of_their_own_are_not_lost() {
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
    let all: Vec<_> = seen(&out.chunks).into_iter().map(|(_, tokens)| tokens).collect();
    assert_eq!(all.concat(), "<s>|<tool_call>");
}

#[test]
fn other_members_come_once() {
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
