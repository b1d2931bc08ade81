//! `cargo xtask dist`: makes everything that a release ships, and uses each artefact as a user does,
//! in a new directory and without Rust.

mod command;
mod crates;
mod npm;
mod python;
mod report;
mod sbom;
mod tools;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use self::{report::Report, tools::Tools};
use crate::{
    disk::emptied,
    process::{self, Invocation},
};

/// The version of everything in the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A part of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The program with `tls`.
    Command,
    Wheel,
    /// The sources of the Python package with the crates of the workspace.
    Sdist,
    Npm,
    /// The libraries for the registry of crates.
    Crates,
    /// The list of components of each program.
    Sbom,
}

impl Part {
    /// All parts with their names.
    const ALL: [(&'static str, Self); 6] = [
        ("command", Self::Command),
        ("wheel", Self::Wheel),
        ("sdist", Self::Sdist),
        ("npm", Self::Npm),
        ("crates", Self::Crates),
        ("sbom", Self::Sbom),
    ];

    /// Returns the part called `name`.
    ///
    /// # Errors
    /// Returns an error with all names if there is none.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(|(name, _)| name).join(", ");
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, part)| *part)
            .ok_or_else(|| format!("no part {name:?}; there are {}", names()))
    }

    /// Makes the part and uses it.
    fn make(self, dist: &Dist, report: &mut Report) -> Result<(), String> {
        match self {
            Self::Command => command::make(dist, report),
            Self::Wheel => python::wheel(dist, report),
            Self::Sdist => python::sdist(dist, report),
            Self::Npm => npm::make(dist, report),
            Self::Crates => crates::make(dist, report),
            Self::Sbom => sbom::make(dist, report),
        }
    }
}

/// The options of the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The directory of the artefacts, `target/dist` by default.
    pub(crate) place: Option<PathBuf>,
    /// The only part to make.
    pub(crate) only: Option<Part>,
    /// The platform of the command and the wheel, this machine's by default.
    pub(crate) target: Option<String>,
}

/// The directories and tools of a run.
struct Dist {
    root: PathBuf,
    /// The directory of the artefacts.
    place: PathBuf,
    /// The directory of cargo and of the tools. It stays, so that the next run compiles less.
    build: PathBuf,
    target: Option<String>,
    tools: Tools,
}

/// Returns a directory that a user named, unless there are files in it, which would be deleted.
fn unused(place: PathBuf) -> Result<PathBuf, String> {
    match fs::read_dir(&place).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(format!("{} is not empty", place.display())),
        _ => Ok(place),
    }
}

/// Makes all parts, or the wanted one, and prints a table of them. A part that fails does not keep
/// others from being made.
///
/// # Errors
/// Returns all failures.
pub(crate) fn run(root: &Path, wanted: &Wanted) -> Result<(), String> {
    let target = process::target(root)?;
    let here = env::current_dir().map_err(|error| error.to_string())?;
    let place = match &wanted.place {
        Some(place) => unused(here.join(place))?,
        None => target.join("dist"),
    };
    emptied(&place)?;
    let build = target.join("dist-build");
    let mut report = Report::default();
    let tools = Tools::fetched(root, &build, &mut report);
    let dist = Dist { root: root.to_owned(), place, build, target: wanted.target.clone(), tools };
    for (name, part) in Part::ALL {
        if wanted.only.is_none_or(|only| only == part) {
            println!("\n=== {name}");
            let made = part.make(&dist, &mut report);
            report.check(name, made);
        }
    }
    let summed = report::checksums(&dist, &mut report);
    report.check("checksums", summed);
    report.end()
}

impl Dist {
    /// Makes an empty directory in which an artefact is used.
    fn fresh(&self, name: &str) -> Result<PathBuf, String> {
        let fresh = self.build.join("fresh").join(name);
        emptied(&fresh).map(|()| fresh)
    }

    /// Runs a program of a user who has no Rust, with `fresh` as home and current directory.
    /// Returns what it prints.
    fn alone(&self, fresh: &Path, line: &str) -> Result<String, String> {
        let path = tools::user_path(&self.build)?;
        let home = fresh.display().to_string();
        Invocation::new(line).alone().env("PATH", &path).env("HOME", &home).output(fresh)
    }

    /// Runs a program that compiles, in the directory of all builds.
    fn builder(&self, line: &str) -> Invocation {
        let build = self.build.display().to_string();
        let path = self.tools.path();
        Invocation::new(line).env("CARGO_TARGET_DIR", &build).env("PATH", &path)
    }

    /// Returns the only artefact whose name ends so.
    fn artefact(&self, end: &str) -> Result<PathBuf, String> {
        let mut files = crate::disk::files(&self.place)?;
        files.retain(|path| path.to_string_lossy().ends_with(end));
        match &files[..] {
            [one] => Ok(one.clone()),
            _ => Err(format!("{} files end in {end}", files.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn part_is_found_by_its_name() {
        assert_eq!(Part::named("sdist"), Ok(Part::Sdist));
        let error = Part::named("gems").unwrap_err();
        assert_eq!(error, "no part \"gems\"; there are command, wheel, sdist, npm, crates, sbom");
    }

    #[test]
    fn workflow_makes_every_part() {
        let path = crate::root().join(".github/workflows/release.yml");
        let workflow = std::fs::read_to_string(path).unwrap();
        for (name, _) in Part::ALL {
            assert!(workflow.contains(&format!("cargo xtask dist --only {name}")), "{name}");
        }
    }
}
