//! Directories and their files.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the files of a directory, sorted.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    let entries = fs::read_dir(directory).map_err(fault)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(fault)?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// Makes an empty directory.
pub(crate) fn emptied(directory: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(fault)?;
    }
    fs::create_dir_all(directory).map_err(fault)
}

/// Copies a file, into a directory that may be new.
pub(crate) fn copied(from: &Path, to: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", from.display());
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).map_err(fault)?;
    }
    fs::copy(from, to).map(drop).map_err(fault)
}
