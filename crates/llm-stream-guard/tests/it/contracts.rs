//! The tables of promises: each line has an id and the tests that hold it. The column of tests is
//! made from the notes of the tests themselves (`// Contract: S2.1, X.12.` above `#[test]`), in
//! whichever crate they stand.
//!
//! `UPDATE_CONTRACTS=1 cargo test -p llm-stream-guard --all-features --test it contracts` writes it.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

const SHORTCOMINGS: &str = include_str!("../../../../SHORTCOMINGS.md");

type Page = (&'static str, &'static str, &'static [(&'static str, usize)]);

/// A page, the crate whose tests it names without the crate, and how many promises of which area.
const PAGES: [Page; 4] = [
    ("docs/streams.md", "llm-stream-guard", &[("S1", 62), ("X", 40)]),
    ("crates/wire-remap/CONTRACT.md", "wire-remap", &[("S2", 23)]),
    ("crates/think-filter/CONTRACT.md", "think-filter", &[("S3", 26)]),
    ("crates/stream-lifecycle/CONTRACT.md", "stream-lifecycle", &[("S4", 30)]),
];

/// A test, as its crate and the rest of its name.
type Test = (String, String);

/// The Rust files below a directory.
fn sources(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            into.push(path);
        }
    }
}

/// The tests that note each id.
fn noted(root: &Path) -> BTreeMap<String, BTreeSet<Test>> {
    let mut tests: BTreeMap<String, BTreeSet<Test>> = BTreeMap::new();
    for entry in fs::read_dir(root.join("crates")).expect("the crates") {
        let home = entry.expect("a crate").path();
        let name = home.file_name().and_then(|name| name.to_str()).expect("a name");
        for below in ["src", "tests"].map(|below| home.join(below)) {
            let mut files = Vec::new();
            sources(&below, &mut files);
            for file in files {
                let module = file.strip_prefix(&below).expect("below").with_extension("");
                let module = module.to_str().expect("a name").replace('\\', "/");
                let module = module.strip_prefix("it/").unwrap_or(&module);
                let text = fs::read_to_string(&file).expect("a readable file");
                notes(&text, |id, function| {
                    let test = (name.to_owned(), format!("{module}::{function}"));
                    tests.entry(id.to_owned()).or_default().insert(test);
                });
            }
        }
    }
    tests
}

/// The ids that tests note, each with the test's name.
fn notes<'t>(text: &'t str, mut on: impl FnMut(&'t str, &'t str)) {
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(ids) = line.strip_prefix("// Contract: ") else { continue };
        let mut is_test = false;
        let function = lines.by_ref().find(|line| {
            is_test |= line.ends_with("test]");
            !line.starts_with("#[")
        });
        let function = function.and_then(|line| line.strip_prefix("fn ")?.split_once('('));
        let function = function.unwrap_or_else(|| panic!("a function behind `{line}`")).0;
        // A law is run by the tests that a macro makes of its name.
        assert!(is_test || text.contains(&format!("\n    {function},\n")), "{function}: no test");
        ids.trim_end_matches('.').split(", ").for_each(|id| on(id, function));
    }
}

/// The page with the column of tests as they note it.
fn made(written: &str, home: &str, areas: &[(&str, usize)], noted: &mut Noted) -> String {
    let mut left: BTreeSet<String> =
        areas.iter().flat_map(|(area, n)| (1..=*n).map(move |n| format!("{area}.{n}"))).collect();
    let mut page = String::new();
    for line in written.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let &[id, promise, ..] = &cells[..] else {
            page += &format!("{line}\n");
            continue;
        };
        if !id
            .split_once('.')
            .is_some_and(|(area, _)| areas.iter().any(|(known, _)| *known == area))
        {
            page += &format!("{line}\n");
            continue;
        }
        assert!(left.remove(id), "{home}: {id} twice, or not among the promises");
        let in_part = promise.starts_with('*');
        assert_eq!(SHORTCOMINGS.contains(&format!("({id})")), in_part, "{id}: in part, and why");
        let tests = noted.remove(id).unwrap_or_default();
        assert!(in_part || !tests.is_empty(), "{id}: no test notes it");
        let tests: Vec<String> = tests
            .into_iter()
            .map(
                |(name, test)| {
                    if name == home { format!("`{test}`") } else { format!("`{name}: {test}`") }
                },
            )
            .collect();
        page += &format!("| {id} | {promise} | {} |\n", tests.join(" "));
    }
    assert!(left.is_empty(), "{home}: promises that are missing: {left:?}");
    page
}

type Noted = BTreeMap<String, BTreeSet<Test>>;

#[test]
fn every_promise_has_the_tests_that_note_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut noted = noted(&root);
    for (page, home, areas) in PAGES {
        let path = root.join(page);
        let written = fs::read_to_string(&path).expect("the page");
        let made = made(&written, home, areas, &mut noted);
        if env::var_os("UPDATE_CONTRACTS").is_some() {
            fs::write(&path, &made).expect("a writable page");
        } else {
            assert!(made == written, "{page} is out of date: see the head of this file");
        }
    }
    assert!(noted.is_empty(), "noted, and no promise: {:?}", noted.keys());
}
