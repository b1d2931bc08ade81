//! What engines call the formats.

use alloc::vec::Vec;

use jail_match::{Alias, UnknownName, resolve};

use crate::{format::Format, formats::formats};

/// A row an engine: its names, with ours.
type Engine = (&'static str, &'static [(&'static str, &'static str)]);

/// Names of reasoning parsers, by engine. A name that is ours, too, and means the same stands here
/// all the same: the documentation's table is made of these rows.
const ENGINES: &[Engine] = &[
    (
        "vllm",
        &[
            ("deepseek_r1", "deepseek_r1"),
            ("deepseek_v3", "deepseek_r1"),
            ("deepseek_v4", "deepseek_v4"),
            ("qwen3", "qwen3"),
            ("mimo", "qwen3"),
            ("glm45", "glm45"),
            ("glm47", "glm45"),
            ("ling3", "ling3"),
            ("kimi_k2", "kimi_k2"),
            ("minimax_m2", "minimax_m2"),
            ("minimax_m2_append_think", "minimax_append_think"),
            ("minimax_m3", "minimax_m3"),
            ("mistral", "mistral"),
            ("granite", "granite"),
            ("cohere_command3", "cohere_command4"),
            ("cohere_command4", "cohere_command4"),
            ("gemma4", "gemma4"),
            ("seed_oss", "seed_oss"),
            ("ernie45", "ernie45"),
            ("hunyuan_a13b", "hunyuan_a13b"),
            ("hy_v3", "hy_v3"),
            ("olmo3", "olmo3"),
            ("nemotron_v3", "nemotron_v3"),
            ("step3", "step3"),
            ("step3p5", "step3p5"),
            ("holo2", "holo2"),
            ("poolside_v1", "poolside_v1"),
        ],
    ),
    (
        "vllm_rust",
        &[
            ("deepseek_r1", "deepseek_r1"),
            ("deepseek_v3", "deepseek_r1"),
            ("deepseek_v4", "deepseek_v4"),
            ("qwen3", "qwen3"),
            ("glm45", "glm45"),
            ("kimi", "kimi"),
            ("kimi_k2", "kimi_k2"),
            ("minimax_m2", "minimax_m2"),
            ("minimax_m3", "minimax_m3"),
            ("cohere_cmd", "cohere_command4"),
            ("gemma4", "gemma4"),
            ("seed_oss", "seed_oss"),
            ("nemotron_v3", "nemotron_v3"),
            ("step3", "step3"),
            ("step3p5", "step3p5"),
        ],
    ),
    (
        "sglang",
        &[
            ("deepseek-r1", "deepseek_r1"),
            ("deepseek-v3", "deepseek_r1"),
            ("deepseek-v4", "deepseek_v4"),
            ("qwen3", "qwen3"),
            ("qwen3-thinking", "qwen3"),
            ("interns1", "qwen3"),
            ("mimo", "qwen3"),
            ("glm45", "glm45"),
            ("kimi", "kimi"),
            ("kimi_k2", "kimi_k2"),
            // Qwen3's rules under MiniMax's name.
            ("minimax", "qwen3"),
            ("minimax-append-think", "minimax_append_think"),
            ("minimax-m3", "minimax_m3"),
            ("mistral", "mistral"),
            ("cohere_command4", "cohere_command4"),
            ("gemma4", "gemma4"),
            ("hunyuan", "hunyuan_a13b"),
            ("nemotron_3", "nemotron_v3"),
            ("step3", "step3"),
            // Both of Step's names mean the rules of R1.
            ("step3p5", "deepseek_r1"),
            ("apertus2509", "apertus"),
            ("poolside_v1", "poolside_v1"),
            ("telechat4", "holo2"),
        ],
    ),
    (
        "dynamo",
        &[
            ("deepseek_r1", "deepseek_r1"),
            ("deepseek_v3", "deepseek_r1"),
            ("deepseek_v3_1", "deepseek_r1"),
            ("deepseek_v3_2", "deepseek_r1"),
            ("deepseek_v4", "deepseek_v4"),
            ("deepseekv4", "deepseek_v4"),
            ("qwen3", "qwen3"),
            ("glm45", "glm45"),
            ("kimi", "kimi"),
            ("kimi_k25", "kimi_k2"),
            ("minimax_m2", "minimax_m2"),
            ("minimax_append_think", "minimax_append_think"),
            ("minimax_m3", "minimax_m3"),
            ("mistral", "mistral"),
            ("granite", "granite"),
            ("gemma4", "gemma4"),
            ("gemma-4", "gemma4"),
            ("nemotron_deci", "basic"),
            ("nemotron_nano", "basic"),
            ("nemotron3", "nemotron_v3"),
            ("nemotron_v3", "nemotron_v3"),
            ("step3", "step3"),
            ("basic", "basic"),
        ],
    ),
    (
        "smg",
        &[
            ("deepseek_r1", "deepseek_r1"),
            ("deepseek_v31", "deepseek_r1"),
            ("deepseek_v4", "deepseek_v4"),
            ("deepseek_v41", "deepseek_v4"),
            ("qwen3", "qwen3"),
            ("qwen3_thinking", "qwen3"),
            ("glm45", "glm45"),
            ("kimi", "kimi"),
            ("kimi_k25", "kimi_k2"),
            ("kimi_thinking", "kimi_k2"),
            // The rules of R1 under MiniMax's name.
            ("minimax", "deepseek_r1"),
            ("minimax_m3", "minimax_m3"),
            ("cohere_cmd", "cohere_command4"),
            ("gemma4", "gemma4"),
            ("hy_v4", "hy_v4"),
            ("nano_v3", "nemotron_v3"),
            ("step3", "step3"),
            ("base", "basic"),
            ("passthrough", "passthrough"),
        ],
    ),
    (
        "ollama",
        &[
            ("deepseek3", "deepseek_r1"),
            ("qwen3", "qwen3"),
            ("qwen3-thinking", "qwen3"),
            ("qwen3.5", "qwen3"),
            ("qwen3-vl-instruct", "qwen3"),
            ("qwen3-vl-thinking", "qwen3"),
            ("ornith", "qwen3"),
            ("qwen3-coder", "qwen3_coder"),
            ("glm-4.7", "glm45"),
            ("glm-ocr", "glm45"),
            ("ministral", "mistral"),
            ("cohere", "cohere_command4"),
            ("gemma4", "gemma4"),
            ("gemma4-no-thinking", "gemma4"),
            ("olmo3", "olmo3"),
            ("olmo3-think", "olmo3"),
            ("nemotron-3-nano", "nemotron_v3"),
            ("nemotron-3.5-nano", "nemotron_v3"),
            ("cogito", "basic"),
            ("laguna", "poolside_v1"),
            ("poolside-v1", "poolside_v1"),
            ("lfm2", "basic"),
            ("lfm2-thinking", "basic"),
            ("passthrough", "passthrough"),
        ],
    ),
];

/// Every alias, engine by engine.
pub fn aliases() -> impl Iterator<Item = Alias> + Clone {
    let row = |&(engine, names): &'static Engine| {
        names.iter().map(move |&(name, of)| Alias { engine, name, of })
    };
    ENGINES.iter().flat_map(row)
}

/// The registered format called `name`, or what engines mean by that name; ASCII case does not
/// count, and `-` equals `_`. `engine:name` asks for one engine's meaning: `sglang:minimax`.
///
/// # Errors
/// A name that is not registered, with the nearest that are; one by which engines mean different
/// formats, with the spellings that tell them apart.
pub fn format(name: &str) -> Result<Format, UnknownName> {
    let mut formats = formats();
    let at = {
        let names: Vec<&str> = formats.iter().map(|format| format.name.as_ref()).collect();
        let found = resolve("reasoning format", name, names.iter().copied(), aliases())?;
        names.iter().position(|name| *name == found).unwrap_or_default()
    };
    Ok(formats.swap_remove(at))
}
