//! The types of `async-openai`: what fits goes both ways, what does not is refused.

use async_openai::types::chat::{CreateChatCompletionResponse, CreateChatCompletionStreamResponse};
use llm_stream_guard::chat::{ChatOptions, Chunk, Completion, ConvertError, guard_chunks};
use serde_json::json;

use crate::chat::{
    feed::{chat, choice, text},
    reader::read_finished,
    streams::{drain, upstream},
};

fn typed(chunk: Chunk) -> CreateChatCompletionStreamResponse {
    chunk.try_into().expect("it fits")
}

#[test]
fn stream_of_async_openai_chunks_is_guarded() {
    let input = [
        typed(text(0, "Hi. <tool_call>{\"name\": \"f\", ")),
        typed(text(0, "\"arguments\": {}}</tool_call>")),
        typed(choice(json!({"index": 0, "delta": {}, "finish_reason": "stop"}))),
    ];
    let seen = drain(guard_chunks(
        upstream(input.map(Ok::<_, ()>)),
        chat("hermes", ChatOptions::default()),
    ));
    let seen: Vec<Chunk> =
        seen.into_iter().map(|it| it.expect("no error").try_into().expect("it fits")).collect();
    let choice = &read_finished(&seen)[&0];
    assert_eq!((choice.content.as_str(), choice.calls.len()), ("Hi. ", 1));
    assert_eq!(choice.finish.as_deref(), Some("tool_calls"));
}

#[test]
fn conversion_to_async_openai_refuses_unsupported_fields() {
    let refuse = |chunk| CreateChatCompletionStreamResponse::try_from(chunk).expect_err("refused");
    let reasoning = choice(json!({"index": 0, "delta": {"reasoning": "hm"}}));
    assert!(matches!(refuse(reasoning), ConvertError::Reasoning));
    let parts = choice(json!({"index": 0, "delta": {"content": [{"type": "text"}]}}));
    assert!(matches!(refuse(parts), ConvertError::Parts));
    let stranger = choice(json!({"index": 0, "delta": {}, "finish_reason": "abort"}));
    assert!(matches!(refuse(stranger), ConvertError::Field(_)));
}

#[test]
fn complete_responses_convert_to_async_openai_and_back() {
    let response = json!({"id": "c1", "object": "chat.completion", "created": 7, "model": "m", "usage": null,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]});
    let ours: Completion = serde_json::from_value(response).expect("a completion");
    let theirs: CreateChatCompletionResponse = ours.clone().try_into().expect("it fits");
    let back: Completion = theirs.try_into().expect("it fits");
    assert_eq!(back.choices[0].message.text(), Some("a"));
    assert_eq!(back.choices[0].finish_reason, ours.choices[0].finish_reason);
}
