//! Lookup of names in a registry, with aliases and suggestions.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// Returns whether two names are equal, where ASCII case does not matter and `-` equals `_`.
///
/// ```
/// assert!(jail_match::same_name("Qwen3-Coder", "qwen3_coder"));
/// ```
#[must_use]
pub fn same_name(a: &str, b: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| fold(a) == fold(b))
}

/// Another name for a registered entry, as an engine uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "a row of a table that other crates write")]
pub struct Alias {
    /// The engine that uses the name; empty if the name is in general use.
    pub engine: &'static str,
    /// The engine's name for the entry.
    pub name: &'static str,
    /// The registered name of the entry.
    pub of: &'static str,
}

impl fmt::Display for Alias {
    /// Writes the unambiguous spelling of the alias: `engine:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.engine.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.engine, self.name)
    }
}

/// Returns the known name that equals `name`, or that `name` is an alias of.
///
/// Known names take precedence over aliases. `engine:name` looks up the alias of one engine.
/// Substrings never match. `what` names the namespace in error messages.
///
/// # Errors
/// Returns an error in two cases:
///
/// * The name is unknown. The error lists the nearest known names.
/// * Engines give the alias different meanings. The error lists the spellings that distinguish
///   them.
pub fn resolve<'k>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
    aliases: impl Iterator<Item = Alias> + Clone,
) -> Result<&'k str, UnknownName> {
    let find = |wanted: &str| known.clone().find(|known| same_name(known, wanted));
    if let Some(found) = find(name) {
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
    find(first.of).ok_or_else(|| UnknownName::new(what, name, known))
}

/// Returns the value that is called `name` among a few named values, for `FromStr` of an enum.
///
/// ```
/// let found = jail_match::named("side", "left", &[("left", -1), ("right", 1)]);
/// assert_eq!(found, Ok(-1));
/// ```
///
/// # Errors
/// Returns an error for an unknown name. `what` names the namespace in its message.
pub fn named<T: Copy>(
    what: &'static str,
    name: &str,
    values: &[(&'static str, T)],
) -> Result<T, UnknownName> {
    let found = values.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| UnknownName::new(what, name, values.iter().map(|(known, _)| *known)))
}

/// An error: a name is not registered, or has several meanings.
///
/// ```
/// use jail_match::UnknownName;
/// let error = UnknownName::new("family", "hermess", ["hermes", "llama"].into_iter());
/// assert_eq!(error.nearest()[0], "hermes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    name: String,
    nearest: Vec<String>,
    meanings: Vec<String>,
}

impl UnknownName {
    /// Creates an error for an unknown `name` in the namespace `what`, with the nearest known
    /// names.
    pub fn new<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut ranked: Vec<(usize, &str)> = known.map(|k| (distance(name, k), k)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let nearest = ranked.into_iter().take(3).map(|(_, known)| known.into()).collect();
        Self { what, name: shortened(name), nearest, meanings: Vec::new() }
    }

    /// Creates an error for a `name` in the namespace `what` with several `meanings`, each spelled
    /// `engine:name`.
    #[must_use]
    pub fn ambiguous(what: &'static str, name: &str, meanings: Vec<String>) -> Self {
        Self { what, name: shortened(name), nearest: Vec::new(), meanings }
    }

    /// Returns the meanings of an ambiguous name, as `engine:name`.
    #[must_use]
    pub fn meanings(&self) -> &[String] {
        &self.meanings
    }

    /// Returns the nearest known names, the nearest first. Empty if the name is ambiguous.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

/// Shortens a name for a message.
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

/// Returns the edit distance between the bytes of two names, ignoring ASCII case.
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
    fn names_precede_aliases_and_engine_prefixes_disambiguate() {
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
    fn name_distances_are_levenshtein_distances() {
        for (a, b, wanted) in
            [("kitten", "Sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abcd", "ab", 2)]
        {
            assert_eq!(distance(a, b), wanted, "{a:?} {b:?}");
        }
    }
}
