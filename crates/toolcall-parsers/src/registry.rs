//! The registered families, by name.

use alloc::{sync::Arc, vec::Vec};

use jail_match::{UnknownName, same_name};

use crate::{families, grammar::Grammar};

/// Names of other families' parsers that mean one of ours, whatever the engine.
const ALIASES: &[(&str, &str)] = &[
    ("mistral_v11", "mistral"),
    ("magistral", "mistral"),
    ("exaone4", "hermes"),
    ("trinity", "hermes"),
    ("mimo_vl", "hermes"),
    ("nemotron_nano_v2", "nemotron_deci"),
    ("internlm", "internlm2"),
    ("interns1", "internlm2"),
    ("cohere_command3", "cohere"),
    ("cohere_command4", "cohere"),
    ("apertus2509", "apertus"),
    ("deepseekv3", "deepseek_v3"),
    ("deepseek_v31", "deepseek_v3_1"),
    ("deepseekv31", "deepseek_v3_1"),
    ("kimik2", "kimi_k2"),
    ("openpangu_v2", "pangu"),
    ("qwen3_xml", "qwen3_coder"),
    ("qwen_xml", "qwen3_coder"),
    ("qwen_coder", "qwen3_coder"),
    ("nemotron_v3", "nemotron3"),
    ("nemotron_nano", "nemotron3"),
    ("minimaxm2", "minimax_m2"),
    ("deepseek_v32", "deepseek_v3_2"),
    ("deepseekv32", "deepseek_v3_2"),
    ("deepseek32", "deepseek_v3_2"),
    ("deepseekv4", "deepseek_v4"),
    ("deepseek_v41", "deepseek_v4_1"),
    ("deepseekv41", "deepseek_v4_1"),
    ("minicpm5xml", "minicpm5"),
    ("glm45_moe", "glm45"),
    ("glm47_moe", "glm47"),
    ("bailing", "ling3"),
    ("laguna", "poolside_v1"),
    ("gemma_4", "gemma4"),
    ("function_gemma", "functiongemma"),
    ("minimaxm3", "minimax_m3"),
    ("minimax_m3_nom", "minimax_m3"),
    ("k2_v3", "k2_horizon"),
    ("gpt_oss", "harmony"),
    ("openai_gptoss", "harmony"),
    ("harmony_text", "harmony"),
    ("muse", "muse_glimmer"),
    ("muse_spark", "muse_glimmer"),
    ("glimmer", "muse_glimmer"),
];

/// The grammars of all registered families, in the order of the documentation.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families::ALL.iter().map(|family| family())
}

/// The aliases, with the family each stands for.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALIASES.iter().copied()
}

/// The grammar of the family called `name`; ASCII case does not count, and `-` equals `_`.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones.
pub fn grammar(name: &str) -> Result<Arc<Grammar>, UnknownName> {
    let wanted =
        aliases().find(|(alias, _)| same_name(alias, name)).map_or(name, |(_, family)| family);
    grammars().find(|grammar| same_name(&grammar.name, wanted)).map(Arc::new).ok_or_else(|| {
        let families: Vec<Grammar> = grammars().collect();
        let known = families.iter().map(|g| g.name.as_ref()).chain(aliases().map(|(a, _)| a));
        UnknownName::new("tool-call family", name, known)
    })
}
