//! `cargo xtask ci`: all checks that a change must pass. The fastest come first.

use std::{path::Path, thread, time::Instant};

use crate::{
    flags::{Job, Scope},
    fuzz,
    manifest::{self, Manifest, Publish},
    process::{Invocation, installed},
    tidy,
};

/// The effort for each fuzz target: enough to notice a target that does not start.
const SMOKE: fuzz::Effort = fuzz::Effort { seconds: 10, jobs: 1 };

/// The oldest compiler that can build the workspace.
const OLDEST_RUST: &str = "1.88";

/// The workspaces outside the main one that are part of a package. Each has its lock file.
const SHIPPED_WORKSPACES: [&str; 3] = ["crates/columns", "crates/js", "crates/python"];

/// The other workspaces outside the main one. Each has its lock file.
const TOOL_WORKSPACES: [&str; 3] = ["crates/guard-bench", "fuzz", "xtask/peers"];

/// A program that needs the translation between APIs alone.
const TRANSLATION: &str = "-p llm-stream-guard-serve --no-default-features --example translate";

/// Returns the steps of a job.
fn job(job: Job, crates: &[Manifest]) -> Vec<Step> {
    match job {
        Job::Tidy => vec![Step::Tidy, Step::cargo("fmt --all --check")],
        Job::Clippy => vec![Step::Run(clippy())],
        Job::Test => vec![Step::Run(tests())],
        Job::Docs => {
            let mut steps = vec![Step::Run(docs("")), Step::Run(docs(" --document-private-items"))];
            steps.extend(feature_docs(crates).iter().map(|line| Step::Run(documented(line))));
            steps
        }
        Job::Msrv => vec![msrv()],
        Job::Features => {
            let mut steps: Vec<_> =
                feature_checks(crates).iter().map(|line| Step::cargo(line)).collect();
            // The translation between APIs without the proxy, and so without a server's crates.
            steps.push(Step::cargo(&format!("run --quiet {TRANSLATION}")));
            let each = "hack check --workspace --each-feature --no-dev-deps";
            steps.push(Step::with_tool("feature combinations", "cargo-hack", each));
            steps
        }
        Job::Deny if !installed("cargo-deny") => {
            vec![Step::missing("licences and advisories", "cargo-deny")]
        }
        Job::Deny => {
            let check = |workspace: &str| {
                Step::cargo(&format!("deny --manifest-path {workspace}/Cargo.toml check"))
            };
            [check(".")].into_iter().chain(SHIPPED_WORKSPACES.map(check)).collect()
        }
        Job::Locks => other_workspaces().map(locked).collect(),
        Job::Python => vec![Step::cargo("xtask python --check")],
        Job::Js => vec![Step::cargo("xtask js --check")],
    }
}

enum Step {
    Tidy,
    Run(Invocation),
    /// As `Run`, but prints only what a failed command printed.
    Quiet(Invocation),
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

/// Runs the steps of `scope`. The checks of a change stop at the first step that fails; otherwise
/// every step runs.
pub(crate) fn run(root: &Path, scope: Scope) -> Result<(), String> {
    let mut summary = Vec::new();
    let mut failures = Vec::new();
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
            failures.extend(result.err());
        }
        if !failures.is_empty() && scope == Scope::Change {
            break;
        }
    }
    println!("\n{}", summary.join("\n"));
    match &failures[..] {
        [] => Ok(()),
        [one] => Err(one.clone()),
        all => Err(format!("{} steps failed:\n{}", all.len(), all.join("\n"))),
    }
}

/// Returns steps with the same features, so that each step reuses the crates compiled before.
fn steps(root: &Path, scope: Scope) -> Result<Vec<Step>, String> {
    let crates = manifest::crates(root)?;
    let of =
        |jobs: &[Job]| jobs.iter().flat_map(|job| self::job(*job, &crates)).collect::<Vec<_>>();
    // Lints use the build directory of the tests, so that common crates are compiled once. They run
    // on the cores that are idle while the tests run.
    let beside = Step::Beside(tests(), vec![clippy(), docs("")]);
    Ok(match scope {
        Scope::Job(job) => of(&[job]),
        Scope::Change => {
            let mut steps = of(&[Job::Tidy]);
            steps.push(beside);
            steps.extend(of(&[Job::Js, Job::Python]));
            steps
        }
        Scope::Full => {
            let mut steps = of(&[Job::Tidy, Job::Locks]);
            steps.push(beside);
            steps.extend(of(&[Job::Docs, Job::Features, Job::Msrv, Job::Deny]));
            // Sequences of five tokens take an hour of processor time.
            let line = "cargo test -p toolcall-parsers --all-features --test it small_scope";
            steps.push(Step::Run(Invocation::new(line).env("SMALL_SCOPE", "4")));
            // This takes a minute, so it is not among the checks of each change.
            steps.push(Step::cargo(
                "test -p llm-stream-guard --all-features --test it mebibyte -- --ignored",
            ));
            steps.extend(
                ["page", "e2e", "js", "python", "templates", "grammars", "bench"]
                    .map(|task| Step::cargo(&format!("xtask {task}"))),
            );
            steps.push(Step::with_tool("instructions", "valgrind", "xtask bench --gate"));
            steps.push(match fuzz::targets(root) {
                Err(why) => Step::Skip { what: "fuzz targets", why },
                Ok(_) if installed(fuzz::TOOL) => Step::Fuzz,
                Ok(_) => Step::missing("fuzz targets", fuzz::TOOL),
            });
            steps
        }
    })
}

