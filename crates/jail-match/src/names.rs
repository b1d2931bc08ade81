//! Names as registries look them up.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// Whether two names are one: ASCII case does not count, and `-` equals `_`.
#[must_use]
pub fn same_name(a: &str, b: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| fold(a) == fold(b))
}

/// A name by which an engine calls what we register under another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table that other crates write")]
pub struct Alias {
    /// The engine that uses the name; empty where it is nobody's in particular.
    pub engine: &'static str,
    /// Its name for it.
    pub name: &'static str,
    /// Ours.
    pub of: &'static str,
}

impl fmt::Display for Alias {
    /// The spelling no other engine's name can be taken for: `engine:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.engine.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.engine, self.name)
    }
}

/// What `name` means: one of `known`, itself or through an alias. Names come before aliases, and
/// `engine:name` asks for what that engine means by it. Substrings never match.
///
/// # Errors
/// A name nobody knows, with the nearest known ones; an alias by which engines mean different
/// things, with the spellings that tell them apart. `what` names the namespace in messages.
pub fn resolve<'k>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    aliases: impl Iterator<Item = Alias> + Clone,
) -> Result<&'k str, UnknownName> {
    let of = |wanted: &str| known.clone().find(|known| same_name(known, wanted));
    if let Some(found) = of(name) {
        return Ok(found);
    }
    let (engine, alias) = match name.split_once(':') {
        Some((engine, alias)) => (Some(engine), alias),
        None => (None, name),
    };
    let meant = |row: &Alias| {
        same_name(row.name, alias) && engine.is_none_or(|engine| same_name(row.engine, engine))
    };
    let mut rows = aliases.clone().filter(meant);
    let Some(first) = rows.next() else {
        let names = known.chain(aliases.map(|row| row.name));
        return Err(UnknownName::new(what, name, names));
    };
    if rows.any(|row| !same_name(row.of, first.of)) {
        let mut meanings: Vec<(String, &str)> = Vec::new();
        for row in aliases.filter(meant) {
            if meanings.iter().all(|(_, of)| !same_name(of, row.of)) {
                meanings.push((row.to_string(), row.of));
            }
        }
        let meanings = meanings.into_iter().map(|(meaning, _)| meaning).collect();
        return Err(UnknownName::ambiguous(what, name, meanings));
    }
    of(first.of).ok_or_else(|| UnknownName::new(what, name, known))
}

/// A name that is not registered, or means several things. The fault is the caller's.
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
        Self { what, name: shortened(name), nearest, meanings: Vec::new() }
    }

    /// A `name` in the namespace `what` with several `meanings`, spelled so as to tell them apart.
    #[must_use]
    pub fn ambiguous(what: &'static str, name: &str, meanings: Vec<String>) -> Self {
        Self { what, name: shortened(name), nearest: Vec::new(), meanings }
    }

    /// What the name means where it is known but ambiguous, as `engine:name`.
    #[must_use]
    pub fn meanings(&self) -> &[String] {
        &self.meanings
    }

    /// The nearest known names, best first; none where the name is ambiguous.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

/// A name is echoed in messages: keep it short.
fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
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
    use alloc::string::ToString;

    use super::{Alias, distance, resolve};

    const ROWS: [Alias; 3] = [
        Alias { engine: "here", name: "both", of: "one" },
        Alias { engine: "there", name: "both", of: "two" },
        Alias { engine: "there", name: "uno", of: "one" },
    ];

    fn named(name: &str) -> Result<&'static str, alloc::string::String> {
        resolve("thing", name, ["one", "two"].into_iter(), ROWS.into_iter())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn names_come_before_aliases_and_engines_tell_what_they_mean() {
        assert_eq!(named("ONE"), Ok("one"));
        assert_eq!(named("uno"), Ok("one"));
        assert_eq!(named("There:Both"), Ok("two"));
        let ambiguous = "ambiguous thing `both`; say which: `here:both`, `there:both`";
        assert_eq!(named("both"), Err(ambiguous.to_string()));
        let both = resolve("thing", "both", ["one"].into_iter(), ROWS.into_iter()).unwrap_err();
        assert_eq!(both.meanings(), ["here:both", "there:both"]);
        let unknown = "unknown thing `un`; nearest: `uno`, `one`, `two`";
        assert_eq!(named("un"), Err(unknown.to_string()));
        let few = resolve("thing", "un", ["one"].into_iter(), ROWS.into_iter()).unwrap_err();
        assert_eq!(few.nearest(), ["uno", "one", "both"]);
        assert!(named("here:uno").is_err() && named("tw").is_err());
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, wanted) in
            [("kitten", "Sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abcd", "ab", 2)]
        {
            assert_eq!(distance(a, b), wanted, "{a:?} {b:?}");
        }
    }
}
