//! Tests of the package as a user installs it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{PACKAGE, build::Build};
use crate::{
    disk::{copied, emptied, files},
    process::{BROWSERS, Invocation, browser},
};

/// The file that `npm pack` writes.
pub(crate) const PACKED: &str = "toolcall-parsers-0.1.0.tgz";
/// Packages of the tests. The tests of missing ones are skipped.
const TESTED_WITH: &str = "ai6@npm:ai@6 ai7@npm:ai@7 @ai-sdk/provider@4 typescript@5 \
                           @types/json-schema@7 @types/node@20 esbuild@0.25 @huggingface/jinja@0.5";

/// Packs the package. Returns the file.
///
/// # Errors
/// Returns an error if npm fails.
pub(super) fn pack(build: &Build) -> Result<PathBuf, String> {
    let pack = format!("npm pack --silent --pack-destination {}", build.place.display());
    Invocation::new(&pack).output(&build.package())?;
    Ok(build.place.join(PACKED))
}

/// Packs the package, installs it in a fresh directory and tests it there, in Node, in Deno and in
/// Chromium.
///
/// # Errors
/// Returns an error if a test fails.
pub(super) fn test(root: &Path, build: &Build) -> Result<(), String> {
    let fresh = build.place.join("fresh");
    pack(build)?;
    emptied(&fresh)?;
    let sources = root.join(PACKAGE);
    for file in files(&sources.join("test"))? {
        copied(&file, &fresh.join(file.file_name().unwrap_or_default()))?;
    }
    for file in files(&sources.join("example"))? {
        copied(&file, &fresh.join("example").join(file.file_name().unwrap_or_default()))?;
    }
    copied(&sources.join("README.md"), &fresh.join("README.md"))?;
    fs::write(fresh.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")
        .map_err(|error| format!("{}: {error}", fresh.display()))?;
    let install = "npm install --no-audit --no-fund --silent";
    Invocation::new(&format!("{install} ../{PACKED}")).run(&fresh)?;
    let mut tests = vec![
        "package.test.mjs",
        "core.test.mjs",
        "family-file.test.mjs",
        "request.test.mjs",
        "template.test.mjs",
        "vectors.test.mjs",
        "laws.test.mjs",
        "readme.test.mjs",
    ];
    let has_more =
        Invocation::new(&format!("{install} --no-save {TESTED_WITH}")).output(&fresh).is_ok();
    if has_more {
        tests.extend(["ai.test.mjs", "derive.test.mjs", "types.test.mjs"]);
    } else {
        println!("skipped the AI SDK, TypeScript and the example: they cannot be fetched");
    }
    let vectors = root.join("families/vectors").display().to_string();
    let line = format!("node --test {}", tests.join(" "));
    Invocation::new(&line).env("VECTORS", &vectors).run(&fresh)?;
    deno(build, &fresh)?;
    match browser() {
        Some(browser) => {
            Invocation::new(&format!("node browser.mjs {browser}")).run(&fresh)?;
            if has_more {
                example(build, &fresh, browser)?;
            }
        }
        None => println!("skipped Chromium: none of {} is installed", BROWSERS.join(", ")),
    }
    build.weigh()
}

/// Runs the example of the README in Deno.
fn deno(build: &Build, fresh: &Path) -> Result<(), String> {
    let Some(tools) = build.fetched("deno@2") else {
        println!("skipped Deno: it cannot be fetched");
        return Ok(());
    };
    let cache = build.place.join("deno").display().to_string();
    let deno = tools.join("node_modules/.bin/deno");
    let line = format!("node deno.mjs {}", deno.display());
    Invocation::new(&line).env("DENO_DIR", &cache).run(fresh)
}

/// Bundles the page with a model in the browser and uses it.
fn example(build: &Build, fresh: &Path, browser: &str) -> Result<(), String> {
    let page = fresh.join("example-page");
    copied(&fresh.join("example/index.html"), &page.join("index.html"))?;
    let flags = "--bundle --minify --format=esm --target=es2022 --alias:ai=ai7 --log-level=warning";
    let bundle =
        format!("node_modules/.bin/esbuild example/chat.js {flags} --outfile=example-page/chat.js");
    Invocation::new(&bundle).run(fresh)?;
    let Some(tools) = build.fetched("playwright-core@1") else {
        println!("skipped the example: playwright-core cannot be fetched");
        return Ok(());
    };
    let (test, page) = (fresh.join("example.mjs"), page.display());
    let picture = build.place.join("example.png");
    let line = format!("node {} {page} {browser} {}", test.display(), picture.display());
    Invocation::new(&line).run(&tools)
}
