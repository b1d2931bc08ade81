//! `cargo xtask seeded`: applies known faults one at a time, and checks that a law detects each.
//!
//! A patch begins with a description of the fault and a line `law: COMMAND`. The command must fail
//! because of a failing test, and not because the code does not compile.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::process::Invocation;

/// The directory of the patches.
const DIRECTORY: &str = "crates/stream-laws/seeded";

/// Applies each patch in turn, runs its law, and reverts it.
///
/// # Errors
/// Returns an error for uncommitted changes, a patch that does not apply, or a law that does not
/// detect its fault.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let dirty = Invocation::new("git status --porcelain --untracked-files=no").output(root)?;
    if !dirty.trim().is_empty() {
        return Err("commit first: patches change the working tree".to_owned());
    }
    let mut blind = Vec::new();
    for path in patches(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        let law = law(&text).ok_or_else(|| format!("{name}: expected a line `law: COMMAND`"))?;
        Invocation::new(&format!("git apply {name}")).output(root)?;
        let outcome = Invocation::new(law).output(root);
        Invocation::new(&format!("git apply -R {name}")).output(root)?;
        let seen = outcome.as_ref().is_err_and(|output| output.contains("test result: FAILED"));
        println!("{}  {name}: {law}", if seen { "seen " } else { "BLIND" });
        if !seen {
            blind.push(name);
        }
    }
    if blind.is_empty() { Ok(()) } else { Err(format!("no law sees {}", blind.join(", "))) }
}

fn patches(root: &Path) -> Result<Vec<PathBuf>, String> {
    let directory = root.join(DIRECTORY);
    let entries = fs::read_dir(&directory).map_err(|error| format!("{DIRECTORY}: {error}"))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "patch"));
    paths.sort();
    if paths.is_empty() { Err(format!("{DIRECTORY}: no patches")) } else { Ok(paths) }
}

/// Returns the command of a patch.
fn law(patch: &str) -> Option<&str> {
    patch.lines().find_map(|line| line.strip_prefix("law: "))
}

#[cfg(test)]
mod tests {
    use super::{law, patches};
    use crate::source::collect;

    #[test]
    fn every_patch_names_a_law_and_not_a_vector() {
        let root = crate::root();
        for path in patches(&root).unwrap() {
            let text = std::fs::read_to_string(&path).unwrap();
            let law = law(&text).unwrap_or_else(|| panic!("{}: no law", path.display()));
            assert!(law.starts_with("cargo test ") && !law.contains("vectors"), "{law}");
        }
    }

    #[test]
    fn every_law_is_a_test_of_its_crate() {
        let root = crate::root();
        for path in patches(&root).unwrap() {
            let text = std::fs::read_to_string(&path).unwrap();
            let words: Vec<&str> = law(&text).unwrap_or_default().split(' ').collect();
            let package = words.iter().skip_while(|word| **word != "-p").nth(1).unwrap();
            let filter = words.last().unwrap().trim_end_matches("::").rsplit("::").next().unwrap();
            let mut sources = Vec::new();
            collect(&root.join("crates").join(package), &["rs"], &mut sources).unwrap();
            let is_there = sources.iter().any(|source| {
                let of_name = source.file_stem().is_some_and(|name| name == filter);
                of_name || std::fs::read_to_string(source).unwrap().contains(filter)
            });
            assert!(is_there, "{}: no test is named `{filter}`", path.display());
        }
    }

    #[test]
    fn every_patch_applies() {
        let root = crate::root();
        for path in patches(&root).unwrap() {
            let check = format!("git apply --check {}", path.display());
            crate::process::Invocation::new(&check).output(&root).unwrap();
        }
    }
}
