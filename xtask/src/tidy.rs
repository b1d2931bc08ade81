//! `cargo xtask tidy`: checks of house rules that the compiler does not check. Also a test of this
//! crate.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    cycles::cycles,
    examples,
    manifest::{self, Dependency, FACADE, Manifest, Publish, Table},
    source,
    type_names::{TypeNames, shared_public},
    words,
};

use crate::families;
/// The maximum number of lines of a library's file. A longer file has more than one subject.
pub(crate) const LONGEST_FILE: usize = 400;

/// Groups of files that may still import each other, one on each line: `crate: a b/c d`. A group may
/// shrink. A line that begins with `#` gives the reason of the next line.
const CIRCLES: &str = include_str!("../circles.txt");

/// Words that must not remain in library code.
const LEFTOVERS: [&str; 4] = ["todo!", "unimplemented!", "TODO", "FIXME"];

/// The directories of code.
const SOURCES: [&str; 3] = ["crates", "xtask", "fuzz"];

/// The directory whose folders are libraries.
const LIBRARIES: &str = "crates";

/// The lint attribute of every library. An exception gives its reason at the place.
const NO_PANICS: &str =
    "#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]";

/// Our crates by layer. A crate may depend on lower layers only.
const LAYERS: [&[&str]; 6] = [
    &["jail-match", "sse-events", "stream-lifecycle"],
    &["think-filter", "wire-remap", "toolcall-parsers"],
    &["response-templates"],
    &[FACADE],
    &["family-export"],
    &["llm-stream-guard-serve"],
];

/// The layer of tools, which are not published.
const TOP: usize = LAYERS.len();

/// Libraries that panic if a check fails.
const CHECKERS: [&str; 3] = ["stream-laws", "guard-laws", "guard-fuzz"];

/// The checkers that tests share.
const LAWS: [&str; 2] = ["stream-laws", "guard-laws"];

/// Checks all rules, and returns all findings.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let findings = findings(root)?;
    findings.iter().for_each(|finding| println!("{finding}"));
    for one in slack(root).map_err(|error| error.to_string())? {
        println!("note: {one}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("tidy: {count} findings")),
    }
}

fn findings(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for directory in SOURCES {
        let fail = |error: io::Error| format!("{directory}: {error}");
        let mut files = Vec::new();
        source::collect(&root.join(directory), &["rs", "toml"], &mut files).map_err(fail)?;
        for path in files {
            let text = fs::read_to_string(&path).map_err(fail)?;
            let path = path.strip_prefix(root).unwrap_or(&path);
            file_findings(path, &text, &mut findings);
        }
    }
    dependency_findings(&manifest::crates(root)?, &mut findings);
    findings.extend(families::findings(root)?);
    cycle_findings(root, &mut findings).map_err(|error| error.to_string())?;
    example_findings(root, &mut findings).map_err(|error| error.to_string())?;
    findings.extend(name_findings(root).map_err(|error| error.to_string())?);
    findings.extend(word_findings(root).map_err(|error| error.to_string())?);
    Ok(findings)
}

/// Returns the directories of the libraries' crates.
fn crates(root: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(root.join(LIBRARIES))?.map(|entry| Ok(entry?.path())).collect()
}

/// Returns the names that several types of a crate, or public types of several crates, share.
fn name_findings(root: &Path) -> io::Result<Vec<String>> {
    let mut crates_names = BTreeMap::new();
    for directory in crates(root)? {
        let name = directory.file_name().unwrap_or_default().display().to_string();
        crates_names.insert(name, TypeNames::of(&source::of_crate(&directory)?));
    }
    let mut findings = Vec::new();
    for (name, names) in &crates_names {
        let finding = |one| format!("{name}: several types are called `{one}`");
        findings.extend(names.shared().into_iter().map(finding));
    }
    let finding = |one| format!("several crates have a public type `{one}`");
    findings.extend(shared_public(&crates_names).into_iter().map(finding));
    Ok(findings)
}

/// Returns the faults of words of all doc comments and pages.
fn word_findings(root: &Path) -> io::Result<Vec<String>> {
    let (mut sources, mut pages) = (Vec::new(), Vec::new());
    for directory in SOURCES {
        source::collect(&root.join(directory), &["rs"], &mut sources)?;
        source::collect(&root.join(directory), &["md"], &mut pages)?;
    }
    source::collect(&root.join("docs"), &["md"], &mut pages)?;
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        pages.extend(path.extension().is_some_and(|kind| kind == "md").then_some(path.clone()));
    }
    let of_tests = |path: &PathBuf| {
        source::is_test(path) || path.iter().any(|part| part == "benches" || part == "fixtures")
    };
    sources.retain(|path| path.iter().any(|part| part == "src") && !of_tests(path));
    pages.retain(|path| !of_tests(path));
    let mut findings = Vec::new();
    for (paths, check) in
        [(sources, words::of_source as fn(&str) -> _), (pages, words::of_page as fn(&str) -> _)]
    {
        for path in paths {
            let text = fs::read_to_string(&path)?;
            let path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            let faults: Vec<(usize, String)> = check(&text);
            findings
                .extend(faults.into_iter().map(|(line, what)| format!("{path}:{line}: {what}")));
        }
    }
    Ok(findings)
}

