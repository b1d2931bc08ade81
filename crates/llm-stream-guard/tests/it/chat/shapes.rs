//! Streams in the shapes servers write, to the strict reader.

use llm_stream_guard::{
    End,
    chat::{ChatGuard, ChatOptions, Chunk},
};
use serde_json::{Value, json};

use crate::chat::{
    feed::{builder, run},
    reader::{Read, read_finished},
};

const PIECES: [&str; 5] = [
    "<thi",
    "nk>hm</think>",
    "Hi. <tool_call>{\"name\": \"f\"",
    ", \"arguments\": {}}</tool",
    "_call>",
];

fn check(what: &str, chunks: &[Value]) -> Read {
    let chunks: Vec<Chunk> = chunks
        .iter()
        .map(|chunk| serde_json::from_value(chunk.clone()).expect("a chunk"))
        .collect();
    let guard = builder("qwen3").build().expect("builds");
    let seen = run(&mut ChatGuard::new(guard, ChatOptions::default()), chunks, End::Stop);
    let read = read_finished(&seen.chunks).remove(&0).expect("a choice");
    assert_eq!((read.reasoning.as_str(), read.content.as_str()), ("hm", "Hi. "), "{what}");
    assert_eq!(read.calls.len(), 1, "{what}");
    assert_eq!(read.finish.as_deref(), Some("tool_calls"), "{what}");
    read
}

#[test]
fn vllm_stream_with_usage_on_every_chunk_is_read() {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish, "token_ids": null}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    };
    let mut chunks = vec![chunk(json!({"role": "assistant", "content": ""}), json!(null))];
    chunks.extend(PIECES.map(|piece| chunk(json!({"content": piece}), json!(null))));
    let mut last = chunk(json!({"content": ""}), json!("stop"));
    last["choices"][0]["stop_reason"] = json!(null);
    chunks.push(last);
    chunks.push(
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}}),
    );
    check("vllm", &chunks);
}

#[test]
fn sglang_stream_with_repeated_role_and_matched_stop_is_read() {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "2", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish, "matched_stop": null}],
            "usage": null})
    };
    let delta = |content: Value| json!({"role": null, "content": content, "reasoning_content": null, "tool_calls": null});
    let mut first = delta(json!(""));
    first["role"] = json!("assistant");
    let mut chunks = vec![chunk(first, json!(null))];
    chunks.extend(PIECES.map(|piece| chunk(delta(json!(piece)), json!(null))));
    let mut last = chunk(delta(json!(null)), json!("stop"));
    last["choices"][0]["matched_stop"] = json!(151_645);
    chunks.push(last);
    check("sglang", &chunks);
}

#[test]
fn llama_cpp_stream_with_timings_on_the_usage_chunk_is_read() {
    let chunk = |delta: Value, finish: Value| {
        json!({"choices": [{"finish_reason": finish, "index": 0, "delta": delta}], "created": 1,
            "id": "chatcmpl-3", "model": "m", "system_fingerprint": "b0", "object": "chat.completion.chunk"})
    };
    let mut chunks = vec![chunk(json!({"role": "assistant", "content": null}), json!(null))];
    chunks.extend(PIECES.map(|piece| chunk(json!({"content": piece}), json!(null))));
    chunks.push(chunk(json!({}), json!("stop")));
    chunks.push(json!({"choices": [], "created": 1, "id": "chatcmpl-3", "model": "m",
        "object": "chat.completion.chunk", "usage": {"total_tokens": 9}, "timings": {"n": 1}}));
    check("llama.cpp", &chunks);
}

#[test]
fn ollama_stream_with_reasoning_beside_empty_content_is_read() {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "chatcmpl-4", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "system_fingerprint": "fp_ollama",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut chunks = vec![
        chunk(json!({"role": "assistant", "content": "", "reasoning": "h"}), json!(null)),
        chunk(json!({"role": "assistant", "content": "", "reasoning": "m"}), json!(null)),
    ];
    let content =
        |content: &str| chunk(json!({"role": "assistant", "content": content}), json!(null));
    chunks.extend(PIECES[2..].iter().map(|piece| content(piece)));
    chunks.push(chunk(json!({"role": "assistant", "content": ""}), json!("stop")));
    check("ollama", &chunks);
}

#[test]
fn openrouter_stream_with_reasoning_details_and_late_usage_is_read() {
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "gen-5", "provider": "P", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "native_finish_reason": finish, "logprobs": null}]})
    };
    let thought = |text: &str| {
        chunk(
            json!({"role": "assistant", "content": "", "reasoning": text,
            "reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0}]}),
            json!(null),
        )
    };
    let mut chunks = vec![thought("h"), thought("m")];
    let content =
        |content: &str| chunk(json!({"role": "assistant", "content": content}), json!(null));
    chunks.extend(PIECES[2..].iter().map(|piece| content(piece)));
    chunks.push(chunk(json!({"role": "assistant", "content": ""}), json!("stop")));
    let mut usage = chunk(json!({"role": "assistant", "content": ""}), json!(null));
    usage["usage"] = json!({"total_tokens": 9, "cost": 0.1});
    chunks.push(usage);
    check("openrouter", &chunks);
}
