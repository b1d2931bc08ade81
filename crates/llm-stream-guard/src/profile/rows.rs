//! The registered profiles, one row each.

use toolcall_parsers::InReasoning;

use crate::profile::Profile;

/// Every profile, in the order of the documentation.
pub(crate) fn all() -> Vec<Profile> {
    vec![
        Profile { models: list(&["hermes-*", "nous-hermes-*", "qwen2.5-*"]), ..tools("hermes") },
        // Before qwen3, whose pattern would hold it, too.
        Profile {
            reasoning: Some("qwen3_coder".into()),
            tool_in_reasoning: InReasoning::End,
            models: list(&["qwen3-coder-*", "qwen3.5-*"]),
            ..tools("qwen3_coder")
        },
        Profile {
            reasoning: Some("qwen3".into()),
            tool_in_reasoning: InReasoning::End,
            aliases: list(&["qwq"]),
            models: list(&["qwen3-*", "qwq-*"]),
            ..family("qwen3", "hermes")
        },
        Profile {
            reasoning: Some("mistral".into()),
            aliases: list(&["mistral_v11", "magistral"]),
            models: list(&["mistral-*", "magistral-*", "devstral-*", "ministral-*"]),
            needs_special_tokens: true,
            ..tools("mistral")
        },
        Profile {
            models: list(&["llama-3.1-*", "llama-3.2-*", "llama-3.3-*", "meta-llama-3*"]),
            needs_special_tokens: true,
            ..tools("llama3_json")
        },
        tools("pythonic"),
        Profile {
            reasoning: Some("deepseek_r1".into()),
            models: list(&["deepseek-v3.1*", "deepseek-v3.2-exp*"]),
            ..tools("deepseek_v3_1")
        },
        Profile { models: list(&["deepseek-r1*"]), ..Profile::reasoning("deepseek_r1") },
        thinking("deepseek_v3", "deepseek_r1", &["deepseek-v3", "deepseek-v3-0324"]),
        Profile {
            tool_in_reasoning: InReasoning::End,
            ..thinking("kimi_k2", "kimi_k2", &["kimi-k2*"])
        },
        Profile { reasoning: Some("exaone4".into()), ..family("exaone4", "hermes") },
        Profile {
            reasoning: Some("basic".into()),
            tool_in_reasoning: InReasoning::Suspend,
            models: list(&["trinity-*"]),
            ..family("trinity", "hermes")
        },
        Profile {
            reasoning: Some("basic".into()),
            models: list(&["mimo-vl-*"]),
            ..family("mimo_vl", "hermes")
        },
        thinking("granite", "granite", &["granite-3*"]),
        Profile { models: list(&["granite-4*"]), ..tools("granite4") },
        thinking("ernie45", "ernie45", &["ernie-4.5-*"]),
        thinking("internlm2", "basic", &["internlm2*", "intern-s1*"]),
        thinking("apriel", "thinking", &["apriel-*"]),
        thinking("hunyuan_a13b", "hunyuan_a13b", &["hunyuan-a13b*"]),
        Profile {
            aliases: list(&["nemotron_nano_v2"]),
            ..thinking(
                "nemotron_deci",
                "basic",
                &["llama-3.*-nemotron-*", "nvidia-nemotron-nano-*-v2"],
            )
        },
        thinking("xlam", "basic", &["xlam-*", "llama-xlam-*"]),
        thinking(
            "cohere",
            "cohere_command4",
            &["command-a-*", "c4ai-command-a-*", "command-r7b-*"],
        ),
        Profile {
            tool_in_reasoning: InReasoning::Suspend,
            ..thinking("apertus", "apertus", &["apertus-*"])
        },
        thinking("pangu", "pangu", &["openpangu-*"]),
        thinking("minimax_m1", "basic", &["minimax-m1-*"]),
        thinking("rwkv", "basic", &["rwkv*"]),
        thinking("solar_open", "solar_open", &["solar-open-*"]),
        thinking("k2_horizon", "k2_horizon", &["k2-horizon*"]),
        Profile { models: list(&["plamo-3-*"]), ..tools("plamo3") },
        Profile { models: list(&["step-audio-2*"]), ..tools("step_audio_2") },
        Profile { aliases: list(&["gpt_oss"]), ..channels("harmony", &["gpt-oss-*"]) },
        channels("inkling", &["inkling*"]),
        channels("kimi_k3", &["kimi-k3*"]),
        Profile {
            aliases: list(&["muse_spark"]),
            ..channels("muse_glimmer", &["muse-glimmer*", "muse-spark*"])
        },
        channels("beam", &["beam-*"]),
    ]
}

/// A family that reasons in a format, for these models.
fn thinking(name: &str, format: &str, models: &[&str]) -> Profile {
    Profile { reasoning: Some(format.to_owned()), models: list(models), ..tools(name) }
}

/// A family whose grammar tells reasoning, answer and calls apart by itself, with markers that
/// are special tokens.
fn channels(name: &str, models: &[&str]) -> Profile {
    Profile { needs_special_tokens: true, models: list(models), ..tools(name) }
}

fn family(name: &str, tools: &str) -> Profile {
    Profile { tools: Some(tools.to_owned()), ..Profile::named(name) }
}

fn tools(name: &str) -> Profile {
    Profile::tools(name)
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}
