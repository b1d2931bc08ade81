//! Gives the program its version with the commit that it is built from: `0.1.0 (1a2b3c4d5e6f)`.
//!
//! `LLM_STREAM_GUARD_COMMIT` names the commit where there is no repository, as in a container. A
//! development build has none: it would be compiled again after each commit.

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LLM_STREAM_GUARD_COMMIT");
    let given = env::var("LLM_STREAM_GUARD_COMMIT").ok().filter(|commit| !commit.is_empty());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = given.or_else(|| if is_release { commit() } else { None });
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=LLM_STREAM_GUARD_VERSION={version}");
}

/// Returns the commit of the repository, if this is one.
fn commit() -> Option<String> {
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|it| it.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
