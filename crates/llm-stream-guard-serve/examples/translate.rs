//! A request of Anthropic's API to a server of chat completions, and the answer back, without a
//! transport:
//!
//! ```sh
//! cargo run -p llm-stream-guard-serve --no-default-features --example translate
//! ```

use llm_stream_guard::{
    Guard,
    chat::{ChatGuard, ChatOptions},
};
use llm_stream_guard_serve::dialect::{ApiDialect, UnsupportedTools};
use serde_json::{Value, json};

/// The client's request.
const REQUEST: &str = r#"{"model": "Qwen/Qwen3-8B", "max_tokens": 500, "stream": true,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Weather in Paris?"}]}],
    "tools": [{"name": "weather", "input_schema": {"type": "object"}}]}"#;

/// The model's text, as a server without parsers streams it.
const PIECES: [&str; 3] = [
    "<think>a look-up</thi",
    "nk>One moment.\n<tool_call>{\"name\": \"weather\", \"argu",
    "ments\": {\"city\": \"Paris\"}}</tool_call>",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = ApiDialect::Messages;
    let request = client.translate(REQUEST.as_bytes(), UnsupportedTools::Refuse)?;
    let sent: Value = serde_json::from_slice(&request.body())?;
    println!("POST {}\n{sent:#}\n", client.upstream_path());

    let guard = Guard::for_model("Qwen/Qwen3-8B")?.request(&sent).build()?;
    let mut stream = client.stream(ChatGuard::new(guard, ChatOptions::default()), request.asked());
    let mut events = Vec::new();
    for piece in PIECES {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
        stream.push(format!("data: {chunk}\n\n").as_bytes(), &mut events)?;
    }
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    stream.push(format!("data: {last}\n\ndata: [DONE]\n\n").as_bytes(), &mut events)?;
    stream.finish(&mut events)?;
    print!("{}", String::from_utf8(events)?);
    Ok(())
}
