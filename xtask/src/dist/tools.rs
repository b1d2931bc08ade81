//! Tools from the registry of Python, and the programs of a user who has no Rust.

#[cfg(unix)]
use std::fs;
use std::{
    env,
    path::{Path, PathBuf},
};

use super::report::Report;
#[cfg(unix)]
use crate::process;
use crate::process::{Invocation, programs_of, python_of};

/// The builder of wheels.
const MATURIN: &str = "maturin>=1.9,<2";
/// A C compiler and linker for other platforms and older C libraries, and its cargo subcommand.
const ZIG: &str = "ziglang cargo-zigbuild";
/// The programs of a user.
#[cfg(unix)]
const USERS: [&str; 3] = ["node", "npm", "sh"];

/// Fetched tools in a separate Python environment.
pub(super) struct Tools {
    root: PathBuf,
    /// The directory of the environment's programs.
    bin: PathBuf,
    pub(super) has_maturin: bool,
    pub(super) has_zig: bool,
}

impl Tools {
    /// Makes the environment and fetches the tools. Notes those that cannot be had.
    pub(super) fn fetched(root: &Path, build: &Path, report: &mut Report) -> Self {
        let venv = build.join("tools");
        let bin = programs_of(&venv);
        let mut tools = Self { root: root.to_owned(), bin, has_maturin: false, has_zig: false };
        if let Err(error) = python_of(root, &venv) {
            report.note(&format!("no tools of Python: {error}"));
            return tools;
        }
        tools.has_maturin = tools.fetch(MATURIN);
        tools.has_zig = cfg!(target_os = "linux") && tools.fetch(ZIG);
        if !tools.has_zig && cfg!(target_os = "linux") {
            report.note(
                "zig cannot be fetched: the wheel and the command need the C library of this \
                 machine or a newer one",
            );
        }
        tools
    }

    /// Installs packages. Returns whether they could be fetched.
    pub(super) fn fetch(&self, packages: &str) -> bool {
        let line = format!("{} -m pip install --quiet {packages}", self.python().display());
        Invocation::new(&line).output(&self.root).is_ok()
    }

    pub(super) fn python(&self) -> PathBuf {
        self.bin.join("python")
    }

    /// Returns the path of this process with the tools before it.
    pub(super) fn path(&self) -> String {
        let path = env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.bin.clone()).chain(env::split_paths(&path));
        env::join_paths(all).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Returns a path of programs without Rust: a directory with links to the few programs
/// that a user has.
///
/// # Errors
/// Returns an error if a link cannot be made.
#[cfg(unix)]
pub(super) fn user_path(build: &Path) -> Result<String, String> {
    let directory = build.join("user");
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for name in USERS {
        let link = directory.join(name);
        let Some(program) = process::path(name).filter(|_| !link.exists()) else { continue };
        let linked =
            program.canonicalize().and_then(|program| std::os::unix::fs::symlink(program, &link));
        linked.map_err(|error| format!("{}: {error}", link.display()))?;
    }
    Ok(directory.display().to_string())
}

/// Returns the path of this process without the directories in which there is Rust.
///
/// # Errors
/// Returns an error if the directories make no path.
#[cfg(not(unix))]
pub(super) fn user_path(_: &Path) -> Result<String, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let has_rust = |path: &Path| ["cargo.exe", "rustc.exe"].iter().any(|it| path.join(it).exists());
    let kept = env::join_paths(env::split_paths(&path).filter(|path| !has_rust(path)));
    kept.map(|path| path.to_string_lossy().into_owned()).map_err(|error| error.to_string())
}
