//! `cargo xtask fuzz`: runs targets of `fuzz/Cargo.toml` for some time, from seeds of the families.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{
    manifest::Manifest,
    process::{Invocation, required},
};

/// The program that runs as `cargo fuzz`.
pub(crate) const TOOL: &str = "cargo-fuzz";

/// The program that reads and writes inputs.
const INPUTS: &str = "cargo run -q -p guard-fuzz --bin fuzz-input --";

/// The maximum length of an input in bytes. Each byte selects up to a dozen bytes of text.
const LONGEST: usize = 1024;

/// The time for each target, and the number of parallel jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) seconds: u64,
    pub(crate) jobs: u32,
}

/// Runs `target`, or every target.
///
/// # Errors
/// Returns the failures that targets found, each reduced and described.
pub(crate) fn run(root: &Path, effort: Effort, target: Option<&str>) -> Result<(), String> {
    let chosen = chosen(targets(root)?, target)?;
    required(TOOL)?;
    let mut found = Vec::new();
    for target in &chosen {
        if !root.join("fuzz/dict").join(format!("{target}.dict")).is_file() {
            seed(root, Some(target))?;
        }
        let began = SystemTime::now();
        if let Err(failure) = invocation(target, effort).run(root) {
            let finding =
                finding(&root.join("fuzz/artifacts").join(target), began).ok_or(failure)?;
            Invocation::new(&format!("{INPUTS} show {target} {}", finding.display())).run(root)?;
            found.push(target.as_str());
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("findings of {}", found.join(", "))) }
}

/// Writes the inputs and the words that campaigns begin with.
///
/// # Errors
/// Returns the error of the program that writes them.
pub(crate) fn seed(root: &Path, target: Option<&str>) -> Result<(), String> {
    let chosen = chosen(targets(root)?, target)?;
    Invocation::new(&format!("{INPUTS} seed fuzz {}", chosen.join(" "))).run(root)
}

/// Returns the newest input that a run wrote.
fn finding(directory: &Path, since: SystemTime) -> Option<PathBuf> {
    let files = fs::read_dir(directory).ok()?.filter_map(|entry| {
        let path = entry.ok()?.path();
        let written = path.metadata().ok()?.modified().ok()?;
        (written >= since && path.extension().is_none()).then_some((written, path))
    });
    files.max().map(|(_, path)| path)
}

/// Returns the names of all targets.
///
/// # Errors
/// Returns an error if no target exists.
pub(crate) fn targets(root: &Path) -> Result<Vec<String>, String> {
    let path = root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let bins = Manifest::parse(&text).bins;
    if bins.is_empty() {
        return Err("fuzz/Cargo.toml lists no targets".to_owned());
    }
    Ok(bins)
}

fn chosen(all: Vec<String>, target: Option<&str>) -> Result<Vec<String>, String> {
    match target {
        None | Some("all") => Ok(all),
        Some(name) if all.iter().any(|one| one == name) => Ok(vec![name.to_owned()]),
        Some(name) => Err(format!("no fuzz target {name:?}; there are {}", all.join(", "))),
    }
}

/// Returns the command for a target. Sanitizers are off, because all code is safe. A stable
/// compiler is then sufficient.
fn invocation(target: &str, Effort { seconds, jobs }: Effort) -> Invocation {
    let mut line = format!("cargo fuzz run -s none {target} -- -max_total_time={seconds}");
    line +=
        &format!(" -max_len={LONGEST} -len_control=20 -timeout=20 -dict=fuzz/dict/{target}.dict");
    if jobs > 1 {
        line += &format!(" -jobs={jobs} -workers={jobs}");
    }
    Invocation::new(&line)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::SystemTime};

    use super::{Effort, chosen, finding, invocation};

    #[test]
    fn one_fuzz_target_or_all_are_chosen() {
        let all = || vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(chosen(all(), None), Ok(all()));
        assert_eq!(chosen(all(), Some("all")), Ok(all()));
        assert_eq!(chosen(all(), Some("b")), Ok(vec!["b".to_owned()]));
        let error = chosen(all(), Some("c")).unwrap_err();
        assert_eq!(error, "no fuzz target \"c\"; there are a, b");
    }

    #[test]
    fn fuzz_target_runs_for_the_given_time() {
        let line = |jobs| invocation("a", Effort { seconds: 5, jobs }).to_string();
        let one = line(1);
        assert!(one.starts_with("cargo fuzz run -s none a -- -max_total_time=5 "), "{one}");
        assert!(one.ends_with(" -dict=fuzz/dict/a.dict"), "{one}");
        assert_eq!(line(2), format!("{one} -jobs=2 -workers=2"));
    }

    #[test]
    fn newest_fuzz_finding_is_printed() {
        let directory = std::env::temp_dir().join(format!("xtask-fuzz-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("crash-1"), "x").unwrap();
        fs::write(directory.join("crash-1.small"), "x").unwrap();
        let found = finding(&directory, SystemTime::UNIX_EPOCH);
        let later = finding(&directory, SystemTime::now() + std::time::Duration::from_secs(9));
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found, Some(directory.join("crash-1")));
        assert_eq!(later, None);
    }
}
