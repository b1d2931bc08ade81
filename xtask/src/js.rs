//! `cargo xtask js`: checks and builds of the npm package. Steps whose tools are missing are
//! skipped.

mod build;
mod elsewhere;
mod installed;
mod toolchain;

use std::path::{Path, PathBuf};

use self::build::Build;
pub(crate) use installed::PACKED;

use crate::{
    disk::{emptied, files},
    flags::Depth,
    process::{BROWSERS, Invocation, browser, installed},
};

/// The directory of the package.
const PACKAGE: &str = "crates/js";
/// The directories of JavaScript that Node can check.
const SOURCES: [&str; 10] = [
    "js",
    "js/all",
    "js/core",
    "cjs",
    "build",
    "environments",
    "example",
    "page",
    "recipes",
    "test",
];
/// Checks the sources. If asked to, also builds the package, installs it in a new directory and
/// tests it there, in Node and in Chromium. Steps whose tools are missing are skipped with a
/// notice.
///
/// # Errors
/// Returns an error if a check or a test fails.
pub(crate) fn run(root: &Path, depth: Depth) -> Result<(), String> {
    let package = root.join(PACKAGE);
    Invocation::new("cargo fmt --all --check").run(&package)?;
    if !installed("node") || !installed("npm") {
        println!("skipped the npm package: node and npm are not installed");
        return Ok(());
    }
    for directory in SOURCES {
        for file in files(&package.join(directory))? {
            if file.extension().is_some_and(|end| end == "js" || end == "mjs" || end == "cjs") {
                Invocation::new(&format!("node --check {}", file.display())).run(root)?;
            }
        }
    }
    match depth {
        Depth::Quick => Ok(()),
        Depth::Whole => {
            let Some(build) = Build::new(root)? else { return Ok(()) };
            build.build_package()?;
            installed::test(root, &build)?;
            elsewhere::environments(root, &build)?;
            elsewhere::recipes(root, &build)
        }
    }
}

/// Builds the package and packs it as it is published. Returns `None` if no compiler for WebAssembly
/// is installed.
///
/// # Errors
/// Returns an error if a step of the build fails.
pub(crate) fn pack(root: &Path) -> Result<Option<PathBuf>, String> {
    let Some(build) = Build::new(root)? else { return Ok(None) };
    build.build_package()?;
    installed::pack(&build).map(Some)
}

/// Builds the page that explains recordings in a browser, as a single file, and tests it in a
/// browser.
///
/// # Errors
/// Returns an error if a step of the build or the page fails.
pub(crate) fn page(root: &Path) -> Result<(), String> {
    let Some(build) = Build::new(root)? else { return Ok(()) };
    let page = build.place.join("explain.html");
    let script = build.place.join("script");
    build.compile("guard", &script, "--script")?;
    let template = root.join(PACKAGE).join("page/build.mjs");
    let line = format!("node {} {} {}", template.display(), script.display(), page.display());
    Invocation::new(&line).run(root)?;
    println!("the page that explains recordings is {}", page.display());
    let Some(browser) = browser() else {
        println!("skipped using it: none of {} is installed", BROWSERS.join(", "));
        return Ok(());
    };
    let Some(tools) = build.fetched("playwright-core@1") else {
        println!("skipped using it: playwright-core cannot be fetched");
        return Ok(());
    };
    let pictures = build.place.join("pictures");
    emptied(&pictures)?;
    let walk = root.join(PACKAGE).join("page/walk.mjs");
    let (walk, page, pictures) = (walk.display(), page.display(), pictures.display());
    let faults = root.join("docs/samples/faults");
    let line = format!("node {walk} {page} {pictures} {browser} {}", faults.display());
    Invocation::new(&line).run(&tools)
}
