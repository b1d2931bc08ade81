//! `cargo xtask drift`: the parser names that the newest engine wheels register and no file in
//! `families/` knows, and the engines' parsing code that changed since it was last read.
//!
//! A script downloads the wheels without their dependencies and reads names and hashes from their
//! sources. It runs no code of the wheels. Wheels that exist already are not downloaded again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use toolcall_parsers::same_name;

use crate::families;

/// Where wheels are kept, unless the command names another directory.
const WHEELS: &str = "target/drift";

/// Names that no family needs to know, with the reason: engine, kind, name, reason.
const IGNORED: &str = "xtask/drift.tsv";

/// The files with parsing code, as they were when their formats were last compared with those of
/// the families: engine, `source`, path, hash.
const SOURCES: &str = "xtask/drift-sources.tsv";

/// The task of a parser, and its name in an engine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Registered {
    engine: String,
    kind: String,
    name: String,
}

impl Registered {
    fn read(line: &str) -> Option<Self> {
        let mut cells = line.split('\t').map(str::to_owned);
        let read = Self { engine: cells.next()?, kind: cells.next()?, name: cells.next()? };
        (read.kind != SOURCE).then_some(read)
    }
}

/// The kind of a line that describes a file.
const SOURCE: &str = "source";

/// Files with their hashes. A key is a line up to the hash.
type Sources<'t> = BTreeMap<&'t str, &'t str>;

fn sources(text: &str) -> Sources<'_> {
    let lines = text.lines().filter(|line| line.split('\t').nth(1) == Some(SOURCE));
    lines.filter_map(|line| line.rsplit_once('\t')).collect()
}

/// Lists the names that no file in `families/` knows, and the sources that changed. With `keep`,
/// the sources' hashes are written instead.
///
/// # Errors
/// Returns an error if there are unknown names or changed sources, an entry of the list of ignored
/// names has no use, or a list cannot be read or written.
pub(crate) fn run(root: &Path, wheels: Option<&Path>, keep: bool) -> Result<(), String> {
    let wheels = wheels.map_or_else(|| root.join(WHEELS), Path::to_owned);
    let Some(text) = printed(root, &wheels) else { return Ok(()) };
    let now = sources(&text);
    if keep {
        let lines: String = now.iter().map(|(file, hash)| format!("{file}\t{hash}\n")).collect();
        return fs::write(root.join(SOURCES), lines).map_err(|error| format!("{SOURCES}: {error}"));
    }
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    let listed: BTreeSet<Registered> = text.lines().filter_map(Registered::read).collect();
    let ignored = read(IGNORED)?.lines().filter_map(Registered::read).collect();
    let mut found = findings(&listed, &ignored, &families::known_names(root)?);
    println!("drift: {} names of engines, {} not known", listed.len(), found.len());
    let kept = read(SOURCES)?;
    let changed = changes(&sources(&kept), &now);
    println!("drift: {} files with parsing code, {} changed", now.len(), changed.len());
    found.extend(changed);
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Returns what the script prints. Prints a notice and returns `None` if Python or the network is
/// missing.
fn printed(root: &Path, wheels: &Path) -> Option<String> {
    let script = Command::new("python3").arg(root.join("xtask/drift.py")).arg(wheels).output();
    let skipped = |why: &str| {
        println!("drift: skipped, {why}");
        None
    };
    match script {
        Err(error) => skipped(&format!("python3 does not run: {error}")),
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            skipped(text.lines().last().unwrap_or("the script failed"))
        }
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
    }
}

/// Returns the names that are neither known nor ignored, and the ignored names that do not occur.
fn findings(
    listed: &BTreeSet<Registered>,
    ignored: &BTreeSet<Registered>,
    known: &families::KnownNames,
) -> Vec<String> {
    let is_known = |it: &&Registered| {
        let names = if it.kind == "tools" { &known.calls } else { &known.reasoning };
        names.iter().any(|name| same_name(name, &it.name))
    };
    let unknown = listed.iter().filter(|it| !is_known(it) && !ignored.contains(it));
    let line = |it: &Registered, problem: &str| {
        format!("{} {} `{}`: {problem}", it.engine, it.kind, it.name)
    };
    let unknown = unknown.map(|it| line(it, "no file in families/ has this name"));
    let idle = ignored.iter().filter(|it| !listed.contains(it) || is_known(it));
    let idle = idle.map(|it| line(it, "ignored for nothing; remove it from xtask/drift.tsv"));
    unknown.chain(idle).collect()
}

/// Returns the files that are new, changed or gone.
fn changes(kept: &Sources<'_>, now: &Sources<'_>) -> Vec<String> {
    let files: BTreeSet<&str> = kept.keys().chain(now.keys()).copied().collect();
    let line = |file: &str| {
        let what = match (kept.get(file), now.get(file)) {
            (Some(old), Some(new)) if old == new => return None,
            (Some(_), Some(_)) => "changed",
            (None, _) => "new",
            (_, None) => "gone",
        };
        let path = file.rsplit('\t').next().unwrap_or(file);
        Some(format!("{path}: {what}; compare what it reads, then `cargo xtask drift --keep`"))
    };
    files.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Registered, changes, findings, sources};
    use crate::families::KnownNames;

    fn registered(lines: &[&str]) -> std::collections::BTreeSet<Registered> {
        lines.iter().filter_map(|line| Registered::read(line)).collect()
    }

    #[test]
    fn registered_name_is_known_for_its_kind_ignored_or_reported() {
        let known = KnownNames { calls: vec!["a_b".into()], reasoning: vec!["r".into()] };
        let listed =
            registered(&["e\ttools\tA-b", "e\ttools\tr", "e\treasoning\tr", "e\ttools\tx"]);
        let ignored = registered(&["e\ttools\tx\twhy", "e\ttools\tgone\twhy"]);
        let found = findings(&listed, &ignored, &known);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("e tools `r`: no file"));
        assert!(found[1].starts_with("e tools `gone`: ignored for nothing"));
    }

    #[test]
    fn changed_new_and_missing_sources_are_reported() {
        let kept = "e\tsource\te/a.py\t1\ne\tsource\te/b.py\t2\ne\tsource\te/c.py\t3\n";
        let now = "e\ttools\tx\ne\tsource\te/a.py\t1\ne\tsource\te/b.py\t9\ne\tsource\te/d.py\t4";
        let found = changes(&sources(kept), &sources(now));
        let words: Vec<&str> = found.iter().filter_map(|line| line.split(';').next()).collect();
        assert_eq!(words, ["e/b.py: changed", "e/c.py: gone", "e/d.py: new"]);
        assert_eq!(registered(&now.lines().collect::<Vec<_>>()).len(), 1);
    }
}
