//! `cargo xtask js`: checks and builds of the npm package. Steps whose tools are missing are
//! skipped.

mod build;
mod elsewhere;
mod installed;
mod toolchain;

use std::{
    fs,
    path::{Path, PathBuf},
};

use self::build::Build;
use crate::{
    flags::Depth,
    process::{BROWSERS, Invocation, browser, installed},
};

/// The directory of the package.
const PACKAGE: &str = "bindings/js";
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
    let faults = root.join("samples/faults");
    let line = format!("node {walk} {page} {pictures} {browser} {}", faults.display());
    Invocation::new(&line).run(&tools)
}

/// Returns the files of a directory, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    let entries = fs::read_dir(directory).map_err(fault)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(fault)?;
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// Makes an empty directory.
fn emptied(directory: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(fault)?;
    }
    fs::create_dir_all(directory).map_err(fault)
}

/// Copies a file, into a directory that may be new.
fn copied(from: &Path, to: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", from.display());
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).map_err(fault)?;
    }
    fs::copy(from, to).map(drop).map_err(fault)
}
