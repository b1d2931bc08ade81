//! The registered profiles, one row each.
//!
//! All begin in content: only the caller knows whether the prompt opened the reasoning.

use toolcall_parsers::InReasoning;

use crate::profile::Profile;

/// Every profile, in the order of the documentation. Where the patterns of two hold a model, the
/// first is its.
pub(crate) fn all() -> Vec<Profile> {
    let mut rows = json_and_python();
    rows.extend(tagged());
    rows.extend(pairs());
    rows
}

/// Calls as JSON or Python.
fn json_and_python() -> Vec<Profile> {
    vec![
        Profile { models: list(&["hermes-*", "nous-hermes-*", "qwen2.5-*"]), ..tools("hermes") },
        // Before qwen3, whose pattern would hold it, too.
        Profile {
            models: list(&["qwen3-coder-*", "qwen3.5-*"]),
            ..ending("qwen3_coder", "qwen3")
        },
        Profile {
            tools: Some("hermes".into()),
            aliases: list(&["qwq"]),
            models: list(&["qwen3-*", "qwq-*"]),
            ..ending("qwen3", "qwen3")
        },
        Profile {
            tools: Some("hermes".into()),
            tool_in_reasoning: InReasoning::Suspend,
            models: list(&["trinity-*"]),
            ..thinking("trinity", "basic")
        },
        Profile {
            aliases: list(&["mistral_v11", "magistral"]),
            models: list(&["mistral-*", "magistral-*", "devstral-*", "ministral-*"]),
            needs_special_tokens: true,
            ..thinking("mistral", "mistral")
        },
        Profile {
            models: list(&["llama-3.1-*", "llama-3.2-*", "llama-3.3-*", "meta-llama-3*"]),
            needs_special_tokens: true,
            ..tools("llama3_json")
        },
        tools("pythonic"),
        Profile {
            models: list(&["deepseek-v3.1*", "deepseek-v3.2-exp*"]),
            ..thinking("deepseek_v3_1", "deepseek_r1")
        },
        Profile {
            reasoning: Some("gemma4".into()),
            tool_in_reasoning: InReasoning::End,
            models: list(&["gemma-4-*"]),
            needs_special_tokens: true,
            ..tools("gemma4")
        },
        Profile {
            models: list(&["functiongemma-*"]),
            needs_special_tokens: true,
            ..tools("functiongemma")
        },
        Profile {
            reasoning: Some("minimax_m3".into()),
            tool_in_reasoning: InReasoning::End,
            models: list(&["minimax-m3*"]),
            needs_special_tokens: true,
            ..tools("minimax_m3")
        },
        Profile {
            reasoning: Some("k2_horizon".into()),
            models: list(&["k2-horizon*"]),
            needs_special_tokens: true,
            ..tools("k2_horizon")
        },
        Profile { models: list(&["deepseek-r1*"]), ..Profile::reasoning("deepseek_r1") },
        thinking_for("deepseek_v3", "deepseek_r1", &["deepseek-v3", "deepseek-v3-0324"]),
        Profile {
            tool_in_reasoning: InReasoning::End,
            ..thinking_for("kimi_k2", "kimi_k2", &["kimi-k2*"])
        },
        Profile { reasoning: Some("exaone4".into()), ..family("exaone4", "hermes") },
        Profile {
            reasoning: Some("basic".into()),
            models: list(&["mimo-vl-*"]),
            ..family("mimo_vl", "hermes")
        },
        thinking_for("granite", "granite", &["granite-3*"]),
        Profile { models: list(&["granite-4*"]), ..tools("granite4") },
        thinking_for("ernie45", "ernie45", &["ernie-4.5-*"]),
        thinking_for("internlm2", "basic", &["internlm2*", "intern-s1*"]),
        thinking_for("apriel", "apriel", &["apriel-*"]),
        thinking_for("hunyuan_a13b", "hunyuan_a13b", &["hunyuan-a13b*"]),
        Profile {
            aliases: list(&["nemotron_nano_v2"]),
            ..thinking_for(
                "nemotron_deci",
                "basic",
                &["llama-3.*-nemotron-*", "nvidia-nemotron-nano-*-v2"],
            )
        },
        thinking_for("xlam", "basic", &["xlam-*", "llama-xlam-*"]),
        thinking_for(
            "cohere",
            "cohere",
            &["command-a-*", "c4ai-command-a-*", "command-r7b-*"],
        ),
        Profile {
            tool_in_reasoning: InReasoning::Suspend,
            ..thinking_for("apertus", "apertus", &["apertus-*"])
        },
        thinking_for("pangu", "pangu", &["openpangu-*"]),
        thinking_for("minimax_m1", "basic", &["minimax-m1-*"]),
        thinking_for("rwkv", "basic", &["rwkv*"]),
        thinking_for("solar_open", "solar_open", &["solar-open-*"]),
        Profile { models: list(&["plamo-3-*"]), ..tools("plamo3") },
        Profile { models: list(&["step-audio-2*"]), ..tools("step_audio_2") },
        Profile { aliases: list(&["gpt_oss"]), ..channels("harmony", &["gpt-oss-*"]) },
        channels("inkling", &["inkling*"]),
        Profile {
            needs_special_tokens: true,
            models: list(&["kimi-k3*"]),
            ..ending("kimi_k3", "kimi_k3")
        },
        Profile {
            aliases: list(&["muse_spark"]),
            ..channels("muse_glimmer", &["muse-glimmer*", "muse-spark*"])
        },
        channels("beam", &["beam-*"]),
    ]
}

