//! The table of artefacts, and everything that failed.

use std::{fs, path::Path};

use sha2::{Digest as _, Sha256};

use super::Dist;
use crate::disk::files;

/// The file of checksums.
const SUMS: &str = "SHA256SUMS";

/// The results of a run.
#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<String>,
    notes: Vec<String>,
    failures: Vec<String>,
}

impl Report {
    /// Adds an artefact that was used: where it was installed, and the first line of use.
    pub(super) fn row(&mut self, artefact: &Path, place: &str, line: &str) -> Result<(), String> {
        let fault = |error| format!("{}: {error}", artefact.display());
        let bytes = fs::metadata(artefact).map_err(fault)?.len();
        let name = artefact.file_name().unwrap_or_default().display().to_string();
        self.rows.push(format!("| `{name}` | {} | {place} | {line} |", size(bytes)));
        Ok(())
    }

    /// Adds a remark on what could not be made as wanted.
    pub(super) fn note(&mut self, note: &str) {
        println!("note: {note}");
        self.notes.push(note.to_owned());
    }

    /// Keeps the failure of a check.
    pub(super) fn check(&mut self, what: &str, result: Result<(), String>) {
        if let Err(error) = result {
            eprintln!("{what}: {error}");
            self.failures.push(format!("{what}: {error}"));
        }
    }

    /// Prints the table and the notes.
    ///
    /// # Errors
    /// Returns all failures.
    pub(super) fn end(self) -> Result<(), String> {
        println!("\n| artefact | size | installed in | first line of use |\n|---|---|---|---|");
        self.rows.iter().for_each(|row| println!("{row}"));
        self.notes.iter().for_each(|note| println!("\nnote: {note}"));
        match &self.failures[..] {
            [] => Ok(()),
            all => Err(format!("{} failures:\n{}", all.len(), all.join("\n"))),
        }
    }
}

/// Writes the checksums of all artefacts, in the form that `sha256sum --check` reads.
///
/// # Errors
/// Returns an error if a file cannot be read, or if there is none.
pub(super) fn checksums(dist: &Dist, report: &mut Report) -> Result<(), String> {
    let mut sums = String::new();
    for path in files(&dist.place)? {
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or_default().display();
        sums += &format!("{}  {name}\n", hex(&Sha256::digest(&bytes)));
    }
    if sums.is_empty() {
        return Err("nothing was made".to_owned());
    }
    let path = dist.place.join(SUMS);
    fs::write(&path, sums).map_err(|error| format!("{}: {error}", path.display()))?;
    if crate::process::installed("sha256sum") {
        crate::process::Invocation::new(&format!("sha256sum --check --quiet {SUMS}"))
            .output(&dist.place)?;
    }
    report.row(&path, "the directory of the files", "`sha256sum --check SHA256SUMS`")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a size in the unit that readers compare: kB below one MB, MB otherwise.
fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", (bytes + 500) / 1000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, hex, size};

    #[test]
    fn sizes_are_printed_in_decimal_units() {
        assert_eq!([999, 1501, 9_349_999].map(size), ["999 B", "2 kB", "9.3 MB"]);
    }

    #[test]
    fn bytes_are_written_as_two_digits_each() {
        assert_eq!(hex(&[0, 255, 16]), "00ff10");
    }

    #[test]
    fn all_failures_are_reported() {
        let mut report = Report::default();
        for part in ["wheel", "npm"] {
            report.check(part, Err("no".to_owned()));
        }
        report.check("sbom", Ok(()));
        assert_eq!(report.end().unwrap_err(), "2 failures:\nwheel: no\nnpm: no");
    }
}
