//! Reads routes from TOML and prints the remap of each.

use wire_remap::{CapabilityError, CapabilityTable};

const ROUTES: &str = r#"
    [tables.brackets]
    blocks = [{ canonical = ["<tool_call>", "</tool_call>"], wire = ["[[DO]]", "[[/DO]]"] }]

    [[routes]]
    provider = "hosted"
    model = "*"
    remap = "off"
    because = "the server parses calls itself"

    [[routes]]
    model = "*qwen3*"
    remap = "brackets"
    because = "measured on our prompts"
"#;

fn main() -> Result<(), CapabilityError> {
    let mut routes = CapabilityTable::from_toml(ROUTES)?;
    routes.extend(CapabilityTable::hermes_families());
    for (provider, model) in [("hosted", "qwen3"), ("vllm", "Qwen3-8B"), ("ollama", "qwq")] {
        let regime = routes.regime(provider, model);
        let why = routes.because(provider, model).unwrap_or("no row matches");
        println!(
            "{provider}/{model}: <tool_call> becomes {} ({why})",
            regime.encode("<tool_call>")
        );
    }
    Ok(())
}
