//! The source files of the crates, with their contents.

use std::{
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
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn comments_blanks_and_tests_do_not_count_as_code() {
        let text = "//! A.\nuse b;\n\n    // c\nfn d() {}\n#[cfg(test)]\nmod tests {\n    x\n}\nfn e() {}\n";
        let code = Source { path: "a.rs".into(), text: text.into() };
        assert_eq!(code.code().collect::<Vec<_>>(), ["use b;", "fn d() {}", "fn e() {}"]);
    }
}
