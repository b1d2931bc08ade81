//! Requests as servers need them.

use llm_stream_guard::{Answer, Server, forward_request, move_tools_to_prompt, request_token_ids};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::{fault, settings::Settings};

/// Returns a request with its tools, and earlier calls and results, as text of its messages. The
/// settings name the family.
#[wasm_bindgen(js_name = moveToolsToPrompt)]
pub fn move_tools(request: &str, settings: &str) -> Result<String, JsValue> {
    let mut body: Value = serde_json::from_str(request).map_err(fault)?;
    let profile = Settings::read(settings)?.profile()?;
    move_tools_to_prompt(&mut body, &profile).map_err(fault)?;
    Ok(body.to_string())
}

/// Returns a request as `server` needs it, as `{"body": .., "isRaw": ..}`. With `has_ids`, the
/// server is asked for the ids of tokens.
#[wasm_bindgen(js_name = forwardRequest)]
pub fn forward(request: &str, server: &str, has_ids: bool) -> Result<String, JsValue> {
    let mut body: Value = serde_json::from_str(request).map_err(fault)?;
    let server = match server {
        "vllm" => Server::Vllm,
        "sglang" => Server::Sglang,
        "llama.cpp" => Server::LlamaCpp,
        "ollama" => Server::Ollama,
        other => {
            let words = "`vllm`, `sglang`, `llama.cpp`, `ollama`, `other`";
            return Err(fault(format!("server: expected one of {words}, found `{other}`")));
        }
    };
    let is_raw = forward_request(&mut body, server) == Answer::Raw;
    if has_ids && is_raw {
        // Ids that come with the answer are left in it: clients ignore them.
        let _ = request_token_ids(&mut body, server);
    }
    Ok(json!({"body": body, "isRaw": is_raw}).to_string())
}
