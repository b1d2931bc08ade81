//! What the guard does not change leaves as it came.

use llm_stream_guard::{
    End,
    chat::{ChatOptions, Chunk},
};
use serde_json::{Value, json};
use stream_laws::Cut;

use crate::chat::{
    feed::{chat, choice, run, stop},
    sse::{machine, written},
};

/// Choices of chunks in which there is nothing to do.
fn unchanged() -> Vec<Value> {
    vec![
        json!({"index": 0, "delta": {"content": "no role"}}),
        json!({"index": 0, "delta": {"content": "a", "role": null, "reasoning_content": null, "refusal": null}}),
        json!({"index": 0, "delta": {"content": "a", "reasoning": ""}, "finish_reason": null}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null, "logprobs": null}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null,
            "logprobs": {"content": [{"token": "a"}], "refusal": null}}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null, "logprobs": {"content": []}}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null, "logprobs": {}}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null,
            "logprobs": {"content": null, "refusal": null}}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null, "logprobs": [1, 2]}),
        json!({"index": 0, "delta": {"content": "a"}, "finish_reason": null, "logprobs": []}),
        json!({"index": 0, "delta": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "x": 1}]},
            "finish_reason": null}),
        json!({"index": 0, "delta": {"content": [{"type": "image_url"}]}, "finish_reason": null}),
        json!({"index": 0, "delta": {"reasoning_content": "a", "content": null}, "finish_reason": null}),
        json!({"index": 0, "delta": {"content": "b"}, "finish_reason": null, "logprobs": {"tokens": ["b"]}}),
    ]
}

// Contract: S1.1.
#[test]
fn chunks_without_changes_pass_unchanged() {
    let chunks: Vec<Chunk> = unchanged().into_iter().map(choice).chain([stop(0, "stop")]).collect();
    let seen = run(&mut chat("hermes", ChatOptions::default()), chunks.clone(), End::Stop);
    for (seen, came) in seen.chunks.iter().zip(&chunks) {
        assert_eq!(seen, came);
    }
    assert_eq!(seen.chunks.len(), chunks.len());
}

// Contract: S1.1.
#[test]
fn events_without_changes_pass_byte_for_byte() {
    let null_calls = json!({"index": 0, "delta": {"content": "a", "tool_calls": null}});
    let call = json!({"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "n", "type": "function",
        "function": {"name": "g", "arguments": "{}"}}]}, "finish_reason": null});
    let done = json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"});
    let choices = unchanged().into_iter().chain([null_calls, call, done]);
    let event = |choice: Value| format!("data:  {}\n\n", json!({"choices": [choice], "id": "c"}));
    let upstream: String = choices.map(event).chain(["data: [DONE]\n\n".to_owned()]).collect();
    let out = written(&machine("hermes"), upstream.as_bytes(), Cut::Whole, End::Stop);
    assert_eq!(String::from_utf8(out).expect("text"), upstream);
}

#[test]
fn event_with_refuted_markup_keeps_its_json_spelling() {
    let event = |text: &str| {
        format!(
            "data: {{ \"id\":\"c\", \"choices\": [ {{\"index\":0, \"delta\": {{\"content\":{text:?}}}}}]}}\n\n"
        )
    };
    let upstream: String = ["a", "b", "c <d> e", "f", "g <h> i"].map(event).concat();
    let upstream = upstream + "data: [DONE]\n\n";
    let out = written(&machine("hermes"), upstream.as_bytes(), Cut::Whole, End::Stop);
    assert_eq!(String::from_utf8(out).expect("text"), upstream);
}

#[test]
fn waiting_event_is_written_once_with_its_comment_and_id() {
    let chunk = |choices: Value| json!({"id": "c", "choices": choices, "usage": {"n": 1}});
    let text = json!([{"index": 0, "delta": {"content": "a"}}]);
    let upstream = format!(
        "data: {}\n\n: note\nid: 7\ndata: {}\n\ndata: [DONE]\n\n",
        chunk(text),
        chunk(json!([])),
    );
    let out = written(&machine("hermes"), upstream.as_bytes(), Cut::Whole, End::Stop);
    let out = String::from_utf8(out).expect("text");
    assert_eq!((out.matches(": note").count(), out.matches("id: 7").count()), (1, 1), "{out}");
    assert!(out.ends_with("data: [DONE]\n\n"), "{out}");
}
