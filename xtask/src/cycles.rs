//! Modules that import each other, directly or through other modules. None of them can be read
//! alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// Returns the names of each group of modules below a crate's root that all import each other,
/// directly or through others. Imports of the root and by the root do not count.
pub(crate) fn cycles(sources: &[Source]) -> Vec<String> {
    let modules: BTreeSet<&str> = sources.iter().filter_map(Source::module).collect();
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        let Some(module) = source.module() else { continue };
        let names = source.imports();
        let others = modules.iter().filter(|other| **other != module && names.contains(**other));
        imports.entry(module).or_default().extend(others);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        modules.iter().map(|&module| (module, reachable(module, &imports))).collect();
    let in_cycle = modules.iter().filter(|module| reached[*module].contains(*module));
    let group = |module: &&str| -> Vec<&str> {
        let mutual = |other: &&str| reached[*other].contains(module);
        reached[module].iter().copied().filter(mutual).collect()
    };
    let groups: BTreeSet<Vec<&str>> = in_cycle.map(group).collect();
    groups.into_iter().map(|group| group.join(" ")).collect()
}

/// Returns the modules that `module` imports directly or indirectly.
fn reachable<'m>(
    module: &'m str,
    imports: &BTreeMap<&'m str, BTreeSet<&'m str>>,
) -> BTreeSet<&'m str> {
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![module]);
    while let Some(next) = waiting.pop() {
        for &other in imports.get(next).into_iter().flatten() {
            if seen.insert(other) {
                waiting.push(other);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{Source, cycles};

    #[test]
    fn indirect_import_cycles_are_found() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source("lib.rs", "mod a;\nuse crate::a;"),
            source("a.rs", "use crate::b::X;"),
            source("b/c.rs", "use super::super::d::Y;"),
            source("d.rs", "use super::a;\nuse crate::e;"),
            source("e.rs", "use crate::Root;"),
        ];
        assert_eq!(cycles(&sources), ["a b d"]);
        assert_eq!(cycles(&sources[..3]), Vec::<String>::new());
    }
}
