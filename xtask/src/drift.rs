//! `cargo xtask drift`: the parser names that the newest engine wheels register and no file in
//! `families/` knows.
//!
//! A script downloads the wheels without their dependencies and reads the names from their sources.
//! It runs no code of the wheels. Wheels that exist already are not downloaded again.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use toolcall_parsers::same_name;

use crate::families;

/// Where wheels are kept, unless the command names another directory.
const WHEELS: &str = "target/drift";

/// Names that no family needs to know, with the reason: engine, kind, name, reason.
const IGNORED: &str = "xtask/drift.tsv";

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
        Some(Self { engine: cells.next()?, kind: cells.next()?, name: cells.next()? })
    }
}

/// Lists the names that no file in `families/` knows.
///
/// # Errors
/// Returns an error if there are unknown names, or an entry of the list of ignored names has no
/// use.
pub(crate) fn run(root: &Path, wheels: Option<&Path>) -> Result<(), String> {
    let wheels = wheels.map_or_else(|| root.join(WHEELS), Path::to_owned);
    let Some(listed) = listed(root, &wheels) else { return Ok(()) };
    let ignored = fs::read_to_string(root.join(IGNORED));
    let ignored = ignored.map_err(|error| format!("{IGNORED}: {error}"))?;
    let ignored: BTreeSet<Registered> = ignored.lines().filter_map(Registered::read).collect();
    let found = findings(&listed, &ignored, &families::known_names(root)?);
    println!("drift: {} names of engines, {} not known", listed.len(), found.len());
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Returns the parsers that the engines register. Prints a notice and returns `None` if Python or
/// the network is missing.
fn listed(root: &Path, wheels: &Path) -> Option<BTreeSet<Registered>> {
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
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            Some(text.lines().filter_map(Registered::read).collect())
        }
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

#[cfg(test)]
mod tests {
    use super::{Registered, findings};
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
}
