//! `cargo xtask size`: how much code there is, and how long the files are.

use std::{fs, path::Path};

use crate::{source, tidy::LONGEST_FILE};

/// Prints a line a crate, and its files that are too long.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let fail = |error: std::io::Error| error.to_string();
    let mut directories = vec![root.join("xtask")];
    for entry in fs::read_dir(root.join("crates")).map_err(fail)? {
        directories.push(entry.map_err(fail)?.path());
    }
    directories.sort();
    println!("{:>7} {:>6} {:>7}  crate", "code", "files", "median");
    let mut total = 0;
    for directory in directories {
        let sources = source::of_crate(&directory).map_err(fail)?;
        let mut lengths: Vec<usize> =
            sources.iter().map(|source| source.text.lines().count()).collect();
        lengths.sort_unstable();
        let code: usize = sources.iter().map(|source| source.code().count()).sum();
        total += code;
        let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
        let name = directory.file_name().unwrap_or_default().display();
        println!("{code:>7} {:>6} {median:>7}  {name}", lengths.len());
        for source in sources {
            let lines = source.text.lines().count();
            if lines > LONGEST_FILE {
                println!("{:>24}{lines} lines: {}", "", source.path.display());
            }
        }
    }
    println!("{total:>7} in all");
    Ok(())
}
