//! Files that import each other, directly or through other files. None of them can be read alone.
//!
//! ```text
//! a.rs    use crate::b::c::X;
//! b/c.rs  use crate::d::Y;
//! d.rs    use crate::a::Z;      a circle: a b/c d
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// The path of a module below the crate's root; the root has none.
type Module = Vec<String>;

/// Returns each group of files that all import each other, directly or through others. Imports
/// between a module and the modules inside it do not count.
pub(crate) fn cycles(sources: &[Source]) -> Vec<String> {
    let modules: BTreeSet<Module> = sources.iter().map(module).collect();
    let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for source in sources {
        let here = module(source);
        let found = paths(source).into_iter().filter_map(|path| target(&here, &path, &modules));
        let others = found.filter(|other| !here.starts_with(other) && !other.starts_with(&here));
        let others = others.collect::<Vec<_>>();
        imports.entry(here).or_default().extend(others);
    }
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        imports.keys().map(|one| (one, reachable(one, &imports))).collect();
    let group = |one: &&Module| -> Vec<String> {
        let mutual = |other: &&&Module| reached[**other].contains(*one);
        reached[*one].iter().filter(mutual).map(|other| other.join("/")).collect()
    };
    let in_cycle = imports.keys().filter(|one| reached[*one].contains(*one));
    let groups: BTreeSet<Vec<String>> = in_cycle.map(|one| group(&one)).collect();
    groups.into_iter().map(|group| group.join(" ")).collect()
}

/// Returns the modules that `from` imports directly or indirectly.
fn reachable<'m>(
    from: &'m Module,
    imports: &'m BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'m Module> {
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
    while let Some(next) = waiting.pop() {
        for other in imports.get(next).into_iter().flatten() {
            if seen.insert(other) {
                waiting.push(other);
            }
        }
    }
    seen
}

/// Returns the module of a file.
fn module(source: &Source) -> Module {
    let parts = source.path.iter().filter_map(|part| part.to_str());
    let mut module: Module =
        parts.map(|part| part.strip_suffix(".rs").unwrap_or(part).to_owned()).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// Returns the module that a path leads to from the module `here`: the longest beginning of the path
/// that is a module.
fn target(here: &Module, path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    let mut at = here.clone();
    let mut rest = path;
    while let [first, others @ ..] = rest {
        match first.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            _ => break,
        }
        rest = others;
    }
    let ends = (0..=rest.len()).rev().map(|len| [&at, &rest[..len]].concat());
    ends.into_iter().find(|one| modules.contains(one))
}

/// Returns the paths of a file's `use` declarations that stay inside the crate.
fn paths(source: &Source) -> Vec<Vec<String>> {
    let code: String = source.code().map(|line| line.trim().to_owned() + " ").collect();
    let mut paths = Vec::new();
    for declaration in code.split(';') {
        let Some((before, tree)) = declaration.rsplit_once("use ") else { continue };
        // After a keyword, an attribute or a brace, and not inside a word.
        let before = before.trim_end();
        let is_declaration = before.ends_with("pub") || !before.ends_with(char::is_alphanumeric);
        let inside = ["crate", "self", "super"].iter().any(|root| tree.trim().starts_with(root));
        if is_declaration && inside {
            let tree: String = tree.chars().filter(|c| !c.is_whitespace()).collect();
            for path in expand(&tree) {
                paths.push(path.split("::").map(str::to_owned).collect());
            }
        }
    }
    paths
}

/// Returns the paths of a tree of imports: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<String> {
    let Some((head, group)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let mut paths = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let parts = expand(&group[begin..at]);
                paths.extend(
                    parts.iter().filter(|it| !it.is_empty()).map(|it| head.to_owned() + it),
                );
                begin = at + 1;
            }
            _ => {}
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::{Source, cycles, expand};

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn indirect_import_cycles_are_found() {
        let sources = [
            source("lib.rs", "mod a;\nuse crate::a;"),
            source("a.rs", "use crate::b::c::X;"),
            source("b/c.rs", "pub(crate) use super::super::d::{\n    Y, Z,\n};"),
            source("d.rs", "use super::a;\nuse crate::e;"),
            source("e.rs", "use crate::Root;"),
        ];
        assert_eq!(cycles(&sources), ["a b/c d"]);
        assert_eq!(cycles(&sources[..3]), Vec::<String>::new());
    }

    #[test]
    fn a_module_and_its_parts_may_import_each_other() {
        let sources = [
            source("a.rs", "mod b;\npub(crate) use self::b::X;\nuse super::c::Y;"),
            source("a/b.rs", "use super::Z;\nuse crate::a;"),
            source(
                "c/mod.rs",
                "// use crate::a::X;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
            ),
        ];
        assert_eq!(cycles(&sources), Vec::<String>::new());
        let siblings = [
            source("a/b.rs", "use super::c::{self, d::Y};"),
            source("a/c.rs", "#[cfg(feature = \"x\")]\nuse super::b::X;"),
        ];
        assert_eq!(cycles(&siblings), ["a/b a/c"]);
    }

    #[test]
    fn trees_of_imports_are_expanded() {
        assert_eq!(expand("crate::a"), ["crate::a"]);
        assert_eq!(expand("a::{b,c::{d,e},f,}"), ["a::b", "a::c::d", "a::c::e", "a::f"]);
    }
}
