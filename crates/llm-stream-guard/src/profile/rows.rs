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
    ]
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