/// Returns the workspaces outside the main one.
fn other_workspaces() -> impl Iterator<Item = &'static str> {
    SHIPPED_WORKSPACES.into_iter().chain(TOOL_WORKSPACES)
}

/// Returns the command of the README, which here lists the failures of every crate.
fn tests() -> Invocation {
    Invocation::new("cargo test --workspace --all-features --no-fail-fast")
}

fn clippy() -> Invocation {
    Invocation::new("cargo clippy --workspace --all-targets --all-features -- -D warnings")
}

fn docs(more: &str) -> Invocation {
    documented(&format!("doc --workspace --no-deps --all-features{more}"))
}

/// Returns a step that fails if the lock file of a workspace does not fit its manifests.
fn locked(workspace: &str) -> Step {
    let line =
        format!("metadata --locked --format-version 1 --manifest-path {workspace}/Cargo.toml");
    Step::Quiet(Invocation::new(&format!("cargo {line}")))
}

/// Returns a step that compiles the workspace with the oldest compiler, if it is installed.
fn msrv() -> Step {
    let mut list = std::process::Command::new("rustup");
    let list = list.args(["toolchain", "list"]).output();
    if list.is_ok_and(|list| String::from_utf8_lossy(&list.stdout).contains(OLDEST_RUST)) {
        let line = format!("rustup run {OLDEST_RUST} cargo check --workspace --all-features");
        return Step::Run(Invocation::new(&line));
    }
    let why = format!(
        "the toolchain {OLDEST_RUST} is not installed; clippy warns of newer items of the \
         standard library, but of no newer syntax"
    );
    Step::Skip { what: "oldest compiler", why }
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

impl Step {
    fn cargo(line: &str) -> Self {
        Self::Run(Invocation::new(&format!("cargo {line}")))
    }

    /// Returns a step that runs cargo if its subcommand `tool` is installed.
    fn with_tool(what: &'static str, tool: &str, line: &str) -> Self {
        if installed(tool) { Self::cargo(line) } else { Self::missing(what, tool) }
    }

    fn missing(what: &'static str, tool: &str) -> Self {
        Self::Skip { what, why: format!("{tool} is not installed") }
    }

    fn name(&self) -> String {
        match self {
            Self::Tidy => "cargo xtask tidy".to_owned(),
            Self::Run(invocation) | Self::Quiet(invocation) => invocation.to_string(),
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
                    Self::Quiet(invocation) => invocation.quietly(root),
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
    use super::{Invocation, Job, Manifest, Scope, Step, feature_checks, other_workspaces, steps};

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
        assert!(steps(&root, Scope::Change).unwrap().iter().any(
            |step| matches!(step, Step::Beside(first, _) if first.to_string().starts_with(line))
        ));
    }

    #[test]
    fn translation_between_apis_needs_no_crate_of_a_server() {
        let line = "cargo tree --locked -p llm-stream-guard-serve --no-default-features -e normal \
                    --prefix none";
        let tree = Invocation::new(line).output(&crate::root()).unwrap();
        assert!(tree.contains("serde_json v"), "{tree}");
        for name in ["axum", "hyper", "tokio", "rustls"] {
            assert!(!tree.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        }
    }

    #[test]
    fn workflow_runs_every_job() {
        let path = crate::root().join(".github/workflows/ci.yml");
        let workflow = std::fs::read_to_string(path).unwrap();
        let names: Vec<_> = Job::ALL.iter().map(|(name, _)| *name).collect();
        assert!(workflow.contains(&format!("job: [{}]", names.join(", "))), "{names:?}");
        assert!(workflow.contains("cargo xtask ci --job ${{ matrix.job }}"));
    }

    #[test]
    fn every_workspace_outside_the_main_one_is_locked() {
        for workspace in other_workspaces() {
            assert!(crate::root().join(workspace).join("Cargo.lock").is_file(), "{workspace}");
        }
        let manifest = std::fs::read_to_string(crate::root().join("Cargo.toml")).unwrap();
        for workspace in other_workspaces() {
            assert!(manifest.contains(&format!("    \"{workspace}\",\n")), "{workspace}");
        }
    }
}
