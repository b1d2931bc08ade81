//! The registered families, by name.

mod names;

use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::fmt;

use self::names::{ENGINES, OTHERS};
use crate::{families, grammar::Grammar};

/// The grammars of all registered families, in the order of the documentation.
pub fn grammars() -> impl Iterator<Item = Grammar> {
    families::ALL.iter().map(|family| family())
}

/// The other names of families, each with the family it stands for, whichever engine has them.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = OTHERS.iter().copied();
    let engines = ENGINES.iter().filter(|(_, name, family)| !same_name(name, family));
    let mut all: Vec<_> = others.chain(engines.map(|&(_, name, family)| (name, family))).collect();
    all.sort_unstable();
    all.dedup_by(|a, b| same_name(a.0, b.0) && a.1 == b.1);
    all.into_iter()
}

/// What engines call the parsers of our families: engine, name there, family.
pub fn engine_names() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    ENGINES.iter().copied()
}

/// The grammar of the family called `name`: ours, or an engine's, in front of which its own name
/// may stand (`sglang:qwen25`). ASCII case does not count, and `-` equals `_`.
///
/// # Errors
/// An unknown name; the error lists the nearest known ones. A name that engines have for
/// different families; the error lists those, as `engine:name`.
pub fn grammar(name: &str) -> Result<Arc<Grammar>, UnknownName> {
    let find = |family: &str| grammars().find(|grammar| same_name(&grammar.name, family));
    if let Some(own) = find(name) {
        return Ok(Arc::new(own));
    }
    let meanings = meanings(name, ENGINES, OTHERS);
    match meanings.as_slice() {
        [(_, family)] => find(family).map(Arc::new).ok_or_else(|| unknown(name)),
        [] => Err(unknown(name)),
        _ => Err(UnknownName {
            meanings: meanings.into_iter().map(|(m, _)| m).collect(),
            ..unknown(name)
        }),
    }
}

/// What `name` may mean, one entry for each family.
fn meanings<'t>(
    name: &str,
    engines: &[(&'t str, &'t str, &'t str)],
    others: &[(&'t str, &'t str)],
) -> Vec<(String, &'t str)> {
    let mut meanings: Vec<(String, &str)> = Vec::new();
    let mut add = |meaning: String, family| {
        if meanings.iter().all(|&(_, known)| known != family) {
            meanings.push((meaning, family));
        }
    };
    for &(other, family) in others.iter().filter(|(other, _)| same_name(other, name)) {
        add(String::from(other), family);
    }
    for &(engine, own, family) in engines {
        let qualified = format!("{engine}:{own}");
        if same_name(own, name) || same_name(&qualified, name) {
            add(qualified, family);
        }
    }
    meanings
}

fn unknown(name: &str) -> UnknownName {
    let families: Vec<Grammar> = grammars().collect();
    let known = families.iter().map(|g| g.name.as_ref()).chain(aliases().map(|(a, _)| a));
    UnknownName::new("tool-call family", name, known)
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
    meanings: Vec<String>,
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
        Self { what, name, nearest, meanings: Vec::new() }
    }

    /// What the name means where it is known but ambiguous, as `engine:name`.
    #[must_use]
    pub fn meanings(&self) -> &[String] {
        &self.meanings
    }

    /// The nearest known names, best first.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |names: &[String]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let Self { what, name, nearest, meanings } = self;
        if meanings.is_empty() {
            return write!(f, "unknown {what} `{name}`; nearest: {}", listed(nearest));
        }
        write!(f, "ambiguous {what} `{name}`; say which: {}", listed(meanings))
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

#[cfg(test)]
mod tests {
    use super::{ENGINES, OTHERS, grammar, meanings};

    #[test]
    fn every_other_name_leads_to_its_family() {
        let plain = OTHERS.iter().map(|&(name, family)| (name.to_owned(), family));
        let engines = ENGINES.iter().map(|&(e, name, family)| (format!("{e}:{name}"), family));
        for (name, family) in plain.chain(engines) {
            assert_eq!(grammar(&name).unwrap_or_else(|no| panic!("{no}")).name, family, "{name}");
        }
        assert_eq!(grammar("SGLang:MINIMAX_M2").unwrap().name, "minimax_m2");
    }

    #[test]
    fn a_name_with_several_meanings_lists_them() {
        let engines = [("one", "json", "a"), ("two", "json", "b"), ("three", "JSON", "a")];
        let said = |name| {
            let meanings = meanings(name, &engines, &[("plain", "c")]);
            meanings.into_iter().map(|(meaning, _)| meaning).collect::<Vec<_>>()
        };
        assert_eq!(said("Json"), ["one:json", "two:json"]);
        assert_eq!(said("three:json"), ["three:JSON"]);
        assert_eq!(said("plain"), ["plain"]);
        assert!(said("four:json").is_empty());
    }

    #[test]
    fn an_unknown_name_has_near_ones() {
        let error = grammar("hermess").unwrap_err();
        assert_eq!(error.nearest()[0], "hermes");
        assert!(grammar("vllm:cogito").is_err(), "another engine's name");
    }
}
