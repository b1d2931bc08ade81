//! Errors for ids of unknown models.

use std::fmt;

use toolcall_parsers::family::ModelId;

use super::row::Row;

/// A model's id that no family's patterns match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel {
    id: String,
    nearest: Vec<&'static str>,
}

impl UnknownModel {
    /// Creates an error for an unknown id, with suggested families: first those of other versions
    /// of the model, then those with models of the same brand.
    pub(super) fn new(
        id: &str,
        normal: &ModelId,
        other_versions: impl Iterator<Item = &'static str>,
        families: &'static [Row],
    ) -> Self {
        let mut nearest: Vec<&'static str> = Vec::new();
        let mut ranked: Vec<(usize, &str)> =
            families.iter().filter_map(|row| Some((nearness(normal, row)?, row.name))).collect();
        // The nearest family is first. Of equally near ones, the newest of the brand is first.
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        for name in other_versions.chain(ranked.into_iter().map(|(_, name)| name)) {
            if !nearest.contains(&name) {
                nearest.push(name);
            }
        }
        nearest.truncate(3);
        Self {
            // An id is echoed in messages: keep it short.
            id: id.chars().take(64).collect(),
            nearest,
        }
    }

    /// Families that have models of the same brand, the nearest first. Often none.
    #[must_use]
    pub fn nearest(&self) -> &[&'static str] {
        &self.nearest
    }
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no family is known for the model `{}`; ", self.id.escape_debug())?;
        if self.nearest.is_empty() {
            f.write_str("none is near")?;
        } else {
            let names: Vec<String> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
            write!(f, "of the same brand: {}", names.join(", "))?;
        }
        f.write_str(
            ". What to do: `llm-stream-guard identify PATH` tells the family by the checkpoint's folder, \
             chat template or GGUF file, `llm-stream-guard detect FILE` by a recording, and \
             `llm-stream-guard families` lists all names",
        )
    }
}

impl std::error::Error for UnknownModel {}

/// Returns how many characters the id has in common with a pattern of the family. Only patterns
/// with the same first word count, numbers aside: `qwen9-8b` has the brand of `qwen3-*`.
fn nearness(id: &ModelId, row: &Row) -> Option<usize> {
    let patterns = row.models.iter().map(|pattern| pattern.to_ascii_lowercase());
    let near = |pattern: String| {
        let brand = brand(&pattern);
        let same = |text: &str| !brand.is_empty() && self::brand(text) == brand;
        id.texts().filter(|text| same(text)).map(|text| common_start(text, &pattern)).max()
    };
    patterns.filter_map(near).max()
}

/// Returns the length of the common prefix of two texts, in bytes.
fn common_start(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns the letters at the start of a text if they identify a brand: `v2` and `r1` do not.
fn brand(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphabetic()).unwrap_or(text.len());
    if end < 3 { "" } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use crate::profile_for_model;

    #[test]
    fn unknown_model_version_suggests_the_family_of_a_known_version() {
        for (id, near) in [
            ("ibm-granite/granite-4.9-8b", "granite4"),
            ("LGAI-EXAONE/K-EXAONE-3.0-900B", "exaone4"),
            ("openai/gpt-oss-2-20b", "harmony"),
            ("k2-horizon-7", "k2_horizon"),
        ] {
            let error = profile_for_model(id).expect_err(id);
            assert!(error.nearest().contains(&near), "{id}: {error}");
        }
    }

    #[test]
    fn suggestions_for_unknown_models_share_the_brand() {
        let error = profile_for_model("someone/qwen9-8b").expect_err("not yet");
        assert!(error.nearest().iter().all(|name| name.contains("qwen")), "{error}");
        assert!(!error.nearest().is_empty());
        let error = profile_for_model("zephyr-7b-beta").expect_err("no tools");
        assert_eq!(
            error.to_string(),
            "no family is known for the model `zephyr-7b-beta`; none is near. What to do: \
             `llm-stream-guard identify PATH` tells the family by the checkpoint's folder, chat \
             template or GGUF file, `llm-stream-guard detect FILE` by a recording, and \
             `llm-stream-guard families` lists all names"
        );
    }
}
