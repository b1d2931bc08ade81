//! Profiles: what a model family's stream looks like, as data.

#[allow(dead_code, reason = "the profiles in code go first")]
mod row;
mod rows;
#[allow(dead_code, reason = "the profiles in code go first")]
mod table;

use serde::{Deserialize, Serialize};
use think_filter::Start;
use toolcall_parsers::{InReasoning, UnknownName, same_name};
use wire_remap::RemapTable;

/// How a model family writes reasoning and tool calls.
///
/// Names are looked up when a guard is built; tools, reasoning formats and profiles are three
/// namespaces, so one name may exist in all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The profile's name.
    pub name: String,
    /// Other names it goes by.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Model ids it is for: whole ids in which `*` stands for any run of characters, compared
    /// without ASCII case, `-` equal to `_`; the part before a `/` may be left out.
    #[serde(default)]
    pub models: Vec<String>,
    /// The reasoning format, if the family reasons.
    #[serde(default)]
    pub reasoning: Option<String>,
    /// The tool-call family, if it calls tools.
    #[serde(default)]
    pub tools: Option<String>,
    /// Where its streams begin when the caller does not say.
    #[serde(default)]
    pub start: Start,
    /// What a tool opener inside reasoning does.
    #[serde(default)]
    pub tool_in_reasoning: InReasoning,
    /// What becomes of whitespace that frames markup: `framing`, `verbatim` or `trim`.
    #[serde(default)]
    pub whitespace: Framing,
    /// Whether the server must be asked to keep special tokens in the text
    /// (`skip_special_tokens: false`).
    #[serde(default)]
    pub needs_special_tokens: bool,
    /// The delimiter remapping in use on the wire, if any: `hermes` or `hermes_plain`.
    #[serde(default)]
    pub remap: Option<String>,
}

/// The whitespace policies a profile may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// [`jail_match::Whitespace::Framing`].
    #[default]
    Framing,
    /// [`jail_match::Whitespace::Verbatim`].
    Verbatim,
    /// [`jail_match::Whitespace::Trim`].
    Trim,
}

impl From<Framing> for jail_match::Whitespace {
    fn from(framing: Framing) -> Self {
        match framing {
            Framing::Framing => Self::Framing,
            Framing::Verbatim => Self::Verbatim,
            Framing::Trim => Self::Trim,
        }
    }
}

impl Profile {
    /// A profile of a tool-call family alone.
    #[must_use]
    pub fn tools(family: &str) -> Self {
        Self { tools: Some(family.to_owned()), ..Self::named(family) }
    }

    /// A profile of a reasoning format alone.
    #[must_use]
    pub fn reasoning(format: &str) -> Self {
        Self { reasoning: Some(format.to_owned()), ..Self::named(format) }
    }

    /// A profile under which everything is content.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            aliases: Vec::new(),
            models: Vec::new(),
            reasoning: None,
            tools: None,
            start: Start::Content,
            tool_in_reasoning: InReasoning::Literal,
            whitespace: Framing::Framing,
            needs_special_tokens: false,
            remap: None,
        }
    }
}

/// Every registered profile, in the order of the documentation.
#[must_use]
pub fn profiles() -> Vec<Profile> {
    rows::all()
}

/// The profile called `name`, or that has it as an alias; ASCII case does not count, and `-`
/// equals `_`. Substrings never match.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones.
pub fn profile(name: &str) -> Result<Profile, UnknownName> {
    let all = profiles();
    let found = all.iter().find(|p| same_name(&p.name, name));
    let found = found.or_else(|| all.iter().find(|p| p.aliases.iter().any(|a| same_name(a, name))));
    found.cloned().ok_or_else(|| {
        let names = all.iter().flat_map(|p| [&p.name].into_iter().chain(&p.aliases));
        UnknownName::new("profile", name, names.map(String::as_str))
    })
}

/// The profile for a model id such as `Qwen/Qwen3-8B`: the first whose `models` hold it, else
/// the one of that name.
///
/// # Errors
/// No profile is for that model; the error lists the nearest names.
pub fn profile_for_model(id: &str) -> Result<Profile, UnknownName> {
    let bare = id.rsplit_once('/').map_or(id, |(_, bare)| bare);
    let all = profiles();
    let is_for = |p: &&Profile| p.models.iter().any(|m| globs(m, id) || globs(m, bare));
    match all.iter().find(is_for) {
        Some(profile) => Ok(profile.clone()),
        None => profile(bare),
    }
}

/// Whether `pattern`, in which `*` is any run of characters, is all of `text`. Linear but for
/// one restart a star.
fn globs(pattern: &str, text: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|&byte| fold(byte) == fold(text[t])) {
            p += 1;
            t += 1;
        } else if let Some((sp, st)) = star {
            p = sp + 1;
            t = st + 1;
            star = Some((sp, st + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// The delimiter remapping called `name`: `hermes`, exact, or `hermes_plain`, a bare swap.
///
/// # Errors
/// An unknown name; the error lists the known ones.
pub(crate) fn remap(name: &str) -> Result<RemapTable, UnknownName> {
    const NAMES: [&str; 2] = ["hermes", "hermes_plain"];
    let tables = [RemapTable::hermes, RemapTable::hermes_plain];
    let found = NAMES.iter().zip(tables).find(|(known, _)| same_name(known, name));
    found
        .map(|(_, table)| table())
        .ok_or_else(|| UnknownName::new("remapping", name, NAMES.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::{globs, profile, profile_for_model, profiles};

    #[test]
    fn names_fold_case_and_dashes_but_never_match_inside() {
        assert_eq!(profile("QWEN3-Coder").map(|p| p.name).as_deref(), Ok("qwen3_coder"));
        let error = profile("qwen3_code").expect_err("a prefix is no name");
        assert_eq!(error.nearest()[0], "qwen3_coder");
    }

    #[test]
    fn model_ids_match_whole_patterns() {
        assert!(globs("qwen3-*", "Qwen3-8B"));
        assert!(!globs("qwen3-*", "my-qwen3-8b"));
        assert!(globs("a*b*c", "axxbyyc"));
        assert!(!globs("a*b", "abc"));
        let found = profile_for_model("Qwen/Qwen3-Coder-30B-A3B-Instruct").map(|p| p.name);
        assert_eq!(found.as_deref(), Ok("qwen3_coder"));
        assert!(profile_for_model("nobody/knows-this").is_err());
    }

    #[test]
    fn every_profile_builds_and_its_names_are_unique() {
        let mut seen = std::collections::BTreeSet::new();
        for profile in profiles() {
            crate::Guard::builder(&profile).build().unwrap_or_else(|e| panic!("{e}"));
            for name in profile.aliases.iter().chain([&profile.name]) {
                assert!(seen.insert(name.clone()), "{name} twice");
            }
        }
    }
}
