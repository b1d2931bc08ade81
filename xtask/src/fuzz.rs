//! `cargo xtask fuzz`: each target of `fuzz/Cargo.toml` for a while.

use std::{fs, path::Path};

use crate::{
    manifest::Manifest,
    process::{Invocation, installed},
};

/// The program behind `cargo fuzz`.
pub(crate) const TOOL: &str = "cargo-fuzz";

/// Runs `target`, or every target, for `seconds` each.
pub(crate) fn run(root: &Path, seconds: u64, target: Option<&str>) -> Result<(), String> {
    let all = targets(root)?;
    let chosen = chosen(all, target)?;
    if !installed(TOOL) {
        return Err(format!("{TOOL} is not installed; get it with `cargo install {TOOL}`"));
    }
    chosen.iter().try_for_each(|target| invocation(target, seconds).run(root))
}

/// The names of all targets.
///
/// # Errors
/// There are none.
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
        None => Ok(all),
        Some(name) if all.iter().any(|one| one == name) => Ok(vec![name.to_owned()]),
        Some(name) => Err(format!("no fuzz target {name:?}; there are {}", all.join(", "))),
    }
}

/// Without sanitizers: all code is safe, and so a stable compiler will do.
fn invocation(target: &str, seconds: u64) -> Invocation {
    let line = format!("cargo fuzz run -s none {target} -- -max_total_time={seconds}");
    Invocation::new(&line)
}

#[cfg(test)]
mod tests {
    use super::{chosen, invocation};

    #[test]
    fn one_target_or_all_are_chosen() {
        let all = || vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(chosen(all(), None), Ok(all()));
        assert_eq!(chosen(all(), Some("b")), Ok(vec!["b".to_owned()]));
        let error = chosen(all(), Some("c")).unwrap_err();
        assert_eq!(error, "no fuzz target \"c\"; there are a, b");
    }

    #[test]
    fn a_target_runs_for_the_time_given() {
        assert_eq!(invocation("a", 5).to_string(), "cargo fuzz run -s none a -- -max_total_time=5");
    }
}
