//! `cargo xtask ci`: everything a change must pass, in the order of what fails fastest.

use std::{path::Path, time::Instant};

use crate::{
    flags::Scope,
    fuzz,
    manifest::{self, Manifest, Publish},
    process::{Invocation, installed},
    tidy,
};

/// Long enough to notice a target that does not start, too short to find much.
const SMOKE: fuzz::Effort = fuzz::Effort { seconds: 10, jobs: 1 };

/// The oldest compiler the libraries promise to build with.
const OLDEST_RUST: &str = "1.88";

enum Step {
    Tidy,
    Run(Invocation),
    Fuzz,
    Skip { what: &'static str, why: String },
}

/// Runs every step and stops at the first that fails.
pub(crate) fn run(root: &Path, scope: Scope) -> Result<(), String> {
    let mut summary = Vec::new();
    let mut failure = None;
    for step in steps(root, scope)? {
        let name = step.name();
        println!("\n=== {name}");
        let start = Instant::now();
        let result = step.run(root);
        let seconds = start.elapsed().as_secs_f32();
        let (mark, stop) = match (&step, &result) {
            (Step::Skip { .. }, _) => ("skipped", false),
            (_, Ok(())) => ("passed", false),
            (_, Err(_)) => ("FAILED", true),
        };
        summary.push(format!("{mark:>8} {seconds:>6.1}s  {name}"));
        if stop {
            failure = result.err();
            break;
        }
    }
    println!("\n{}", summary.join("\n"));
    failure.map_or(Ok(()), Err)
}

/// All with the same features: whatever one step compiled, the next finds.
fn steps(root: &Path, scope: Scope) -> Result<Vec<Step>, String> {
    let docs = |extra: &str| {
        let line = format!("cargo doc --workspace --no-deps --all-features{extra}");
        Step::Run(Invocation::new(&line).env("RUSTDOCFLAGS", "-D warnings"))
    };
    let mut steps = vec![
        Step::Tidy,
        Step::cargo("fmt --all --check"),
        Step::cargo("clippy --workspace --all-targets --all-features -- -D warnings"),
        // The very command the README gives.
        Step::cargo("test --workspace --all-features"),
    ];
    match scope {
        Scope::Change => steps.push(docs("")),
        Scope::Full => {
            let crates = manifest::crates(root)?;
            steps.extend([docs(""), docs(" --document-private-items")]);
            steps.extend(feature_checks(&crates).iter().map(|line| Step::cargo(line)));
            let line = "cargo test -p toolcall-parsers --all-features --test it small_scope";
            steps.push(Step::Run(Invocation::new(line).env("SMALL_SCOPE", "4")));
            steps.push(Step::cargo("xtask e2e"));
            steps.extend(optional(root, &crates));
        }
    }
    Ok(steps)
}

/// Only that it compiles: the tests ran with all features.
fn feature_checks(crates: &[Manifest]) -> Vec<String> {
    crates
        .iter()
        .filter(|one| one.features && one.publish == Publish::Yes)
        .map(|one| format!("check -p {} --no-default-features", one.name))
        .collect()
}

/// Steps whose tools not everyone has.
fn optional(root: &Path, crates: &[Manifest]) -> Vec<Step> {
    let libraries = crates.iter().filter(|one| one.publish == Publish::Yes);
    let libraries: String = libraries.map(|one| format!(" -p {}", one.name)).collect();
    let has_toolchain = || {
        let mut list = std::process::Command::new("rustup");
        let list = list.args(["toolchain", "list"]).output();
        list.is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains(OLDEST_RUST))
    };
    let tool = |what, name: &str, line: &str| {
        if installed(name) {
            Step::cargo(line)
        } else {
            Step::Skip { what, why: format!("{name} is not installed") }
        }
    };
    vec![
        if has_toolchain() {
            let line = format!("rustup run {OLDEST_RUST} cargo check{libraries}");
            Step::Run(Invocation::new(&line))
        } else {
            let why = format!("the toolchain {OLDEST_RUST} is not installed");
            Step::Skip { what: "oldest compiler", why }
        },
        tool(
            "feature combinations",
            "cargo-hack",
            "hack check --workspace --each-feature --no-dev-deps",
        ),
        if root.join("deny.toml").is_file() {
            tool("licences and advisories", "cargo-deny", "deny check")
        } else {
            let why = "there is no deny.toml".to_owned();
            Step::Skip { what: "licences and advisories", why }
        },
        match fuzz::targets(root) {
            Err(why) => Step::Skip { what: "fuzz targets", why },
            Ok(_) if installed(fuzz::TOOL) => Step::Fuzz,
            Ok(_) => {
                Step::Skip { what: "fuzz targets", why: format!("{} is not installed", fuzz::TOOL) }
            }
        },
    ]
}

impl Step {
    fn cargo(line: &str) -> Self {
        Self::Run(Invocation::new(&format!("cargo {line}")))
    }

    fn name(&self) -> String {
        match self {
            Self::Tidy => "cargo xtask tidy".to_owned(),
            Self::Run(invocation) => invocation.to_string(),
            Self::Fuzz => format!("cargo xtask fuzz --seconds {}", SMOKE.seconds),
            Self::Skip { what, why } => format!("{what}: {why}"),
        }
    }

    fn run(&self, root: &Path) -> Result<(), String> {
        match self {
            Self::Tidy => tidy::run(root),
            Self::Run(invocation) => invocation.run(root),
            Self::Fuzz => fuzz::run(root, SMOKE, None),
            Self::Skip { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, Scope, feature_checks, steps};

    #[test]
    fn libraries_with_features_are_checked_without_them() {
        let crates = [
            Manifest::parse("[package]\nname = \"lib\"\n[features]\nstd = []"),
            Manifest::parse("[package]\nname = \"plain\""),
            Manifest::parse("[package]\nname = \"dev\"\npublish = false\n[features]\na = []"),
        ];
        assert_eq!(feature_checks(&crates), ["check -p lib --no-default-features"]);
    }

    #[test]
    fn the_test_command_of_the_readme_is_a_step() {
        let root = crate::root();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let line = "cargo test --workspace --all-features";
        assert!(readme.contains(line));
        assert!(steps(&root, Scope::Change).unwrap().iter().any(|step| step.name() == line));
    }
}
