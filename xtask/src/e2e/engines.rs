//! Tests inside and in front of inference engines. The engines are gigabytes, so that they stay
//! installed between runs.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{
    js,
    process::{Invocation, installed, target},
};

/// The package that the engines load.
const PACKAGE: &str = "crates/python";

/// Installs the engines below `cache`, or below the user's caches, and runs each case of
/// `xtask/e2e/engines` with each of them. Prints a notice for each engine that cannot be installed.
///
/// # Errors
/// Returns an error if an answer differs from what its case expects.
pub(crate) fn run(root: &Path, cache: Option<PathBuf>) -> Result<(), String> {
    let cache = cache.or_else(default_cache).ok_or("name a directory for the engines")?;
    let cache = std::path::absolute(&cache).map_err(|error| error.to_string())?;
    if !installed("python3") {
        println!("skipped the engines: python3 is not installed");
        return Ok(());
    }
    Invocation::new("cargo build -p llm-stream-guard-cli").run(root)?;
    let target = target(root)?;
    let (cache, scripts) = (cache.display(), root.join("xtask/e2e/engines"));
    let scripts = scripts.display();
    Invocation::new(&format!("python3 {scripts}/environments.py {cache} {PACKAGE}"))
        .env("CARGO_TARGET_DIR", &target.join("python/build").display().to_string())
        .run(root)?;
    let program = target.join("debug/llm-stream-guard");
    let python = format!("{cache}/transformers/bin/python");
    if !Path::new(&python).is_file() {
        println!("skipped the engines: the packages of the client are not installed");
        return Ok(());
    }
    let mut line = format!("{python} {scripts}/main.py {cache} {}", program.display());
    // Without the package of `cargo xtask js`, its column is skipped with a notice.
    let package = target.join("js").join(js::PACKED);
    if package.is_file() && installed("npm") {
        let node = format!("{cache}/node");
        let install = "npm install --no-audit --no-fund --no-save --prefix";
        Invocation::new(&format!("{install} {node} {}", package.display())).run(root)?;
        line += &format!(" --package {node}");
    }
    Invocation::new(&line).run(root)
}

/// Returns the directory of the engines in that of the user's caches.
fn default_cache() -> Option<PathBuf> {
    let caches = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let caches = caches.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cache")));
    caches.map(|it| it.join("llm-stream-guard/engines"))
}
