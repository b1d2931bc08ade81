//! `cargo xtask grammars`: exported grammars under the packages that engines use.

use std::{fs, path::Path, process::Command};

use crate::process::{Invocation, installed, python_of, target};

/// Packages that are installed without dependencies. XGrammar declares gigabytes of dependencies
/// that its grammars do not need.
const PACKAGES: [&str; 2] = ["llguidance apache-tvm-ffi numpy pydantic", "--no-deps xgrammar"];

/// The number of a family's texts that the engines must admit, and of those that they must refuse.
const SHOWN: &str = "50";

/// Makes `count` random texts of each family's grammar with llguidance, which the parser must read.
/// Prints a notice if Python or the packages are missing.
///
/// # Errors
/// Returns an error if an engine refuses a grammar, disagrees about a text, or a text is not a
/// valid call.
pub(crate) fn run(root: &Path, count: u32) -> Result<(), String> {
    let place = target(root)?.join("grammars");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    if !installed("python3") {
        println!("skipped: python3 is not installed");
        return Ok(());
    }
    let python = python_of(root, &place.join("venv"))?;
    for packages in PACKAGES {
        let line = format!("{} -m pip install --quiet {packages}", python.display());
        if Invocation::new(&line).output(root).is_err() {
            println!("skipped: {packages} cannot be fetched");
            return Ok(());
        }
    }
    Invocation::new("cargo build -q -p family-export --example grammar_texts").run(root)?;
    let program = target(root)?.join("debug/examples/grammar_texts");
    let (grammars, texts) = (place.join("grammars.jsonl"), place.join("texts.jsonl"));
    let written = Command::new(&program)
        .args(["write", SHOWN])
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !written.status.success() {
        return Err(String::from_utf8_lossy(&written.stderr).into_owned());
    }
    fs::write(&grammars, &written.stdout)
        .map_err(|error| format!("{}: {error}", grammars.display()))?;
    let script = "xtask/grammars/engines.py";
    let (python, from, to) = (python.display(), grammars.display(), texts.display());
    Invocation::new(&format!("{python} {script} {from} {count} {to}")).run(root)?;
    let file = fs::File::open(&texts).map_err(|error| format!("{}: {error}", texts.display()))?;
    let status = Command::new(&program).arg("check").stdin(file).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("a text of a grammar is not a valid call".to_owned()),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}