/// A family that reasons in a format, for these models.
fn thinking_for(name: &str, format: &str, models: &[&str]) -> Profile {
    Profile { models: list(models), ..thinking(name, format) }
}

/// A family whose grammar tells reasoning, answer and calls apart by itself, with markers that
/// are special tokens.
fn channels(name: &str, models: &[&str]) -> Profile {
    Profile { needs_special_tokens: true, models: list(models), ..tools(name) }
}

fn family(name: &str, tools: &str) -> Profile {
    Profile { tools: Some(tools.to_owned()), ..Profile::named(name) }
}

/// A tag a parameter.
fn tagged() -> Vec<Profile> {
    vec![
        Profile {
            models: list(&["nemotron-3-*", "nvidia-nemotron-3-*"]),
            ..ending("nemotron3", "nemotron_v3")
        },
        Profile { models: list(&["mimo-v2*"]), ..ending("mimo", "qwen3") },
        Profile { models: list(&["step-3.5*", "step3.5*"]), ..thinking("step3p5", "step3p5") },
        Profile { models: list(&["seed-oss-*"]), ..ending("seed_oss", "seed_oss") },
        Profile { models: list(&["minimax-m2*"]), ..ending("minimax_m2", "minimax_m2") },
        tools("claude_invoke"),
        Profile { models: list(&["deepseek-v3.2*"]), ..ending("deepseek_v3_2", "deepseek_r1") },
        // Before deepseek_v4, whose pattern would hold it, too.
        Profile { models: list(&["deepseek-v4.1*"]), ..ending("deepseek_v4_1", "deepseek_v4") },
        Profile { models: list(&["deepseek-v4*"]), ..ending("deepseek_v4", "deepseek_v4") },
        Profile { models: list(&["gigachat3.5*", "gigachat-3.5*"]), ..tools("gigachat35") },
        Profile { models: list(&["dots.llm*"]), ..thinking("dots", "basic") },
        Profile { models: list(&["minicpm5*", "minicpm-5*"]), ..thinking("minicpm5", "basic") },
        Profile { models: list(&["step3", "step3-*"]), ..thinking("step3", "step3") },
    ]
}

/// Two tags a parameter, one for its key.
fn pairs() -> Vec<Profile> {
    vec![
        Profile { models: list(&["glm-4.5*", "glm-4.6*"]), ..ending("glm45", "glm45") },
        Profile { models: list(&["glm-4.7*", "glm-5*"]), ..ending("glm47", "glm45") },
        Profile { models: list(&["ling-3*", "ring-3*"]), ..ending("ling3", "ling3") },
        Profile { models: list(&["laguna*"]), ..ending("poolside_v1", "poolside_v1") },
        Profile { models: list(&["spark-2.5*", "spark-3*"]), ..thinking("spark25", "basic") },
        Profile { models: list(&["iquest-q1*"]), ..thinking("iquest_q1", "basic") },
        Profile { models: list(&["hy3*", "hunyuan-3*"]), ..thinking("hy_v3", "hy_v3") },
        Profile { models: list(&["hy4*", "hunyuan-4*"]), ..thinking("hy_v4", "hy_v4") },
        Profile { models: list(&["solar-open-2*"]), ..thinking("solar_open2", "basic") },
    ]
}

/// A family that reasons, in whose reasoning a call is text.
fn thinking(name: &str, reasoning: &str) -> Profile {
    Profile { reasoning: Some(reasoning.to_owned()), ..tools(name) }
}

/// A family that reasons, and whose calls end the reasoning.
fn ending(name: &str, reasoning: &str) -> Profile {
    Profile { tool_in_reasoning: InReasoning::End, ..thinking(name, reasoning) }
}

fn tools(name: &str) -> Profile {
    Profile::tools(name)
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}
