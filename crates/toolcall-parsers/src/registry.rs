//! The registered families, by name.

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt;

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

/// Whether two names are one: ASCII case does not count, and `-` equals `_`.
#[must_use]
pub fn same_name(a: &str, b: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| fold(a) == fold(b))
}

/// A name that is not registered. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
    nearest: Vec<String>,
}

impl UnknownName {
    /// An unknown `name` in the namespace `what`, with the nearest of the names it knows.
    pub fn new<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut ranked: Vec<(usize, &str)> = known.map(|k| (distance(name, k), k)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let nearest = ranked.into_iter().take(3).map(|(_, known)| known.into()).collect();
        // A name is echoed in messages: keep it short.
        let name = name.chars().take(64).collect();
        Self { what, name, nearest }
    }

    /// The nearest known names, best first.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nearest: Vec<_> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
        write!(f, "unknown {} `{}`; nearest: {}", self.what, self.name, nearest.join(", "))
    }
}

impl core::error::Error for UnknownName {}

/// Edit distance over folded bytes, for suggestions only.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<u8> = a.bytes().take(64).map(|b| b.to_ascii_lowercase()).collect();
    let b: Vec<u8> = b.bytes().take(64).map(|b| b.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
