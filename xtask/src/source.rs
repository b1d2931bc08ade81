//! The source files of the crates, with their contents and the modules that they import.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// A source file below `src`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// The path, relative to `src`.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Adds the files below `directory` that end in one of `kinds`, except build output and fetched
/// packages.
pub(crate) fn collect(
    directory: &Path,
    kinds: &[&str],
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    if !directory.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if name != "target" && name != "node_modules" {
                collect(&path, kinds, files)?;
            }
        } else if path.extension().is_some_and(|kind| kinds.iter().any(|one| kind == *one)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

/// Returns the sources of the crate in `directory`, without its tests.
pub(crate) fn of_crate(directory: &Path) -> io::Result<Vec<Source>> {
    let (root, mut paths) = (directory.join("src"), Vec::new());
    collect(&root, &["rs"], &mut paths)?;
    let mut sources = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        let path = path.strip_prefix(&root).unwrap_or(&path).to_owned();
        sources.push(Source { path, text });
    }
    sources.retain(|one| !is_test(&one.path));
    Ok(sources)
}

/// Returns whether a source file holds tests, by its name or a directory's.
pub(crate) fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "tests.rs")
}

impl Source {
    /// Returns the lines that are code: no blanks, no comments, no test modules.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        let (mut testing, mut skipping) = (false, false);
        self.text.lines().filter(move |line| {
            if skipping {
                skipping = *line != "}";
                return false;
            }
            if std::mem::take(&mut testing) && line.starts_with("mod ") {
                skipping = line.ends_with('{');
                return false;
            }
            testing = *line == "#[cfg(test)]";
            let line = line.trim_start();
            !testing && !line.is_empty() && !line.starts_with("//")
        })
    }

    /// Returns the module below the crate's root that contains the file, or none for the root
    /// itself.
    pub(crate) fn module(&self) -> Option<&str> {
        let first = self.path.iter().next()?.to_str()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        (!matches!(name, "lib" | "main")).then_some(name)
    }

    /// Returns the names that the file takes from the crate's root, modules among them.
    pub(crate) fn imports(&self) -> BTreeSet<String> {
        let code: String = self.code().map(|line| line.trim_start().to_owned() + "\n").collect();
        let mut names = BTreeSet::new();
        let nested = self.path.iter().count() - usize::from(self.path.ends_with("mod.rs"));
        let root = "super::".repeat(nested);
        for start in ["crate::", root.as_str()] {
            for (at, _) in code.match_indices(start) {
                let before = code[..at].chars().next_back();
                if !before.is_some_and(|c| c == ':' || c == '_' || c.is_alphanumeric()) {
                    heads(&code[at + start.len()..], &mut names);
                }
            }
        }
        names
    }
}

/// Returns the first segments of the paths at the start of `text`: one, or several in braces.
fn heads(text: &str, names: &mut BTreeSet<String>) {
    let ident = |text: &str| -> String {
        text.chars().take_while(|c| *c == '_' || c.is_alphanumeric()).collect()
    };
    let Some(group) = text.strip_prefix('{') else {
        names.insert(ident(text));
        return;
    };
    let (mut depth, mut fresh) = (0, true);
    for (at, c) in group.char_indices() {
        match c {
            '}' if depth == 0 => return,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if fresh && !c.is_whitespace() => {
                names.insert(ident(&group[at..]));
                fresh = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn comments_blanks_and_tests_do_not_count_as_code() {
        let text = "//! A.\nuse b;\n\n    // c\nfn d() {}\n#[cfg(test)]\nmod tests {\n    x\n}\nfn e() {}\n";
        let code = source("a.rs", text);
        assert_eq!(code.code().collect::<Vec<_>>(), ["use b;", "fn d() {}", "fn e() {}"]);
    }

    #[test]
    fn imports_are_found_in_every_spelling() {
        let text = "use crate::{\n    a::{b, c},\n    d,\n};\n// crate::no\nuse super::e::f;\nfn g() { crate::h::i() }\nuse other_crate::j;\n";
        let names = |path: &str| source(path, text).imports().into_iter().collect::<Vec<_>>();
        assert_eq!(names("m.rs"), ["a", "d", "e", "h"]);
        assert_eq!(names("m/mod.rs"), ["a", "d", "e", "h"]);
        assert_eq!(names("m/n.rs"), ["a", "d", "h"]);
        assert_eq!(source("m/n.rs", text).module(), Some("m"));
        assert_eq!(source("lib.rs", text).module(), None);
    }
}
