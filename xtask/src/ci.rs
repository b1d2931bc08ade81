//! `cargo xtask ci`: all checks that a change must pass. The fastest come first.

use std::{path::Path, thread, time::Instant};

use crate::{
    flags::Scope,
    fuzz,
    manifest::{self, Manifest, Publish},
    process::{Invocation, installed},
    tidy,
};

/// The effort for each fuzz target: enough to notice a target that does not start.
const SMOKE: fuzz::Effort = fuzz::Effort { seconds: 10, jobs: 1 };

/// The oldest compiler that can build the libraries.
const OLDEST_RUST: &str = "1.88";

enum Step {
    Tidy,
    Run(Invocation),
    /// The first, and all others one after the other beside it.
    Beside(Invocation, Vec<Invocation>),
    Fuzz,
    Skip {
        what: &'static str,
        why: String,
    },
}

/// The result of a step.
struct Outcome {
    name: String,
    seconds: f32,
    result: Result<(), String>,
}

/// Runs every step and stops at the first that fails.
pub(crate) fn run(root: &Path, scope: Scope) -> Result<(), String> {
    let mut summary = Vec::new();
    let mut failure = None;
    for step in steps(root, scope)? {
        println!("\n=== {}", step.name());
        let skipped = matches!(step, Step::Skip { .. });
        for Outcome { name, seconds, result } in step.run(root) {
            let mark = match &result {
                _ if skipped => "skipped",
                Ok(()) => "passed",
                Err(_) => "FAILED",
            };
            summary.push(format!("{mark:>8} {seconds:>6.1}s  {name}"));
            failure = failure.or(result.err());
        }
        if failure.is_some() {
            break;
        }
    }
    println!("\n{}", summary.join("\n"));
    failure.map_or(Ok(()), Err)
}

/// Returns steps with the same features, so that each step reuses the crates compiled before.
fn steps(root: &Path, scope: Scope) -> Result<Vec<Step>, String> {
    let docs =
        |extra: &str| documented(&format!("doc --workspace --no-deps --all-features{extra}"));
    // Lints use the build directory of the tests, so that common crates are compiled once. They run
    // on the cores that are idle while the tests run.
    let clippy = "cargo clippy --workspace --all-targets --all-features -- -D warnings";
    let mut lints = vec![Invocation::new(clippy), docs("")];
    if scope == Scope::Full {
        lints.push(docs(" --document-private-items"));
    }
    // The command as in the README.
    let tests = Invocation::new("cargo test --workspace --all-features");
    let mut steps = vec![Step::Tidy, Step::cargo("fmt --all --check"), Step::Beside(tests, lints)];
    match scope {
        Scope::Change => {
            steps.extend(["xtask js --check", "xtask python --check"].map(Step::cargo));
        }
        Scope::Full => {
            let crates = manifest::crates(root)?;
            steps.extend(feature_checks(&crates).iter().map(|line| Step::cargo(line)));
            let docs = |line: &String| Step::Run(documented(line));
            steps.extend(feature_docs(&crates).iter().map(docs));
            let line = "cargo test -p toolcall-parsers --all-features --test it small_scope";
            steps.push(Step::Run(Invocation::new(line).env("SMALL_SCOPE", "5")));
            // This takes a minute, so it is not among the checks of each change.
            steps.push(Step::cargo(
                "test -p llm-stream-guard --all-features --test it mebibyte -- --ignored",
            ));
            steps.extend(
                ["page", "e2e", "js", "python", "templates", "grammars", "bench"]
                    .map(|task| Step::cargo(&format!("xtask {task}"))),
            );
            steps.extend(optional(root, &crates));
        }
    }
    Ok(steps)
}

/// Returns a command that builds documentation, and fails at a warning.
fn documented(line: &str) -> Invocation {
    Invocation::new(&format!("cargo {line}")).env("RUSTDOCFLAGS", "-D warnings")
}

/// Returns commands that document the crates with their default features, and with none.
fn feature_docs(crates: &[Manifest]) -> Vec<String> {
    let with_features = crates.iter().filter(|one| one.features && one.publish == Publish::Yes);
    with_features
        .flat_map(|one| {
            ["", " --no-default-features"]
                .map(|features| format!("doc -p {} --no-deps{features}", one.name))
        })
        .collect()
}

/// Returns steps that compile the crates under other features. The tests ran with all features.
fn feature_checks(crates: &[Manifest]) -> Vec<String> {
    crates
        .iter()
        .filter(|one| one.features && one.publish == Publish::Yes)
        .map(|one| format!("check -p {} --no-default-features", one.name))
        .collect()
}

/// Returns the steps that need tools which may be missing.
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
        tool("instructions", "valgrind", "xtask bench --gate"),
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
            Self::Beside(first, others) => {
                let others: Vec<_> = others.iter().map(Invocation::to_string).collect();
                format!("{first}\nbeside it {}", others.join(", then "))
            }
            Self::Fuzz => format!("cargo xtask fuzz --seconds {}", SMOKE.seconds),
            Self::Skip { what, why } => format!("{what}: {why}"),
        }
    }

    fn run(&self, root: &Path) -> Vec<Outcome> {
        match self {
            Self::Beside(first, others) => thread::scope(|scope| {
                let beside = scope.spawn(|| {
                    let of = |one: &Invocation| Outcome::of(one.to_string(), || one.quietly(root));
                    others.iter().map(of).collect::<Vec<_>>()
                });
                let first = Outcome::of(first.to_string(), || first.run(root));
                let beside = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                [first].into_iter().chain(beside).collect()
            }),
            one => {
                let result = || match one {
                    Self::Tidy => tidy::run(root),
                    Self::Run(invocation) => invocation.run(root),
                    Self::Fuzz => fuzz::run(root, SMOKE, None),
                    Self::Beside(..) | Self::Skip { .. } => Ok(()),
                };
                vec![Outcome::of(one.name(), result)]
            }
        }
    }
}

impl Outcome {
    fn of(name: String, run: impl FnOnce() -> Result<(), String>) -> Self {
        let start = Instant::now();
        let result = run();
        Self { name, seconds: start.elapsed().as_secs_f32(), result }
    }
}

#[cfg(test)]
mod tests {
    use super::{Invocation, Manifest, Scope, Step, feature_checks, steps};

    #[test]
    fn libraries_with_features_are_checked_without_default_features() {
        let crates = [
            Manifest::parse("[package]\nname = \"lib\"\n[features]\nstd = []"),
            Manifest::parse("[package]\nname = \"plain\""),
            Manifest::parse("[package]\nname = \"dev\"\npublish = false\n[features]\na = []"),
        ];
        assert_eq!(feature_checks(&crates), ["check -p lib --no-default-features"]);
    }

    #[test]
    fn parallel_step_fails_with_its_output() {
        let step = Step::Beside(Invocation::new("true"), vec![Invocation::new("cargo --no-such")]);
        let failed: Vec<_> = step.run(&crate::root()).into_iter().map(|one| one.result).collect();
        assert_eq!(failed[0], Ok(()));
        assert!(failed[1].as_ref().is_err_and(|text| text.contains("no-such")), "{failed:?}");
    }

    #[test]
    fn test_command_of_the_readme_is_a_step() {
        let root = crate::root();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let line = "cargo test --workspace --all-features";
        assert!(readme.contains(line));
        assert!(
            steps(&root, Scope::Change)
                .unwrap()
                .iter()
                .any(|step| matches!(step, Step::Beside(first, _) if first.to_string() == line))
        );
    }
}
