//! The table of promises in `docs/streams.md`: complete, and true about its tests.

use std::{collections::BTreeMap, fs, path::PathBuf};

const TABLE: &str = include_str!("../../../../../docs/streams.md");
const SHORTCOMINGS: &str = include_str!("../../../../../SHORTCOMINGS.md");

struct Row<'t> {
    promise: &'t str,
    tests: Vec<&'t str>,
}

fn rows() -> BTreeMap<&'static str, Row<'static>> {
    let lines = TABLE.lines().filter(|line| line.starts_with("| S1.") || line.starts_with("| X."));
    let mut rows = BTreeMap::new();
    for line in lines {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, promise, tests] = cells[..] else { panic!("three cells: {line}") };
        let tests = tests.split('`').map(str::trim).filter(|test| !test.is_empty()).collect();
        assert!(rows.insert(id, Row { promise, tests }).is_none(), "{id} twice");
    }
    rows
}

/// The source of the tests `name` stands in, and its function.
fn source(name: &str) -> (PathBuf, String) {
    let (krate, rest) = name.split_once(": ").unwrap_or(("", name));
    let (file, function) = rest.split_once("::").expect("a file and a function");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if krate.is_empty() {
        return (root.join(format!("tests/it/{file}.rs")), format!("fn {function}("));
    }
    let root = root.join("..").join(krate);
    let inside = matches!(file.split('/').next(), Some("machine" | "typing"));
    let one_binary = root.join("tests/it").is_dir() && !file.starts_with("it/");
    let tests = if one_binary { "tests/it" } else { "tests" };
    let path = root.join(if inside { "src" } else { tests }).join(format!("{file}.rs"));
    (path, format!("fn {function}("))
}

#[test]
fn the_table_is_complete_and_its_tests_exist() {
    let rows = rows();
    let ids = (1..=62).map(|n| format!("S1.{n}")).chain((1..=40).map(|n| format!("X.{n}")));
    for id in ids {
        let row = rows.get(id.as_str()).unwrap_or_else(|| panic!("{id} is not in the table"));
        let partly = row.promise.starts_with('*');
        assert!(partly || !row.tests.is_empty(), "{id} has no test");
        assert_eq!(SHORTCOMINGS.contains(&format!("({id})")), partly, "{id}: in part, and why");
        for test in &row.tests {
            let (path, function) = source(test);
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{id}: {}: {error}", path.display()));
            let at = text.find(&function).unwrap_or_else(|| panic!("{id}: no test {test}"));
            let is_test = text[..at].trim_end().ends_with("#[test]")
                // Laws and vectors are run by macros and loops over tables.
                || text[..at].contains("proptest!")
                || text[..at].contains("sharded!");
            assert!(is_test, "{id}: {test} is no test");
        }
    }
    assert_eq!(rows.len(), 102);
}
