//! Runs two turns of a conversation. The transcript stays canonical, the wire never shows a
//! reserved marker, and markers that a user typed are restored.

use serde_json::{Value, json};
use wire_remap::{CapabilityTable, bodies::OpenAiChat};

/// Returns the events of a server that streams `text` in pieces of three bytes.
fn answer(text: &str) -> Vec<Value> {
    let chunk = |piece: &[u8]| {
        let text = String::from_utf8_lossy(piece);
        json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
    };
    let mut events: Vec<Value> = text.as_bytes().chunks(3).map(chunk).collect();
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    events
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let routes = CapabilityTable::hermes_families();
    let mut transcript = vec![
        json!({"role": "system", "content": "Put each call between <tool_call> and </tool_call>."}),
        json!({"role": "user", "content": "Search the notes for [[CALL]]."}),
    ];
    let turns = [
        "[[CALL]]\n{\"name\": \"search\", \"arguments\": {\"q\": \"[[~CALL]]\"}}\n[[/CALL]]",
        "The notes mention [[~CALL]] twice.",
    ];
    for spoken in turns {
        let regime = routes.regime("vllm", "Qwen3-32B");
        let mut body = json!({"model": "Qwen3-32B", "messages": transcript});
        let report = regime.request().apply(&mut body, &OpenAiChat)?;
        let sent = report.total();
        println!("sent: {} markers encoded, {} literals escaped", sent.encoded, sent.escaped);
        assert!(!body.to_string().contains("<tool_call>"));

        let mut response = regime.response();
        let mut text = String::new();
        for mut event in answer(spoken) {
            for event in response.event(&mut event, &OpenAiChat).iter().chain([&event]) {
                text += event["choices"][0]["delta"]["content"].as_str().unwrap_or_default();
            }
        }
        println!("canonical answer:\n{text}\n");
        transcript.push(json!({"role": "assistant", "content": text}));
        transcript.push(json!({"role": "user", "content": "Go on."}));
    }
    Ok(())
}
