//! Tests with agents, which talk through the proxy to a scripted upstream. They run in a network
//! namespace without access to other networks.

use std::{fs, path::Path};

use super::{has, python};
use crate::process::{Invocation, installed, target};

/// Runs a command in a new network namespace, as its administrator.
const ALONE: &str = "unshare --map-root-user --net";
/// The agents in Node, and the packages that have them.
const NODE: (&str, &str) = (
    "claude-code codex codex-own-model ai-chat ai-responses",
    "@anthropic-ai/claude-code @openai/codex ai @ai-sdk/openai @ai-sdk/openai-compatible",
);
/// The agents in Python, and the packages that have them.
const PYTHON: [(&str, &str); 5] = [
    ("openai-agents-responses openai-agents-chat", "openai-agents"),
    ("langgraph", "langgraph langchain-openai"),
    ("smolagents", "smolagents openai"),
    ("litellm", "litellm"),
    ("instructor", "instructor"),
];

/// Runs each agent whose packages can be fetched against the upstream of `xtask/e2e/scripted.py`.
pub(super) fn converse(root: &Path, place: &Path) -> Result<(), String> {
    let script = "conversations.py";
    let alone = Invocation::new(&format!("{ALONE} ip link set lo up"));
    if !installed("unshare") || alone.output(root).is_err() {
        println!("skipped {script}: this user cannot make a network namespace");
        return Ok(());
    }
    let Some(python) = python(place) else { return Ok(()) };
    let python = python.display();
    let mut agents = Vec::new();
    let modules = place.join("agents");
    fs::create_dir_all(&modules).map_err(|error| format!("{}: {error}", modules.display()))?;
    let (names, packages) = NODE;
    if installed("node") && installed("npm") {
        // Without the prefix, npm takes the packages of a parent directory for this directory's.
        let line = format!(
            "npm install --prefix . --no-audit --no-fund --no-save --no-package-lock {packages}"
        );
        agents.extend(has(&modules, &line, names).then_some(names));
    } else {
        println!("skipped {names}: node or npm is not installed");
    }
    for (names, packages) in PYTHON {
        let line = format!("{python} -m pip install --quiet {packages}");
        agents.extend(has(place, &line, names).then_some(names));
    }
    if agents.is_empty() {
        return Ok(());
    }
    let program = target(root)?.join("debug/llm-stream-guard");
    let line = format!(
        "{ALONE} {python} {}/xtask/e2e/{script} {} {}/node_modules {}",
        root.display(),
        program.display(),
        modules.display(),
        agents.join(" ")
    );
    Invocation::new(&line).run(root)
}
