//! The build of the package.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    PACKAGE,
    toolchain::{self, Toolchain},
};
use crate::{
    disk::{copied, emptied, files},
    process::{Invocation, target},
};

/// The modules of the package: a name, the flags of cargo, and the maximum size in bytes,
/// compressed as servers compress it.
pub(super) const MODULES: [(&str, &str, u64); 2] =
    [("guard", "", 960_000), ("core", "--no-default-features", 408_000)];
/// The features of WebAssembly that the compiler uses. Every browser and Node 20 have them.
const FEATURES: &str = "--enable-bulk-memory --enable-multivalue --enable-mutable-globals \
                        --enable-nontrapping-float-to-int --enable-reference-types \
                        --enable-sign-ext";

/// The directories of the package's own scripts.
const SCRIPTS: [&str; 4] = ["js", "js/all", "js/core", "cjs"];

/// The directories of a build, and its compiler.
pub(super) struct Build {
    /// The directory of everything that is made.
    pub(super) place: PathBuf,
    /// The directory of the sources.
    sources: PathBuf,
    toolchain: Toolchain,
}

impl Build {
    /// Finds a compiler. Returns `None` if no toolchain has the target.
    pub(super) fn new(root: &Path) -> Result<Option<Self>, String> {
        let Some(toolchain) = Toolchain::found(root) else {
            println!("skipped the npm package: {}", toolchain::MISSING);
            return Ok(None);
        };
        let (place, sources) = (target(root)?.join("js"), root.join(PACKAGE));
        Ok(Some(Self { place, sources, toolchain }))
    }

    /// Builds the package in its directory.
    pub(super) fn build_package(&self) -> Result<(), String> {
        let package = self.package();
        emptied(&package)?;
        for (name, _, _) in MODULES {
            self.compile(name, &package.join("wasm"), name)?;
            let text = package.join(format!("wasm/{name}.text.js"));
            let (module, text) = (self.module(name), text.display().to_string());
            Invocation::new(&format!("node build/inline.mjs {} {text}", module.display()))
                .run(&self.sources)?;
        }
        for name in ["package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            copied(&self.sources.join(name), &package.join(name))?;
        }
        for directory in SCRIPTS {
            for file in files(&self.sources.join(directory))? {
                let name = file.file_name().unwrap_or_default();
                copied(&file, &package.join(directory).join(name))?;
            }
        }
        for entry in ["index", "core", "ai"] {
            types_for_require(&package, entry)?;
        }
        Ok(())
    }

    /// Returns the directory that is packed.
    pub(super) fn package(&self) -> PathBuf {
        self.place.join("package")
    }

    /// Returns the file of a module in the package.
    pub(super) fn module(&self, name: &str) -> PathBuf {
        self.package().join("wasm").join(format!("{name}_bg.wasm"))
    }

    /// Compiles a module. Writes it to `directory` with the JavaScript that loads it, as a module
    /// of that name or as a script. The module is made smaller where the tool for it can be
    /// fetched.
    pub(super) fn compile(&self, module: &str, directory: &Path, kind: &str) -> Result<(), String> {
        let flags = MODULES.iter().find(|(name, ..)| *name == module).map_or("", |row| row.1);
        let build = self.place.join("build");
        let compiled = self.toolchain.build(&self.sources, &build, flags)?;
        let (compiled, out) = (compiled.display(), directory.display());
        let line =
            format!("cargo run -q --locked -p toolcall-parsers-bundler -- {compiled} {out} {kind}");
        let build = build.display().to_string();
        Invocation::new(&line).env("CARGO_TARGET_DIR", &build).run(&self.sources)?;
        let Some(tools) = self.fetched("binaryen@132") else {
            println!("skipped wasm-opt: binaryen cannot be fetched");
            return Ok(());
        };
        let tool = tools.join("node_modules/.bin/wasm-opt");
        let name = kind.trim_start_matches('-');
        let module = directory.join(format!("{name}_bg.wasm")).display().to_string();
        // The second round finds what the first made alike.
        let flags = format!("-Oz -Oz {FEATURES} --strip-debug --strip-producers");
        Invocation::new(&format!("{} {flags} {module} -o {module}", tool.display()))
            .run(&self.sources)
    }

    /// Installs a package of npm in a separate directory. Returns `None` if it cannot be fetched.
    pub(super) fn fetched(&self, package: &str) -> Option<PathBuf> {
        let name = package.split('@').next().unwrap_or_default();
        let directory = self.place.join("tools").join(name);
        if !directory.join("node_modules").join(name).exists() {
            let place = directory.display();
            let flags = "--no-save --no-audit --silent";
            let line = format!("npm install {flags} --prefix {place} {package}");
            emptied(&directory).ok()?;
            Invocation::new(&line).output(&directory).ok()?;
        }
        Some(directory)
    }

    /// Prints the sizes of the modules. They have limits where the standard library is built for size.
    pub(super) fn weigh(&self) -> Result<(), String> {
        for (name, _, most) in MODULES {
            let module = self.module(name);
            let code = "console.log(require('zlib').gzipSync(require('fs').readFileSync(\
                        process.argv[1]),{level:9}).length)";
            let code = code.replace(' ', "");
            let line = format!("node -e {code} {}", module.display());
            let printed = Invocation::new(&line).output(&self.sources)?;
            let bytes: u64 = printed.trim().parse().map_err(|_| format!("no size: {printed}"))?;
            println!("the module {name} has {bytes} bytes, compressed");
            if self.toolchain != Toolchain::Debian {
                println!("no limit applies: the standard library was not built for size");
            } else if bytes > most {
                return Err(format!("the module {name} has {bytes} bytes, more than {most}"));
            }
        }
        Ok(())
    }
}

/// Copies the types of an entry for `require`. TypeScript wants other names of files there.
fn types_for_require(package: &Path, entry: &str) -> Result<(), String> {
    let types = package.join(format!("js/{entry}.d.ts"));
    let fault = |error: std::io::Error| format!("{}: {error}", types.display());
    let text = fs::read_to_string(&types).map_err(fault)?.replace(".js\";", ".cjs\";");
    fs::write(package.join(format!("cjs/{entry}.d.cts")), text).map_err(fault)
}
