//! `cargo xtask js`: the npm package, as far as this machine has what it needs.

mod toolchain;

use std::{
    fs,
    path::{Path, PathBuf},
};

use self::toolchain::Toolchain;
use crate::{
    flags::Depth,
    process::{BROWSERS, Invocation, browser, installed, target},
};

/// The directory of the package.
const PACKAGE: &str = "bindings/js";
/// The file that `npm pack` writes.
const PACKED: &str = "toolcall-parsers-0.1.0.tgz";
/// Packages of the tests. The tests of a missing one are skipped.
const TESTED_WITH: &str = "ai6@npm:ai@6 ai7@npm:ai@7 typescript@5 @types/node@20";
/// Maximum size of the module, compressed as servers compress it. It may only fall.
const MODULE_MOST: u64 = 560_000;

/// Checks the sources; unless that is all, builds the package, installs it in a fresh directory and
/// tests it there, in Node and in Chromium. Steps whose tools are missing are skipped with a word.
///
/// # Errors
/// A check or a test fails.
pub(crate) fn run(root: &Path, depth: Depth) -> Result<(), String> {
    let package = root.join(PACKAGE);
    Invocation::new("cargo fmt --all --check").run(&package)?;
    if !installed("node") || !installed("npm") {
        println!("skipped the npm package: node and npm are not installed");
        return Ok(());
    }
    for file in files(&package.join("js"))?.into_iter().chain(files(&package.join("test"))?) {
        if file.extension().is_some_and(|end| end == "js" || end == "mjs") {
            Invocation::new(&format!("node --check {}", file.display())).run(root)?;
        }
    }
    match depth {
        Depth::Quick => Ok(()),
        Depth::Whole => match Built::new(root)? {
            Some(built) => built.test(root),
            None => Ok(()),
        },
    }
}

/// Builds the page that explains recordings in a browser, a file that needs no other, and uses it in
/// a browser.
///
/// # Errors
/// A step of the build fails, or the page does.
pub(crate) fn page(root: &Path) -> Result<(), String> {
    let Some(built) = Built::new(root)? else { return Ok(()) };
    let page = built.place.join("explain.html");
    let template = root.join(PACKAGE).join("page/build.mjs");
    let line = format!("node {} {} {}", template.display(), built.wasm().display(), page.display());
    Invocation::new(&line).run(root)?;
    println!("the page that explains recordings is {}", page.display());
    let Some(browser) = browser() else {
        println!("skipped using it: none of {} is installed", BROWSERS.join(", "));
        return Ok(());
    };
    let tools = built.place.join("playwright");
    if !fetched(&tools, "playwright-core@1") {
        println!("skipped using it: playwright-core cannot be fetched");
        return Ok(());
    }
    let pictures = built.place.join("pictures");
    emptied(&pictures)?;
    let walk = root.join(PACKAGE).join("page/walk.mjs");
    let (walk, page, pictures) = (walk.display(), page.display(), pictures.display());
    let faults = root.join("samples/faults");
    let line = format!("node {walk} {page} {pictures} {browser} {}", faults.display());
    Invocation::new(&line).run(&tools)
}

/// A package that was built.
struct Built {
    /// The directory of everything that is made.
    place: PathBuf,
}

impl Built {
    /// Builds the package. `None` if no toolchain has the target.
    fn new(root: &Path) -> Result<Option<Self>, String> {
        let Some(toolchain) = Toolchain::found(root) else {
            println!("skipped the npm package: {}", toolchain::MISSING);
            return Ok(None);
        };
        let built = Self { place: target(root)?.join("js") };
        let module = toolchain.build(&root.join(PACKAGE), &built.place.join("build"))?;
        built.assemble(root, &module)?;
        Ok(Some(built))
    }

    fn wasm(&self) -> PathBuf {
        self.place.join("package/wasm")
    }

