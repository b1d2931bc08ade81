//! Checks of READMEs: each library's has its dependency line and lists its features, links lead to
//! pages and headings, and special terms are linked to what defines them.

use std::{fs, path::Path};

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

/// Terms of this project that a new reader does not know.
const TERMS: [&str; 5] = ["jail", "opener", "closer", "cursor", "END"];

/// Returns the targets of all links of a page that lead to a file, with their headings.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|part| part.split(')').next());
    targets.filter(|target| !target.is_empty() && !target.contains(':'))
}

/// Returns whether a page has a heading with this anchor.
fn has_heading(page: &str, anchor: &str) -> bool {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|line| line.trim_start_matches('#').trim().to_lowercase()).any(|heading| {
        let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
        kept.map(|it| if it == ' ' { '-' } else { it }).eq(anchor.chars())
    })
}

/// Returns the links of `text`, a page in `directory`, that lead nowhere.
fn broken<'t>(directory: &Path, text: &'t str) -> Vec<&'t str> {
    let leads = |link: &str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = directory.join(file);
        let headed = |page: String| has_heading(&page, anchor);
        path.exists() && (anchor.is_empty() || fs::read_to_string(path).is_ok_and(headed))
    };
    links(text).filter(|link| !leads(link)).collect()
}

/// Returns the special terms in prose whose first use is not a link.
fn undefined(text: &str) -> Vec<&'static str> {
    let prose: String = text.split('`').step_by(2).collect();
    let word = |it: char| !it.is_alphanumeric() && it != '-';
    let first = |term: &&str| {
        let mut uses = prose.match_indices(*term).filter(|(at, _)| {
            !prose[..*at].ends_with(|it| !word(it))
                && !prose[at + term.len()..].starts_with(|it| !word(it))
        });
        uses.next().is_some_and(|(at, _)| !prose[at + term.len()..].starts_with("]("))
    };
    TERMS.into_iter().filter(first).collect()
}

/// Returns the rows of the table under a heading that have no link.
fn unlinked<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let section = text.split_once(heading).map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.filter(|row| !row.contains("](")).collect()
}

#[test]
fn links_of_every_readme_lead_to_pages_and_headings() {
    let root = crate::root();
    let crates = manifest::crates(&root).unwrap();
    let directories = crates.iter().map(|one| root.join("crates").join(&one.name));
    for directory in directories.chain([root.clone()]) {
        let Ok(readme) = fs::read_to_string(directory.join("README.md")) else { continue };
        assert_eq!(broken(&directory, &readme), [""; 0], "{}", directory.display());
    }
}

#[test]
fn first_page_links_symptoms_and_special_terms() {
    let readme = fs::read_to_string(crate::root().join("README.md")).unwrap();
    let symptoms = "\n## You came here because\n";
    assert!(
        readme.contains(symptoms) && readme.contains("\n![") && readme.contains("cargo install")
    );
    assert_eq!(unlinked(&readme, symptoms), [""; 0]);
    assert_eq!(undefined(&readme), [""; 0]);
}

#[test]
fn broken_links_undefined_terms_and_unlinked_rows_are_found() {
    let root = crate::root();
    let page = "[a](README.md#the-guarantee) [b](README.md#none) [c](none.md) [d](docs)";
    assert_eq!(broken(&root, page), ["README.md#none", "none.md"]);
    assert_eq!(
        undefined("`jail-match`, a [jail](a.md), a jail, the opener, the END"),
        ["opener", "END"]
    );
    let table = "\n## A\n\n| a |\n|---|\n| [b](b.md) |\n| c |\n\n## B\n\n| d |\n|---|\n| e |\n";
    assert_eq!(unlinked(table, "\n## A\n"), ["| c |"]);
}
