//! Names and aliases of formats, as users of each engine write them.

use think_filter::{aliases, format, formats};

/// Names that users ask for, each with its format.
const WANTED: &[(&str, &str)] = &[
    ("deepseek_r1", "deepseek_r1"),
    ("deepseek_v4", "deepseek_v4"),
    ("qwen3", "qwen3"),
    ("qwen3_coder", "qwen3"),
    ("glm45", "glm45"),
    ("ling3", "ling3"),
    ("kimi", "kimi"),
    ("kimi_k2", "kimi_k2"),
    ("minimax_m2", "minimax_m2"),
    ("minimax_m3", "minimax_m3"),
    ("minimax_append_think", "minimax_append_think"),
    ("mistral", "mistral"),
    ("granite", "granite"),
    ("cohere_command4", "cohere"),
    ("gemma4", "gemma4"),
    ("seed_oss", "seed_oss"),
    ("ernie45", "ernie45"),
    ("hunyuan_a13b", "hunyuan_a13b"),
    ("hy_v3", "hy_v3"),
    ("hy_v4", "hy_v4"),
    ("olmo3", "olmo3"),
    ("nemotron_v3", "nemotron_v3"),
    ("step3", "step3"),
    ("step3p5", "step3p5"),
    ("apertus", "apertus"),
    ("holo2", "holo2"),
    ("poolside_v1", "poolside_v1"),
    ("exaone4", "exaone4"),
    ("exaone_deep", "exaone_deep"),
    ("phi4_reasoning", "phi4_reasoning"),
    ("open_thoughts", "open_thoughts"),
    ("lead_only", "lead_only"),
    ("basic", "basic"),
    ("passthrough", "passthrough"),
    ("deepseek-r1", "deepseek_r1"),
    ("interns1", "qwen3"),
    ("kimi_k25", "kimi_k2"),
    ("Qwen3.5", "qwen3"),
    ("gemma-4", "gemma4"),
    ("sglang:step3p5", "deepseek_r1"),
    ("VLLM:step3p5", "step3p5"),
    ("smg:minimax", "deepseek_r1"),
    ("sglang:minimax", "qwen3"),
    ("dynamo:nemotron_nano", "basic"),
    ("kimi_k3", "kimi_k3"),
    ("apriel", "apriel"),
    ("lfm2", "lfm2"),
    ("ollama:lfm2", "basic"),
];

// Contract: S3.7.
#[test]
fn every_known_reasoning_name_resolves_to_its_format() {
    for (name, of) in WANTED {
        let found = format(name).map(|format| format.name);
        assert_eq!(found.as_deref(), Ok(*of), "{name}");
    }
}

#[test]
fn every_alias_has_a_format_and_is_unique_per_engine() {
    let formats = formats();
    let mut seen = std::collections::BTreeSet::new();
    for alias in aliases() {
        assert!(formats.iter().any(|format| format.name == alias.of), "{alias:?}");
        assert!(seen.insert((alias.engine, alias.name.replace('-', "_"))), "{alias:?} twice");
        let by_engine = match alias.engine {
            "" => format(alias.name),
            engine => format(&format!("{engine}:{}", alias.name)),
        };
        assert_eq!(by_engine.map(|format| format.name).as_deref(), Ok(alias.of), "{alias:?}");
    }
}

#[test]
fn ambiguous_name_is_refused_with_all_its_meanings() {
    let error = format("minimax").unwrap_err();
    let message =
        "ambiguous reasoning format `minimax`; say which: `sglang:minimax`, `smg:minimax`";
    assert_eq!(error.to_string(), message);
}

#[test]
fn unknown_format_name_is_refused_with_the_nearest() {
    let error = format("qwen4").unwrap_err();
    assert_eq!(error.nearest()[0], "qwen3");
    assert!(format("ollama:minimax").is_err(), "another engine's name");
    assert!(format("").is_err() && format(":").is_err());
}