    /// Puts the package's directory together.
    fn assemble(&self, root: &Path, module: &Path) -> Result<(), String> {
        let (sources, package) = (root.join(PACKAGE), self.place.join("package"));
        emptied(&package)?;
        let (module, wasm) = (module.display(), self.wasm());
        let line = format!(
            "cargo run -q --locked -p toolcall-parsers-bundler -- {module} {}",
            wasm.display()
        );
        let build = self.place.join("build").display().to_string();
        Invocation::new(&line).env("CARGO_TARGET_DIR", &build).run(&sources)?;
        self.optimise(root)?;
        for name in ["package.json", "README.md"] {
            copied(&sources.join(name), &package.join(name))?;
        }
        for file in files(&sources.join("js"))? {
            let name = file.file_name().unwrap_or_default();
            copied(&file, &package.join("js").join(name))?;
        }
        Ok(())
    }

    /// Makes the module smaller, where the tool for it can be fetched.
    fn optimise(&self, root: &Path) -> Result<(), String> {
        let tools = self.place.join("binaryen");
        if !fetched(&tools, "binaryen@132") {
            println!("skipped wasm-opt: binaryen cannot be fetched");
            return Ok(());
        }
        let tool = tools.join("node_modules/.bin/wasm-opt");
        let module = self.wasm().join("guard_bg.wasm").display().to_string();
        let flags = "-Oz --all-features --converge --strip-debug --strip-producers";
        Invocation::new(&format!("{} {flags} {module} -o {module}", tool.display())).run(root)
    }

    /// Packs the package, installs it in a fresh directory and tests it there.
    fn test(&self, root: &Path) -> Result<(), String> {
        let (package, fresh) = (self.place.join("package"), self.place.join("fresh"));
        let pack = format!("npm pack --silent --pack-destination {}", self.place.display());
        Invocation::new(&pack).output(&package)?;
        emptied(&fresh)?;
        for file in files(&root.join(PACKAGE).join("test"))? {
            copied(&file, &fresh.join(file.file_name().unwrap_or_default()))?;
        }
        copied(&root.join(PACKAGE).join("README.md"), &fresh.join("README.md"))?;
        fs::write(fresh.join("package.json"), "{\"private\": true, \"type\": \"module\"}\n")
            .map_err(|error| format!("{}: {error}", fresh.display()))?;
        let install = format!("npm install --no-audit --no-fund --silent ../{PACKED}");
        Invocation::new(&install).run(&fresh)?;
        let mut tests = vec!["package.test.mjs", "vectors.test.mjs", "readme.test.mjs"];
        let more = format!("npm install --no-save --no-audit --no-fund --silent {TESTED_WITH}");
        match Invocation::new(&more).output(&fresh) {
            Ok(_) => tests.push("ai.test.mjs"),
            Err(_) => {
                println!("skipped the tests with the AI SDK: {TESTED_WITH} cannot be fetched");
            }
        }
        let tests = tests.join(" ");
        let vectors = root.join("vectors").display().to_string();
        Invocation::new(&format!("node --test {tests}")).env("VECTORS", &vectors).run(&fresh)?;
        match browser() {
            Some(browser) => {
                Invocation::new(&format!("node browser.mjs {browser}")).run(&fresh)?;
            }
            None => println!("skipped Chromium: none of {} is installed", BROWSERS.join(", ")),
        }
        self.weigh(root)
    }

    /// Prints the size of the module, which has a limit.
    fn weigh(&self, root: &Path) -> Result<(), String> {
        let module = self.wasm().join("guard_bg.wasm");
        let code = "console.log(require('zlib').gzipSync(require('fs').readFileSync(\
                    process.argv[1]),{level:9}).length)";
        let code = code.replace(' ', "");
        let printed =
            Invocation::new(&format!("node -e {code} {}", module.display())).output(root)?;
        let bytes: u64 = printed.trim().parse().map_err(|_| format!("no size: {printed}"))?;
        println!("the module has {bytes} bytes, compressed");
        match bytes <= MODULE_MOST {
            true => Ok(()),
            false => Err(format!("the module has {bytes} bytes, more than {MODULE_MOST}")),
        }
    }
}

/// Installs a package of npm in `directory`. Returns whether it is there.
fn fetched(directory: &Path, package: &str) -> bool {
    let name = package.split('@').next().unwrap_or_default();
    if directory.join("node_modules").join(name).exists() {
        return true;
    }
    let place = directory.display();
    let line = format!("npm install --no-save --no-audit --silent --prefix {place} {package}");
    emptied(directory).is_ok() && Invocation::new(&line).output(directory).is_ok()
}

/// The files of a directory, sorted.
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
