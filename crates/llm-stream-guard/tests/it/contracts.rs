//! Checks the tables of promises: each promise has an id and a test that names it
//! (`// Contract: S2.1, X.12.` above `#[test]`, in any crate), and each id a test names is a promise.
//!
//! `PRINT_CONTRACTS=1 cargo test -p llm-stream-guard --all-features --test it contracts -- --nocapture`
//! lists the tests of each promise.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

const GAPS: &str = include_str!("../../../../docs/gaps.md");

/// Each page with the areas of its promises and how many an area has.
const PAGES: [(&str, &[(&str, usize)]); 4] = [
    ("crates/llm-stream-guard/CONTRACT.md", &[("S1", 62), ("X", 40)]),
    ("crates/wire-remap/CONTRACT.md", &[("S2", 23)]),
    ("crates/think-filter/CONTRACT.md", &[("S3", 26)]),
    ("crates/stream-lifecycle/CONTRACT.md", &[("S4", 30)]),
];

/// The names of the tests that name each id.
type Noted = BTreeMap<String, BTreeSet<String>>;

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

/// Collects the tests that name each id.
fn noted(root: &Path) -> Noted {
    let mut tests = Noted::new();
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
                    let test = format!("{name}: {module}::{function}");
                    tests.entry(id.to_owned()).or_default().insert(test);
                });
            }
        }
    }
    tests
}

/// Reports each id that a test names, with the test's name.
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
        let function = function.unwrap_or_else(|| panic!("a function after `{line}`")).0;
        // A law is run by the tests that a macro makes of its name.
        assert!(is_test || text.contains(&format!("\n    {function},\n")), "{function}: no test");
        ids.trim_end_matches('.').split(", ").for_each(|id| on(id, function));
    }
}

/// Checks the promises of a page and removes their ids from `noted`.
fn check(page: &str, text: &str, areas: &[(&str, usize)], noted: &mut Noted) {
    let mut left: BTreeSet<String> =
        areas.iter().flat_map(|(area, n)| (1..=*n).map(move |n| format!("{area}.{n}"))).collect();
    for line in text.lines() {
        let Some((id, promise)) = line.trim_matches(['|', ' ']).split_once(" | ") else { continue };
        let area = id.split_once('.').map(|(area, _)| area);
        if !areas.iter().any(|(known, _)| area == Some(known)) {
            continue;
        }
        assert!(left.remove(id), "{page}: {id} is listed twice or beyond the last promise");
        let in_part = promise.starts_with('*');
        assert_eq!(GAPS.contains(&format!("({id})")), in_part, "{id}: in part, and why");
        let tests = noted.remove(id).unwrap_or_default();
        assert!(in_part || !tests.is_empty(), "{id}: no test names it");
        if env::var_os("PRINT_CONTRACTS").is_some() {
            println!("{id} {promise}\n{tests:#?}");
        }
    }
    assert!(left.is_empty(), "{page}: promises are missing: {left:?}");
}

#[test]
fn every_contract_id_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut noted = noted(&root);
    for (page, areas) in PAGES {
        let text = fs::read_to_string(root.join(page)).expect("the page");
        check(page, &text, areas, &mut noted);
    }
    assert!(noted.is_empty(), "tests name ids that are not promises: {:?}", noted.keys());
}
