//! Public types without an example: each must occur in a documented example, or in the text around
//! one.
//!
//! A crate page with an example may therefore list the types that belong to it. The check reads
//! source text. A type is public here if a public module defines it, or lists it in a `pub use`
//! from the same crate. Modules with `#[doc(hidden)]` are not public.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{source::Source, words::docs};

/// Returns the public types of a crate that no example, and no text around one, names.
pub(crate) fn missing(sources: &[Source], readme: &str) -> Vec<String> {
    let mut shown = words(readme);
    for source in sources {
        for (_, doc) in docs(&source.text).iter().filter(|(_, doc)| has_example(doc)) {
            shown.extend(words(doc));
        }
    }
    let mut public = BTreeSet::new();
    let files: BTreeMap<&Path, &str> =
        sources.iter().map(|one| (one.path.as_path(), one.text.as_str())).collect();
    public_types(&files, Path::new("lib.rs"), Path::new(""), &mut public);
    public.retain(|name| !shown.contains(name));
    public.into_iter().collect()
}

/// Adds the public types of the module in `file`, whose submodules are in `directory`.
fn public_types(
    files: &BTreeMap<&Path, &str>,
    file: &Path,
    directory: &Path,
    public: &mut BTreeSet<String>,
) {
    let Some(text) = files.get(file) else { return };
    let mut modules = Vec::new();
    let mut hidden = false;
    for line in text.lines() {
        let line = line.trim();
        for (start, is_public) in [("pub mod ", true), ("mod ", false)] {
            let name = line.strip_prefix(start).and_then(|rest| rest.strip_suffix(';'));
            modules.extend(name.map(|name| (name, is_public && !hidden)));
        }
        hidden = line == "#[doc(hidden)]";
    }
    for line in text.lines() {
        for kind in ["struct", "enum", "trait", "type"] {
            let Some(rest) = line.strip_prefix(&format!("pub {kind} ")) else { continue };
            public.extend(rest.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned));
        }
    }
    for list in text.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
        let own = |path: &str| {
            let first = path.split(':').next().unwrap_or_default().trim();
            ["self", "crate", "super"].contains(&first)
                || modules.iter().any(|(name, _)| *name == first)
        };
        if own(list.trim_start_matches('{').trim()) {
            public.extend(words(list));
        }
    }
    for (name, _) in modules.iter().filter(|(_, is_public)| *is_public) {
        let below = directory.join(name);
        let alone: PathBuf = directory.join(format!("{name}.rs"));
        let file = if files.contains_key(alone.as_path()) { alone } else { below.join("mod.rs") };
        public_types(files, &file, &below, public);
    }
}

/// Returns whether a doc comment holds a code block that is compiled.
fn has_example(doc: &str) -> bool {
    let mut inside = false;
    doc.lines().filter_map(|line| line.strip_prefix("```")).any(|kind| {
        inside = !inside;
        inside && (kind.is_empty() || kind.starts_with("rust") || kind.starts_with("no_run"))
    })
}

/// Returns the words of a text that may name a type.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let types = words.filter(|word| {
        word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(char::is_lowercase)
    });
    types.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::missing;
    use crate::source::Source;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn public_type_without_an_example_is_found() {
        let sources = [
            source(
                "lib.rs",
                "mod a;\npub mod b;\npub use a::{One, Two};\npub use other::Foreign;\n",
            ),
            source(
                "a.rs",
                "/// One.\n///\n/// ```\n/// a::One::new();\n/// ```\npub struct One;\n",
            ),
            source(
                "b.rs",
                "/// Shown with `Three`.\n/// ```text\n/// Four\n/// ```\npub enum Four {}\n",
            ),
        ];
        assert_eq!(missing(&sources, ""), ["Four", "Two"]);
        assert_eq!(missing(&sources, "`Two` and `Four`"), Vec::<String>::new());
    }

    #[test]
    fn type_linked_beside_an_example_is_shown() {
        let text =
            "//! See [`One`].\n//!\n//! ```\n//! run();\n//! ```\nmod a;\npub use self::a::One;\n";
        let sources = [source("lib.rs", text), source("a.rs", "pub struct One;\n")];
        assert_eq!(missing(&sources, ""), Vec::<String>::new());
    }
}
