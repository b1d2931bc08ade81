//! `cargo xtask size`: prints the amount of code, the longest files, and the figures of the house
//! rules.

use std::{collections::BTreeMap, fs, io, path::Path};

use crate::{
    ceilings::Ceilings,
    cycles::cycles,
    house::{self, Figures},
    source::{self, Source},
    tidy::LONGEST_FILE,
};

/// The parts of the core: a crate, and the directories of it that do not count.
const CORE: [(&str, &[&str]); 3] =
    [("jail-match", &["jail"]), ("think-filter", &[]), ("toolcall-parsers", &["encode"])];

/// The parts of the façade that belong to the core.
const CORE_OF_FACADE: [&str; 4] = ["guard", "guard.rs", "profile", "profile.rs"];

/// Prints a line for each crate, its files that are too long, and the table of figures.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let fail = |error: io::Error| error.to_string();
    let mut directories = vec![root.join("xtask")];
    for entry in fs::read_dir(root.join("crates")).map_err(fail)? {
        directories.push(entry.map_err(fail)?.path());
    }
    directories.sort();
    let mut crates = BTreeMap::new();
    println!("{:>7} {:>6} {:>7}  crate", "code", "files", "median");
    for directory in directories {
        let sources = source::of_crate(&directory).map_err(fail)?;
        let mut lengths: Vec<usize> =
            sources.iter().map(|source| source.text.lines().count()).collect();
        lengths.sort_unstable();
        let code: usize = sources.iter().map(|source| source.code().count()).sum();
        let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
        let name = directory.file_name().unwrap_or_default().display().to_string();
        println!("{code:>7} {:>6} {median:>7}  {name}", lengths.len());
        for source in &sources {
            let lines = source.text.lines().count();
            if lines > LONGEST_FILE {
                println!("{:>24}{lines} lines: {}", "", source.path.display());
            }
        }
        if name != "xtask" {
            crates.insert(name, sources);
        }
    }
    println!("\n{:>7}  figure", "now");
    for (name, figure) in table(&crates) {
        println!("{figure:>7}  {name}");
    }
    println!("{:>7}  lines of test code", test_lines(root).map_err(fail)?);
    Ok(())
}

/// Returns the figures of the house, each with its name.
fn table(crates: &BTreeMap<String, Vec<Source>>) -> Vec<(String, usize)> {
    let figures: BTreeMap<String, Figures> =
        crates.iter().map(|(name, sources)| (name.clone(), Figures::of(sources))).collect();
    let sum = |count: fn(&Figures) -> usize| figures.values().map(count).sum::<usize>();
    let published = |name: &String| !["stream-laws", "guard-laws", "guard-fuzz"].contains(&&**name);
    let library = figures.iter().filter(|(name, _)| published(name));
    let public = library.map(|(_, figures)| figures.public_items).sum();
    let of = |name: &str| crates.get(name).map_or(&[][..], Vec::as_slice);
    let circles = crates.values().map(|sources| cycles(sources).len()).sum();
    let ceilings = Ceilings::read();
    let row = |name: &str, figure: usize| (name.to_owned(), figure);
    vec![
        row("lines of code without xtask", sum(|one| one.code)),
        row("lines of code of the core", core(crates)),
        row("public items of the libraries, the command and the proxy", public),
        row("setters of `GuardBuilder`", setters(of("llm-stream-guard"))),
        row("type names that several types of a crate share", sum(|one| one.shared_types().len())),
        row(
            "public type names that several crates share",
            house::shared_public_types(&figures).len(),
        ),
        row("functions with five or more parameters", sum(|one| one.wide_functions.len())),
        row("`#[expect]` attributes", sum(|one| one.expects)),
        row("fields of `Driver`", house::fields(of("jail-match"), "Driver").unwrap_or(0)),
        row("fields of `Machine`", house::fields(of("toolcall-parsers"), "Machine").unwrap_or(0)),
        row("circles of imports", circles),
        row("exemptions of words in xtask/ceilings.txt", ceilings.exempt().len()),
    ]
}

fn core(crates: &BTreeMap<String, Vec<Source>>) -> usize {
    let lines = |source: &&Source| source.code().count();
    let parts = CORE.iter().flat_map(|(name, without)| {
        let sources = crates.get(*name).into_iter().flatten();
        sources.filter(move |source| !without.iter().any(|part| source.path.starts_with(part)))
    });
    let facade = crates.get("llm-stream-guard").into_iter().flatten();
    let facade =
        facade.filter(|source| CORE_OF_FACADE.iter().any(|part| source.path.starts_with(part)));
    parts.chain(facade).map(|source| lines(&source)).sum()
}

/// Counts the setters of the guard's builder.
fn setters(sources: &[Source]) -> usize {
    let builders = sources.iter().filter(|one| {
        one.path.starts_with("guard/builder") || one.path.ends_with("guard/builder.rs")
    });
    builders
        .flat_map(Source::code)
        .filter(|line| {
            line.contains("pub fn ") && (line.contains("(self") || line.contains("(mut self"))
        })
        .count()
}

/// Counts the lines of tests and benchmarks that are code.
fn test_lines(root: &Path) -> io::Result<usize> {
    let mut files = Vec::new();
    source::collect(&root.join("crates"), &["rs"], &mut files)?;
    let tests = |part: &std::ffi::OsStr| part == "tests" || part == "tests.rs" || part == "benches";
    let mut lines = 0;
    for path in files.iter().filter(|path| path.iter().any(tests)) {
        let text = fs::read_to_string(path)?;
        let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        lines += text.lines().filter(code).count();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::{setters, table};
    use crate::source::Source;

    #[test]
    fn size_figures_are_counted_from_the_sources() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let driver = "pub struct Driver {\n    a: u8,\n    b: u8,\n}\nstruct Driver;\n";
        let builder = "impl GuardBuilder {\n    pub fn a(self) {}\n    pub fn build(&self) {}\n}\n";
        let crates = [
            ("jail-match".to_owned(), vec![source("driver.rs", driver)]),
            ("llm-stream-guard".to_owned(), vec![source("guard/builder.rs", builder)]),
        ];
        let rows = table(&crates.into());
        let figure = |name: &str| rows.iter().find(|(one, _)| one == name).unwrap().1;
        assert_eq!(figure("fields of `Driver`"), 2);
        assert_eq!(figure("setters of `GuardBuilder`"), 1);
        assert_eq!(figure("type names that several types of a crate share"), 1);
        assert_eq!(figure("lines of code of the core"), 9);
        assert_eq!(setters(&[]), 0);
    }
}
