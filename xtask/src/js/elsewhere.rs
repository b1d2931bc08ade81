//! Tests of the package in other projects: bundlers, runtimes, and clients of models.

use std::{fs, path::Path};

use super::{PACKAGE, build::Build, installed::PACKED};
use crate::{
    disk::{copied, emptied, files},
    process::{self, Invocation, browser},
};

/// The bundlers and runtimes that `environments` has a program for.
const BUILT_WITH: &str = "ai6@npm:ai@6 ai7@npm:ai@7 typescript@5 @types/node@20 esbuild@0.25 \
                          vite@7 next@16 react@19 react-dom@19 miniflare@4 bun@1 \
                          playwright-core@1";
/// The clients that `recipes` uses.
const USED_WITH: &str = "openai@6 langchain@1 @langchain/core@1 @langchain/openai@1 \
                         @openai/agents@0 zod@4 ai@6 @ai-sdk/openai-compatible@2";
/// The packages of the recipes for the newer AI SDK.
const NEWER: &str = "ai@7 @ai-sdk/openai-compatible@3";

/// Builds a small program with each bundler, and runs it where it was built for.
///
/// # Errors
/// Returns an error if a test fails.
pub(super) fn environments(root: &Path, build: &Build) -> Result<(), String> {
    let place = build.place.join("environments");
    emptied(&place)?;
    let sources = root.join(PACKAGE).join("environments");
    for directory in ["", "types", "next", "next/app", "next/app/answer"] {
        copied_all(&sources.join(directory), &place.join(directory))?;
    }
    if !has_installed(&place, &format!("{BUILT_WITH} ../{PACKED}"))? {
        println!("skipped the bundlers: they cannot be fetched");
        return Ok(());
    }
    let browser = browser().and_then(process::path);
    let browser = browser.map(|path| path.display().to_string()).unwrap_or_default();
    Invocation::new("node --test environments.test.mjs").env("BROWSER", &browser).run(&place)
}

/// Runs each recipe against a scripted server.
///
/// # Errors
/// Returns an error if a test fails.
pub(super) fn recipes(root: &Path, build: &Build) -> Result<(), String> {
    let place = build.place.join("recipes");
    emptied(&place)?;
    let sources = root.join(PACKAGE).join("recipes");
    copied_all(&sources, &place)?;
    let newer = place.join("ai7");
    for recipe in ["ai-sdk.mjs", "provider.mjs"] {
        copied(&sources.join(recipe), &newer.join(recipe))?;
    }
    let packed = format!("../{PACKED}");
    if !has_installed(&place, &format!("{USED_WITH} {packed}"))?
        || !has_installed(&newer, &format!("{NEWER} ../{packed}"))?
    {
        println!("skipped the recipes: their packages cannot be fetched");
        return Ok(());
    }
    Invocation::new("node --test recipes.test.mjs").run(&place)
}

/// Copies the files of a directory.
fn copied_all(from: &Path, to: &Path) -> Result<(), String> {
    for file in files(from)? {
        copied(&file, &to.join(file.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Installs packages for the programs of a directory. Returns whether they could be fetched.
fn has_installed(place: &Path, packages: &str) -> Result<bool, String> {
    fs::write(place.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")
        .map_err(|error| format!("{}: {error}", place.display()))?;
    let line = format!("npm install --no-audit --no-fund --silent {packages}");
    Ok(Invocation::new(&line).output(place).is_ok())
}
