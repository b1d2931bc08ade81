//! Finds families by name or by text, and writes calls in a family's syntax.

use llm_stream_guard::{
    Tools,
    toolcall_parsers::{self, EncodeCall},
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::{fault, settings::Settings};

/// Returns the profile that settings name.
#[wasm_bindgen]
pub fn profile(settings: &str) -> Result<String, JsValue> {
    let profile = Settings::read(settings)?.profile()?;
    serde_json::to_string(&profile).map_err(fault)
}

/// Returns the families whose models may have written a text, and the profile that reads it best.
#[wasm_bindgen]
pub fn detect(text: &str) -> Result<String, JsValue> {
    let detection = llm_stream_guard::detect([text]);
    let found = json!({
        "family": detection.profile().map(|profile| profile.name),
        "certainty": detection.certainty.to_string(),
        "candidates": detection.candidates,
        "profile": detection.profile(),
    });
    Ok(found.to_string())
}

/// Writes calls in a family's syntax. Calls are a list of objects with `name`, `arguments` and
/// optionally `id`, or calls of the OpenAI API, which have name and arguments in `function`.
#[wasm_bindgen]
pub fn encode(calls: &str, settings: &str) -> Result<String, JsValue> {
    let settings = Settings::read(settings)?;
    let profile = settings.profile()?;
    let grammar = profile.grammar_to_write().map_err(fault)?;
    let grammar =
        grammar.ok_or_else(|| fault(format!("`{}` writes no tool calls", profile.name)))?;
    let calls: Vec<Value> = serde_json::from_str(calls).map_err(fault)?;
    let mut texts = Vec::new();
    for call in &calls {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| fault("calls: expected a `name` in each call"))?;
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        texts.push((name, arguments, call.get("id").and_then(Value::as_str)));
    }
    let encoded = texts.iter().map(|(name, arguments, id)| {
        let call = EncodeCall::new(name, arguments);
        id.map_or(call, |id| call.with_id(id))
    });
    let encoded: Vec<_> = encoded.collect();
    let tools = settings.tools().cloned().unwrap_or_else(|| Tools::implied_by(&encoded));
    toolcall_parsers::encode(&grammar, &encoded, &tools).map_err(fault)
}
