//! `cargo xtask templates`: a comparison of response templates here and in the `transformers`
//! package, with texts of random pieces.

use std::{fs, path::Path, process::Command};

use crate::process::{Invocation, target};

/// The places where Python is searched for. The first that has the package is used.
const PYTHONS: [&str; 3] = ["target/venv/bin/python", "python3", "python"];

/// Compares `count` texts that `seed` makes, at every cut. Prints a notice if the package is
/// missing.
pub(crate) fn run(root: &Path, count: u32, seed: u32) -> Result<(), String> {
    let Some(python) = PYTHONS.into_iter().find(|python| has_package(root, python)) else {
        println!(
            "skipped: no Python with `transformers` 5.24 or later and `regex`; get one with \
             `python3 -m venv target/venv && target/venv/bin/pip install transformers regex`"
        );
        return Ok(());
    };
    Invocation::new("cargo build -q -p llm-stream-guard-cli").run(root)?;
    let target = target(root)?;
    let binary = target.join("debug/llm-stream-guard").display().to_string();
    let made = Command::new(python)
        .args(["xtask/differential/generate.py", &seed.to_string(), &count.to_string(), &binary])
        .current_dir(root)
        .output()
        .map_err(|error| format!("{python} did not start: {error}"))?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    let file = target.join("templates.jsonl").display().to_string();
    fs::write(&file, &made.stdout).map_err(|error| format!("{file}: {error}"))?;
    println!("{count} wires of seed {seed}, with what the package makes of them: {file}");
    Invocation::new(&format!("cargo run -q -p llm-stream-guard-cli -- check {file}")).run(root)
}

fn has_package(root: &Path, python: &str) -> bool {
    // The package has this parser since 5.24.
    let import = "import regex; from transformers.utils.chat_parsing.content_parsers \
                  import CONTENT_PARSERS; CONTENT_PARSERS['python-call-list']";
    let mut command = Command::new(python);
    let found = command.args(["-c", import]).current_dir(root).output();
    found.is_ok_and(|output| output.status.success())
}
