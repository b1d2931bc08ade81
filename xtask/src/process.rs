//! The running of other programs.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The names under which the browser is installed.
pub(crate) const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Returns the Python of the environment at `venv`, which is made if it is missing.
///
/// # Errors
/// Returns an error if Python is missing or fails.
pub(crate) fn python_of(root: &Path, venv: &Path) -> Result<PathBuf, String> {
    let python = programs_of(venv).join("python");
    if !venv.exists() {
        if !installed("python3") {
            return Err("python3 is not installed".to_owned());
        }
        Invocation::new("python3 -m venv").arg(&venv.display().to_string()).output(root)?;
    }
    Ok(python)
}

/// Returns the directory of the programs of a Python environment.
pub(crate) fn programs_of(venv: &Path) -> PathBuf {
    venv.join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// A program with its arguments and extra environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Invocation {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    /// Whether the program gets the variables above alone.
    alone: bool,
}

impl Invocation {
    /// Creates the invocation of a command line, which is split at blanks. Arguments cannot be
    /// quoted.
    pub(crate) fn new(line: &str) -> Self {
        let mut words = line.split_whitespace().map(str::to_owned);
        let program = words.next().unwrap_or_default();
        Self { program, args: words.collect(), ..Self::default() }
    }

    /// Adds an argument, which may contain blanks.
    pub(crate) fn arg(mut self, text: &str) -> Self {
        self.args.push(text.to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Hides the variables of this process from the program, except those without which Windows
    /// starts none.
    pub(crate) fn alone(mut self) -> Self {
        self.alone = true;
        for name in ["SYSTEMROOT", "TEMP"] {
            if let Some(value) = env::var(name).ok().filter(|_| cfg!(windows)) {
                self = self.env(name, &value);
            }
        }
        self
    }

    /// Returns the command that runs the program in `directory`.
    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        if self.alone {
            command.env_clear();
        }
        command.args(&self.args).envs(self.env.iter().cloned()).current_dir(directory);
        command
    }

    /// Runs the program in `directory`. Returns the text of both its output streams.
    ///
    /// # Errors
    /// See [`Invocation::run`]. The error contains the output.
    pub(crate) fn output(&self, directory: &Path) -> Result<String, String> {
        let output = self
            .command(directory)
            .output()
            .map_err(|error| format!("`{self}` did not start: {error}"))?;
        let text =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        let text = text.join("\n");
        if output.status.success() {
            Ok(text)
        } else {
            Err(format!("`{self}` failed, {}\n{text}", output.status))
        }
    }

    /// Runs the program in `directory`. Prints its output only if it fails.
    ///
    /// # Errors
    /// See [`Invocation::run`].
    pub(crate) fn quietly(&self, directory: &Path) -> Result<(), String> {
        self.output(directory).map(drop).map_err(|error| {
            eprintln!("{error}");
            error.lines().next().unwrap_or_default().to_owned()
        })
    }

    /// Runs the program in `directory` with the output streams of this process.
    ///
    /// # Errors
    /// Returns the command line and its exit status if it fails.
    pub(crate) fn run(&self, directory: &Path) -> Result<(), String> {
        match self.command(directory).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{self}` failed, {status}")),
            Err(error) => Err(format!("`{self}` did not start: {error}")),
        }
    }
}

impl std::fmt::Display for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.alone {
            write!(f, "env -i ")?;
        }
        for (name, value) in &self.env {
            write!(f, "{name}={value:?} ")?;
        }
        write!(f, "{}", self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

/// Returns a browser that is installed.
pub(crate) fn browser() -> Option<&'static str> {
    BROWSERS.into_iter().find(|name| installed(name))
}

/// Returns whether `tool` can be called by its name.
pub(crate) fn installed(tool: &str) -> bool {
    path(tool).is_some()
}

/// Returns the file that runs if `tool` is called by its name.
pub(crate) fn path(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let file = format!("{tool}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&path).map(|directory| directory.join(&file)).find(|file| file.is_file())
}

/// Returns the directory in which cargo builds: `target`, or the one that `CARGO_TARGET_DIR` or a
/// configuration of cargo names.
///
/// # Errors
/// Returns an error if cargo does not report it.
pub(crate) fn target(root: &Path) -> Result<PathBuf, String> {
    target_of(&metadata().output(root)?)
}

fn metadata() -> Invocation {
    Invocation::new("cargo metadata --no-deps --format-version 1")
}

fn target_of(printed: &str) -> Result<PathBuf, String> {
    let read =
        serde_json::from_str::<serde_json::Value>(printed.lines().next().unwrap_or_default());
    let directory = read.ok().and_then(|it| Some(it.get("target_directory")?.as_str()?.into()));
    directory.ok_or_else(|| "cargo reports no target directory".to_owned())
}

/// Checks that a tool is installed which cargo can install.
///
/// # Errors
/// Returns the command that installs the tool if it is missing.
pub(crate) fn required(tool: &str) -> Result<(), String> {
    if installed(tool) {
        return Ok(());
    }
    Err(format!("{tool} is not installed; get it with `cargo install {tool}`"))
}

#[cfg(test)]
mod tests {
    use super::{Invocation, installed, metadata, required, target_of};
    use std::path::Path;

    #[test]
    fn invocation_prints_as_a_shell_command() {
        let doc = Invocation::new("cargo doc  --no-deps").env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(doc.to_string(), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps");
    }

    #[test]
    fn failure_names_the_command() {
        let error = Invocation::new("no-such-program now").run(Path::new(".")).unwrap_err();
        assert!(error.starts_with("`no-such-program now` did not start"), "{error}");
    }

    #[test]
    fn target_directory_is_taken_from_the_environment() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let elsewhere = std::env::temp_dir().join("elsewhere");
        let named = metadata().env("CARGO_TARGET_DIR", &elsewhere.display().to_string());
        assert_eq!(target_of(&named.output(root).unwrap()), Ok(elsewhere));
        assert!(target_of("").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn program_alone_sees_no_variable_of_this_process() {
        let line = Invocation::new("/usr/bin/env").env("KEPT", "1").alone();
        assert_eq!(line.to_string(), "env -i KEPT=\"1\" /usr/bin/env");
        assert_eq!(line.output(Path::new(".")).unwrap().trim(), "KEPT=1");
    }

    #[cfg(unix)]
    #[test]
    fn nonzero_exit_status_is_a_failure() {
        let error = Invocation::new("false").run(Path::new(".")).unwrap_err();
        assert!(error.starts_with("`false` failed"), "{error}");
    }

    #[test]
    fn installed_tools_are_found_by_name() {
        assert!(installed("cargo"));
        assert!(!installed("no-such-program"));
        assert_eq!(required("cargo"), Ok(()));
        let error = required("no-such-program").unwrap_err();
        assert!(error.ends_with("get it with `cargo install no-such-program`"), "{error}");
    }
}
