//! A reader of the parts of a `Cargo.toml` that the tasks need, line by line.
//!
//! Our manifests are plain, and compiling a TOML parser would take longer than the tasks.

use std::{fs, path::Path};

/// The façade, whose name belongs to an unrelated project on the registry.
pub(crate) const FACADE: &str = "llm-stream-guard";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) publish: Publish,
    /// Whether the manifest has a `[features]` table.
    pub(crate) features: bool,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of `[[bin]]` targets.
    pub(crate) bins: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Publish {
    #[default]
    Yes,
    No,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) table: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// Normal and build dependencies, which users of the crate compile.
    Normal,
    Dev,
}

impl Manifest {
    pub(crate) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut section = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_matches(['[', ']']).to_owned();
                manifest.features |= section == "features";
                if let Some((table, name)) = one_dependency(&section) {
                    let name = name.trim_matches(['"', '\'']).to_owned();
                    manifest.dependencies.push(Dependency { name, table });
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (key.trim(), value.trim());
            match section.as_str() {
                _ if !key.starts_with(|first: char| first.is_ascii_alphanumeric()) => {}
                "package" if key == "name" => manifest.name = unquoted(value),
                "package" if key == "publish" && value.starts_with("false") => {
                    manifest.publish = Publish::No;
                }
                "bin" if key == "name" => manifest.bins.push(unquoted(value)),
                _ if key == "package" && one_dependency(&section).is_some() => {
                    if let Some(last) = manifest.dependencies.last_mut() {
                        last.name = unquoted(value);
                    }
                }
                _ => {
                    if let Some(table) = dependency_table(&section) {
                        let name = renamed(value).unwrap_or_else(|| {
                            key.split('.').next().unwrap_or_default().to_owned()
                        });
                        manifest.dependencies.push(Dependency { name, table });
                    }
                }
            }
        }
        manifest
    }
}

/// Returns whether the main workspace has the crate in `directory`.
pub(crate) fn is_member(directory: &Path) -> bool {
    let manifest = fs::read_to_string(directory.join("Cargo.toml"));
    manifest.is_ok_and(|text| !text.lines().any(|line| line == "[workspace]"))
}

/// Returns the manifests of the main workspace's crates below `crates/`, sorted by directory.
pub(crate) fn crates(root: &Path) -> Result<Vec<Manifest>, String> {
    let directory = root.join("crates");
    let fail = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(&directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if is_member(&path) {
            paths.push(path.join("Cargo.toml"));
        }
    }
    paths.sort();
    paths.iter().map(|path| Ok(Manifest::parse(&fs::read_to_string(path).map_err(fail)?))).collect()
}

/// Returns the kind of a section such as `[dependencies]`, including the sections of a target.
fn dependency_table(section: &str) -> Option<Table> {
    let table = section
        .strip_prefix("target.")
        .map_or(section, |target| target.rsplit_once('.').map_or("", |(_, table)| table));
    match table {
        "dependencies" | "build-dependencies" => Some(Table::Normal),
        "dev-dependencies" => Some(Table::Dev),
        _ => None,
    }
}

/// Returns the kind and the name of a section such as `[dependencies.name]`.
fn one_dependency(section: &str) -> Option<(Table, &str)> {
    let (table, name) = section.rsplit_once('.')?;
    Some((dependency_table(table)?, name))
}

/// Returns the real name in `alias = { package = "name" }`.
fn renamed(value: &str) -> Option<String> {
    let (_, after) = value.split_once("package")?;
    Some(unquoted(after.trim_start().strip_prefix('=')?.trim_start()))
}

fn unquoted(value: &str) -> String {
    value.split('"').nth(1).unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Dependency, Manifest, Publish, Table};

    #[test]
    fn manifests_are_read_in_every_spelling() {
        let manifest = Manifest::parse(
            r#"
            [package]
            name = "ours"
            publish = false # never
            [features]
            default = ["std"]
            [dependencies]
            memchr.workspace = true
            serde = { version = "1", features = [
                "derive",
            ], default-features = false }
            alias = { package = "jail-match", path = "../jail-match" }
            [dev-dependencies]
            stream-laws.workspace = true
            [build-dependencies]
            cc = "1"
            [target.'cfg(unix)'.dependencies]
            libc = "0.2"
            [dependencies.renamed]
            package = "think-filter"
            version = "0.1"
            [[bin]]
            name = "tool"
            path = "src/main.rs"
            "#,
        );
        let normal = ["memchr", "serde", "jail-match"].map(|name| (name, Table::Normal));
        let rest = [
            ("stream-laws", Table::Dev),
            ("cc", Table::Normal),
            ("libc", Table::Normal),
            ("think-filter", Table::Normal),
        ];
        let expected = normal.into_iter().chain(rest);
        assert_eq!(
            manifest,
            Manifest {
                name: "ours".into(),
                publish: Publish::No,
                features: true,
                dependencies: expected
                    .map(|(name, table)| Dependency { name: name.into(), table })
                    .collect(),
                bins: vec!["tool".into()],
            }
        );
    }

    #[test]
    fn crate_is_published_unless_its_manifest_forbids_it() {
        assert_eq!(Manifest::parse("[package]\nname = \"a\"").publish, Publish::Yes);
    }
}
