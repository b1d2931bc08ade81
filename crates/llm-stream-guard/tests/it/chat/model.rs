//! The model of chunks: nothing is lost between reading and writing.

use llm_stream_guard::chat::{ChatChunk, Chunk, Field};
use serde_json::{Value, json};

#[test]
fn chunks_serialize_to_the_json_they_were_parsed_from() {
    for chunk in [
        json!({"choices": []}),
        json!({"id": null, "choices": [], "usage": null, "x": {"y": [1]}}),
        json!({"choices": [{"index": 1, "delta": {"content": null, "role": "assistant", "refusal": null},
            "finish_reason": null, "logprobs": null, "token_ids": null}]}),
        json!({"choices": [{"index": 0, "delta": {"content": [{"type": "text", "text": "a"}]}}]}),
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function",
            "function": {"name": "f", "arguments": "", "x": 1}, "y": 2}]}, "finish_reason": "abort"}]}),
        json!({"choices": [{"index": 0, "delta": {"reasoning": "a", "reasoning_content": null}}]}),
    ] {
        let read: Chunk = serde_json::from_value(chunk.clone()).expect("a chunk");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), chunk);
    }
}

#[test]
fn chunks_with_missing_or_null_members_are_parsed() {
    let chunk =
        json!({"choices": [{"delta": {"tool_calls": null}}, {"index": null, "delta": null}]});
    let read: Chunk = serde_json::from_value(chunk).expect("a chunk");
    assert_eq!(read.choices.len(), 2);
    let read: Chunk =
        serde_json::from_value(json!({"choices": null, "usage": {}})).expect("a chunk");
    assert_eq!(read.usage, Field::Value(json!({})));
}

#[test]
fn json_value_converts_to_a_chunk_or_is_returned() {
    for (value, chunk) in [
        (json!({"choices": []}), true),
        (json!({"usage": {"total_tokens": 1}}), true),
        (json!({"error": {"message": "x"}}), false),
        (json!({"choices": 5}), false),
        (json!("[DONE]"), false),
    ] {
        match value.clone().into_chunk() {
            Ok(_) => assert!(chunk, "{value}"),
            Err(same) => assert_eq!((same, chunk), (value, false)),
        }
    }
    let value = json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "id": "c"});
    let chunk = value.clone().into_chunk().expect("a chunk");
    assert_eq!(Value::from_chunk(chunk), value);
}
