//! A stream of chat-completion chunks with markup becomes one a strict client accepts; the same
//! chunks put together are the whole response.

use llm_stream_guard::{
    Guard,
    chat::{Aggregator, ChatGuard, ChatOptions, Chunk, guard_chunks},
    profile,
};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

/// What a server without a parser of its own sends.
fn upstream() -> Vec<Result<Chunk, serde_json::Error>> {
    let delta = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [choice]});
        serde_json::from_value(chunk)
    };
    vec![
        delta(json!({"role": "assistant", "content": ""}), json!(null)),
        delta(json!({"content": "<think>Look it up.</th"}), json!(null)),
        delta(json!({"content": "ink>One moment. <tool_call>{\"name\""}), json!(null)),
        delta(json!({"content": ": \"find\", \"arguments\": {}}</tool_call>"}), json!(null)),
        delta(json!({}), json!("stop")),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guard = Guard::builder(&profile("qwen3")?).build()?;
    let guard = ChatGuard::new(guard, ChatOptions::default());
    let mut chunks = guard_chunks(tokio_stream::iter(upstream()), guard);
    let mut whole = Aggregator::default();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        println!("{}", serde_json::to_string(&chunk.choices)?);
        whole.push(&chunk);
    }
    println!("{}", serde_json::to_string_pretty(&whole.finish())?);
    Ok(())
}
