//! Tests of the house rules.

use super::{
    LONGEST_FILE, Manifest, NO_PANICS, dependency_findings, file_findings, findings, is_within,
};
use std::path::Path;

#[test]
fn workspace_is_tidy() {
    assert_eq!(findings(&crate::root()).unwrap(), Vec::<String>::new());
}

fn in_file(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    file_findings(Path::new(path), text, &mut findings);
    findings
}

#[test]
fn every_file_rule_finds_its_violation() {
    let leftover = ["to", "do!()"].concat();
    let bad = format!("use a;\nlet b = 1; \n{leftover}\n// FIXME\n");
    assert_eq!(
        in_file("crates/a/src/b.rs", &bad),
        [
            "crates/a/src/b.rs:1: expected `//!` and what the file is about",
            "crates/a/src/b.rs:2: trailing whitespace",
            "crates/a/src/b.rs:3: `todo!` is left",
            "crates/a/src/b.rs:4: `FIXME` is left",
        ]
    );
    let limit = "//! B.\nconst MAX_B: usize = 1;\npub(crate) const MAX_C: u8 = 2;\n";
    let finding = "crates/a/src/b.rs:2: a limit: expected in the crate's `limits.rs`";
    assert_eq!(in_file("crates/a/src/b.rs", limit)[0], finding);
    assert_eq!(in_file("crates/a/src/b.rs", limit).len(), 2);
    assert_eq!(in_file("crates/a/src/limits.rs", limit).len(), 0);
    assert_eq!(in_file("crates/guard-laws/src/b.rs", limit).len(), 0);
    let long = "//! Long.\n".repeat(LONGEST_FILE + 1);
    let finding = "crates/a/src/b.rs:1: expected at most 400 lines";
    assert_eq!(in_file("crates/a/src/b.rs", &long), [finding]);
    assert_eq!(in_file("crates/a/Cargo.toml", "a = 1\t\n").len(), 1);
    let finding = format!("crates/a/src/lib.rs:1: expected `{NO_PANICS}`");
    assert_eq!(in_file("crates/a/src/lib.rs", "//! A.\n"), [finding]);
    assert_eq!(in_file("crates/a/src/lib.rs", &format!("//! A.\n{NO_PANICS}\n")).len(), 0);
    assert_eq!(in_file("crates/guard-laws/src/lib.rs", "//! Laws.\n").len(), 0);
}

#[test]
fn library_rules_do_not_apply_to_tests() {
    let text = format!("//! A test.\n// TODO\n{}", "\n".repeat(LONGEST_FILE));
    assert_eq!(in_file("crates/a/tests/b.rs", &text), Vec::<String>::new());
    assert_eq!(in_file("xtask/src/b.rs", &text), Vec::<String>::new());
}

#[test]
fn a_circle_may_shrink_and_not_grow() {
    assert!(is_within(("a", "b c/d"), "a: b c/d e"));
    assert!(!is_within(("a", "b c/d f"), "a: b c/d e"));
    assert!(!is_within(("g", "b c/d"), "a: b c/d e"));
}

#[test]
fn dependencies_on_higher_layers_are_found() {
    let crates = [
        "name = \"jail-match\"\n[dev-dependencies]\nstream-laws.workspace = true",
        "name = \"wire-remap\"\n[dependencies]\njail-match.workspace = true",
        "name = \"think-filter\"\n[dependencies]\nwire-remap.workspace = true\n\
         stream-laws.workspace = true",
        "name = \"toolcall-parsers\"\n[dev-dependencies]\nllm-stream-guard = \"1\"",
        "name = \"llm-stream-guard\"\n[dependencies]\nwire-remap = \"1\"\nmemchr = \"2\"",
        "name = \"cli\"\npublish = false\n[dependencies]\nllm-stream-guard = \"1\"\n\
         stream-laws.workspace = true",
        "name = \"stream-laws\"\npublish = false\n[dependencies]\njail-match = \"1\"",
        "name = \"new\"",
    ]
    .map(|text| Manifest::parse(&format!("[package]\n{text}")));
    let mut findings = Vec::new();
    dependency_findings(&crates, &mut findings);
    assert_eq!(
        findings,
        [
            "think-filter: must not depend on wire-remap, no lower layer",
            "think-filter: stream-laws is for dev-dependencies",
            "toolcall-parsers: must not depend on llm-stream-guard, no lower layer",
            "stream-laws: must not depend on jail-match, no lower layer",
            "new: expected a layer in xtask/src/tidy.rs",
        ]
    );
}

#[test]
fn seeded_bad_file_is_found_on_disk() {
    let root = std::env::temp_dir().join(format!("xtask-tidy-{}", std::process::id()));
    let source = root.join("crates/bad/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("lib.rs"), "fn bad() {} \n").unwrap();
    let manifest = "[package]\nname = \"bad\"\npublish = false\n";
    std::fs::write(root.join("crates/bad/Cargo.toml"), manifest).unwrap();
    let found = findings(&root);
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(found.unwrap().len(), 3);
}
