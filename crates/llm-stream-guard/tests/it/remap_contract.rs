//! The contract of remapping, `wire-remap/CONTRACT.md`: its column of tests is made from the notes
//! of the tests themselves (`// Contract: S2.1, X.12.` above `#[test]`), here and there.
//!
//! `UPDATE_CONTRACT=1 cargo test -p llm-stream-guard --all-features remap_contract` writes it anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a directory.
fn sources(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            into.push(path);
        }
    }
}

/// The tests that note each id, as `crate: file::test`.
fn noted() -> BTreeMap<String, BTreeSet<String>> {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in ["wire-remap", "llm-stream-guard"] {
        let root = crates().join(name).join("tests/it");
        let mut files = Vec::new();
        sources(&root, &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable file");
            let module = file.strip_prefix(&root).expect("below").with_extension("");
            let module = module.to_str().expect("a name").replace('\\', "/");
            let mut lines = text.lines().map(str::trim);
            while let Some(line) = lines.next() {
                let Some(ids) = line.strip_prefix("// Contract: ") else { continue };
                assert_eq!(lines.next(), Some("#[test]"), "{module}: {line}");
                let function = lines.next().and_then(|line| line.strip_prefix("fn "));
                let function = function.and_then(|line| line.split_once('(')).expect("a test").0;
                for id in ids.trim_end_matches('.').split(", ") {
                    let test = format!("`{name}: {module}::{function}`");
                    tests.entry(id.to_owned()).or_default().insert(test);
                }
            }
        }
    }
    tests
}

#[test]
fn the_column_of_tests_is_that_of_their_notes() {
    let path = crates().join("wire-remap/CONTRACT.md");
    let written = fs::read_to_string(&path).expect("the contract");
    let mut tests = noted();
    let mut rows = BTreeSet::new();
    let mut made = String::new();
    for line in written.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        match cells[..] {
            [id, promise, ..] if id.starts_with("| S2.") || id.starts_with("| X.") => {
                let tests = tests.remove(id.trim_start_matches("| ")).unwrap_or_default();
                assert!(!tests.is_empty(), "{id}: no test notes it");
                assert!(rows.insert(id.to_owned()), "{id}: twice");
                let tests: Vec<String> = tests.into_iter().collect();
                made += &format!("{id} | {promise} | {} |\n", tests.join(" "));
            }
            _ => made += &format!("{line}\n"),
        }
    }
    assert!(tests.is_empty(), "noted, and not in the contract: {:?}", tests.keys());
    for number in 1..=23 {
        assert!(rows.contains(&format!("| S2.{number}")), "S2.{number} is missing");
    }
    if env::var_os("UPDATE_CONTRACT").is_some() {
        fs::write(&path, &made).expect("a writable contract");
    } else {
        assert!(made == written, "{} is out of date: see the head of this file", path.display());
    }
}
