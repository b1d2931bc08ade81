//! The check that the README of each library has its dependency line and lists its features.

use std::fs;

use crate::manifest::{self, FACADE, Publish};

/// Returns the names in the `[features]` table of a manifest.
fn features(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest.split("\n[").find_map(|part| part.strip_prefix("features]"));
    let lines = table.unwrap_or_default().lines();
    lines.filter_map(|line| {
        let (name, _) = line.split_once(" = ")?;
        let plain = |scalar: char| scalar.is_ascii_alphanumeric() || scalar == '-';
        (!name.is_empty() && name.chars().all(plain)).then_some(name)
    })
}

#[test]
fn every_readme_shows_the_dependency_line_and_all_features() {
    let root = crate::root();
    for one in manifest::crates(&root).unwrap() {
        let served = one.name == FACADE || one.name.ends_with("-serve");
        if one.publish == Publish::No && !served {
            continue;
        }
        let directory = root.join("crates").join(&one.name);
        let readme = fs::read_to_string(directory.join("README.md")).unwrap();
        let dependency = format!("\n{} = {{ git = ", one.name);
        assert!(readme.contains(&dependency), "{}: how to depend on it", one.name);
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let listed: Vec<&str> = readme
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once("` |").map(|(name, _)| name))
            .collect();
        let known: Vec<&str> = features(&manifest).filter(|name| *name != "default").collect();
        let features: Vec<&str> =
            listed.iter().copied().filter(|name| known.contains(name)).collect();
        assert_eq!(features, known, "{}: its features, in the order of the manifest", one.name);
    }
}
