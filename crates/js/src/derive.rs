//! Families' files from chat templates.

use llm_stream_guard::{Checkpoint, derive_rendered};
use wasm_bindgen::prelude::*;

use crate::fault;

#[wasm_bindgen]
extern "C" {
    /// An object of JavaScript that renders chat templates.
    pub type Renderer;

    /// Renders a template with variables, which are JSON text. Throws a text where it fails.
    #[wasm_bindgen(method, catch)]
    fn render(this: &Renderer, template: &str, variables: &str) -> Result<String, JsValue>;
}

/// Returns the text of the file of the family that a chat template shows. `config` is the JSON text
/// of a `tokenizer_config.json`.
#[wasm_bindgen]
pub fn derive(config: &str, renderer: &Renderer) -> Result<String, JsValue> {
    let config = serde_json::from_str(config).map_err(fault)?;
    let render = |template: &str, variables: &str| {
        let rendered = renderer.render(template, variables);
        rendered.map_err(|problem| problem.as_string().unwrap_or_else(|| "it fails".to_owned()))
    };
    let derived = derive_rendered(&Checkpoint::from_tokenizer_config(&config), &render);
    derived.map(|derived| derived.file).map_err(fault)
}