/// Returns the lines of [`CIRCLES`] that nothing needs.
fn slack(root: &Path) -> io::Result<Vec<String>> {
    let circles = circles(root)?;
    let unused = |line: &&str| !circles.iter().any(|(name, group)| is_within((name, group), line));
    let note = |line| format!("no circle needs `{line}` of xtask/circles.txt");
    Ok(allowed_circles().filter(unused).map(note).collect())
}

/// Files of libraries that import each other, except groups within those of [`CIRCLES`].
fn cycle_findings(root: &Path, findings: &mut Vec<String>) -> io::Result<()> {
    for (name, group) in circles(root)? {
        if !allowed_circles().any(|line| is_within((&name, &group), line)) {
            findings.push(format!("{name}: files import each other: {group}"));
        }
    }
    Ok(())
}

/// Returns each group of files that import each other, with the name of its crate.
fn circles(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for directory in crates(root)? {
        let name = directory.file_name().unwrap_or_default().display().to_string();
        let groups = cycles(&source::of_crate(&directory)?);
        found.extend(groups.into_iter().map(|group| (name.clone(), group)));
    }
    Ok(found)
}

/// Returns the lines of [`CIRCLES`].
fn allowed_circles() -> impl Iterator<Item = &'static str> {
    CIRCLES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns whether a line of [`CIRCLES`] allows the group of a crate.
fn is_within((name, group): (&str, &str), line: &str) -> bool {
    let Some((of, files)) = line.split_once(": ") else { return false };
    of == name && group.split(' ').all(|file| files.split(' ').any(|known| known == file))
}

/// Public types of crates with a README that no example names; see [`examples`].
fn example_findings(root: &Path, findings: &mut Vec<String>) -> io::Result<()> {
    for directory in crates(root)?.iter().filter(|one| manifest::is_member(one)) {
        let Ok(readme) = fs::read_to_string(directory.join("README.md")) else { continue };
        let name = directory.file_name().unwrap_or_default().display();
        let missing = examples::missing(&source::of_crate(directory)?, &readme);
        let finding = |one| format!("{name}: `{one}` is in no example, and linked from none");
        findings.extend(missing.iter().map(finding));
    }
    Ok(())
}

fn file_findings(path: &Path, text: &str, findings: &mut Vec<String>) {
    let mut find = |line: usize, what: &str| {
        findings.push(format!("{}:{line}: {what}", path.display()));
    };
    let code = path.extension().is_some_and(|kind| kind == "rs");
    if code && !text.starts_with("//!") {
        find(1, "expected `//!` and what the file is about");
    }
    let mut parts = path.components().map(|part| part.as_os_str());
    let library = code
        && parts.next().is_some_and(|part| part == LIBRARIES)
        && parts.nth(1).is_some_and(|part| part == "src")
        && !source::is_test(path);
    let checks = CHECKERS.iter().any(|name| path.starts_with(Path::new("crates").join(name)));
    let says = library && !checks && path.ends_with("src/lib.rs");
    if says && !text.contains(NO_PANICS) {
        find(1, &format!("expected `{NO_PANICS}`"));
    }
    let generated = text.starts_with(families::GENERATED);
    if library && !generated && text.lines().count() > LONGEST_FILE {
        find(1, &format!("expected at most {LONGEST_FILE} lines"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.ends_with([' ', '\t']) {
            find(number, "trailing whitespace");
        }
        let limit = line
            .split_once("const MAX_")
            .is_some_and(|(before, _)| before.is_empty() || before.starts_with("pub"));
        if limit && library && !checks && !path.ends_with("limits.rs") {
            find(number, "a limit: expected in the crate's `limits.rs`");
        }
        for leftover in LEFTOVERS.iter().filter(|leftover| library && line.contains(**leftover)) {
            find(number, &format!("`{leftover}` is left"));
        }
    }
}

fn dependency_findings(crates: &[Manifest], findings: &mut Vec<String>) {
    for one in crates {
        let name = &one.name;
        let Some(layer) = layer(one) else {
            findings.push(format!("{name}: expected a layer in xtask/src/tidy.rs"));
            continue;
        };
        for Dependency { name: needs, table } in &one.dependencies {
            let Some(other) = crates.iter().find(|other| other.name == *needs) else { continue };
            if LAWS.contains(&needs.as_str()) {
                if *table == Table::Normal && one.publish == Publish::Yes {
                    findings.push(format!("{name}: {needs} is for dev-dependencies"));
                }
            } else if self::layer(other).is_some_and(|below| below >= layer) {
                findings.push(format!("{name}: must not depend on {needs}, no lower layer"));
            }
        }
    }
}

fn layer(one: &Manifest) -> Option<usize> {
    let listed = LAYERS.iter().position(|names| names.contains(&one.name.as_str()));
    match (one.name.as_str(), one.publish) {
        ("stream-laws", _) => Some(0),
        (_, Publish::Yes) => listed,
        (_, Publish::No) => listed.or(Some(TOP)),
    }
}

#[cfg(test)]
mod tests;
