//! The command line: its tasks and their options.

use std::{ffi::OsString, path::PathBuf};

use lexopt::{Arg, Error, Parser, ValueExt};

use crate::{
    dist::{Part, Wanted},
    fuzz::Effort,
};

/// The default effort for each fuzz target.
const EFFORT: Effort = Effort { seconds: 60, jobs: 1 };

/// The default number of wires compared with the reference.
const WIRES: u32 = 500;

/// The default number of random texts of each grammar.
const TEXTS: u32 = 1000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Ci(Scope),
    Tidy,
    /// With `keep`, the hashes of the wheels' sources are written and not compared.
    Drift {
        wheels: Option<PathBuf>,
        keep: bool,
    },
    Families(Tables),
    E2e(Against),
    /// Without a directory, the engines are installed in that of the user's caches.
    Engines {
        cache: Option<PathBuf>,
    },
    Compare(Compared),
    Page,
    Js(Depth),
    Python(Depth),
    Book,
    Seeded,
    Mutants {
        part: Option<String>,
        shard: Option<String>,
    },
    /// Only [`Pace::Peers`] has a filter.
    Bench {
        pace: Pace,
        filter: Option<String>,
    },
    Fuzz {
        effort: Effort,
        target: Option<String>,
    },
    Seed {
        target: Option<String>,
    },
    Templates {
        count: u32,
        seed: Option<u32>,
    },
    Grammars {
        count: u32,
    },
    Release {
        mode: Mode,
        crates: Vec<String>,
    },
    Dist(Wanted),
}

/// The clients that `serve` is tested with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    Clients,
    /// Many streams at once.
    Crowd,
}

/// The inputs of `compare`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The project's vectors, and those of a directory, under the parsers of others.
    Vectors { further: Option<PathBuf> },
    /// The fixtures of a public suite, under this project.
    Fixtures,
    /// All texts at hand, under a revision and under the working tree.
    Old { revision: String, further: Option<PathBuf> },
}

/// The extent of the checks of `ci`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The checks that a change may break.
    Change,
    /// In addition, checks that rarely fail and take long: other features and compilers, fuzz
    /// targets.
    Full,
    /// The checks of one job.
    Job(Job),
}

/// A part of the checks. Each is a job of the continuous integration, so that its name says what
/// failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    /// Formatting and house rules.
    Tidy,
    Clippy,
    Test,
    Docs,
    /// The oldest compiler that the libraries promise.
    Msrv,
    /// The libraries without default features, and with each feature alone.
    Features,
    /// Licences and advisories.
    Deny,
    /// Lock files of the workspaces outside the main one.
    Locks,
    Python,
    Js,
}

impl Job {
    /// All jobs with their names. The fastest come first.
    pub(crate) const ALL: [(&'static str, Self); 10] = [
        ("tidy", Self::Tidy),
        ("locks", Self::Locks),
        ("python", Self::Python),
        ("js", Self::Js),
        ("clippy", Self::Clippy),
        ("test", Self::Test),
        ("docs", Self::Docs),
        ("features", Self::Features),
        ("msrv", Self::Msrv),
        ("deny", Self::Deny),
    ];
}

/// The action on the generated tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    Written,
    /// Tables are only compared. Stale tables and faults are reported.
    Checked,
}

/// The extent of the checks of a package for another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Style and types of the sources.
    Quick,
    /// Also the built package and its tests.
    Whole,
}

/// The selection of benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// The table of ratios.
    Table,
    /// The table, each profile in it.
    EachProfile,
    /// The ratios of other parsers for the same works.
    Peers,
    /// The number of instructions.
    Count(Counted),
}

/// The action on counted instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Printed,
    /// The counts are compared with the kept ones.
    Compared,
    /// The counts are kept for later comparisons.
    Kept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    DryRun,
    Publish,
}

/// Parses the arguments after the program's name.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Error> {
    let mut parser = Parser::from_args(args);
    let name = match parser.next()? {
        None | Some(Arg::Short('h') | Arg::Long("help")) => return Ok(Command::Help),
        Some(Arg::Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected()),
    };
    let mut command = match name.as_str() {
        "help" => Command::Help,
        "ci" => Command::Ci(Scope::Change),
        "e2e" => Command::E2e(Against::Clients),
        "compare" => Command::Compare(Compared::Vectors { further: None }),
        "page" => Command::Page,
        "js" => Command::Js(Depth::Whole),
        "python" => Command::Python(Depth::Whole),
        "book" => Command::Book,
        "seeded" => Command::Seeded,
        "mutants" => Command::Mutants { part: None, shard: None },
        "tidy" => Command::Tidy,
        "drift" => Command::Drift { wheels: None, keep: false },
        "families" => Command::Families(Tables::Written),
        "bench" => Command::Bench { pace: Pace::Table, filter: None },
        "fuzz" => Command::Fuzz { effort: EFFORT, target: None },
        "templates" => Command::Templates { count: WIRES, seed: None },
        "grammars" => Command::Grammars { count: TEXTS },
        "dist" => Command::Dist(Wanted::default()),
        "release" => Command::Release { mode: Mode::Publish, crates: Vec::new() },
        _ => return Err(format!("unknown command {name:?}").into()),
    };
    while let Some(arg) = parser.next()? {
        match (&mut command, arg) {
            (_, Arg::Short('h') | Arg::Long("help")) => return Ok(Command::Help),
            (Command::Ci(scope), Arg::Long("full")) => *scope = Scope::Full,
            (Command::Ci(scope), Arg::Long("job")) => {
                let name = parser.value()?.string()?;
                let known = Job::ALL.iter().find(|(known, _)| *known == name);
                let names = || Job::ALL.map(|(name, _)| name).join(", ");
                let unknown = || Error::from(format!("no job {name:?}; there are {}", names()));
                *scope = known.map(|(_, job)| Scope::Job(*job)).ok_or_else(unknown)?;
            }
            (Command::Compare(compared), Arg::Long("fixtures")) => *compared = Compared::Fixtures,
            (
                Command::Compare(compared @ Compared::Vectors { further: None }),
                Arg::Long("old"),
            ) => {
                let revision = parser.value()?.string()?;
                *compared = Compared::Old { revision, further: None };
            }
            (Command::E2e(against), Arg::Long("soak")) => *against = Against::Crowd,
            (Command::E2e(Against::Clients), Arg::Long("engines")) => {
                command = Command::Engines { cache: None };
            }
            (Command::Families(tables), Arg::Long("check")) => *tables = Tables::Checked,
            (Command::Js(depth) | Command::Python(depth), Arg::Long("check")) => {
                *depth = Depth::Quick;
            }
            (
                Command::Drift { wheels: directory @ None, .. }
                | Command::Engines { cache: directory @ None }
                | Command::Compare(
                    Compared::Vectors { further: directory @ None }
                    | Compared::Old { further: directory @ None, .. },
                ),
                Arg::Value(path),
            ) => *directory = Some(path.into()),
            (Command::Drift { keep, .. }, Arg::Long("keep")) => *keep = true,
            (Command::Bench { pace, .. }, Arg::Long(flag)) => {
                *pace = match flag {
                    "all" => Pace::EachProfile,
                    "peers" => Pace::Peers,
                    "count" => Pace::Count(Counted::Printed),
                    "gate" => Pace::Count(Counted::Compared),
                    "keep" => Pace::Count(Counted::Kept),
                    _ => return Err(arg_error(flag)),
                };
            }
            (Command::Bench { filter: filter @ None, .. }, Arg::Value(text)) => {
                *filter = Some(text.string()?);
            }
            (Command::Fuzz { effort, .. }, Arg::Long("seconds")) => {
                effort.seconds = parser.value()?.parse()?;
            }
            (Command::Fuzz { effort, .. }, Arg::Long("jobs")) => {
                effort.jobs = parser.value()?.parse()?;
            }
            (Command::Fuzz { effort: EFFORT, target: None }, Arg::Value(name))
                if name == "seed" =>
            {
                command = Command::Seed { target: None };
            }
            (
                Command::Fuzz { target: target @ None, .. }
                | Command::Seed { target: target @ None },
                Arg::Value(name),
            ) => *target = Some(name.string()?),
            (Command::Mutants { part: part @ None, .. }, Arg::Value(name)) => {
                *part = Some(name.string()?);
            }
            (Command::Mutants { shard: shard @ None, .. }, Arg::Long("shard")) => {
                *shard = Some(parser.value()?.string()?);
            }
            (
                Command::Templates { count, .. } | Command::Grammars { count },
                Arg::Long("count"),
            ) => {
                *count = parser.value()?.parse()?;
            }
            (Command::Templates { seed: seed @ None, .. }, Arg::Value(number)) => {
                *seed = Some(number.parse()?);
            }
            (Command::Dist(wanted), Arg::Long("only")) => {
                wanted.only = Some(Part::named(&parser.value()?.string()?)?);
            }
            (Command::Dist(wanted), Arg::Long("target")) => {
                wanted.target = Some(parser.value()?.string()?);
            }
            (Command::Dist(Wanted { place: place @ None, .. }), Arg::Value(path)) => {
                *place = Some(path.into());
            }
            (Command::Release { mode, .. }, Arg::Long("dry-run")) => *mode = Mode::DryRun,
            (Command::Release { crates, .. }, Arg::Value(name)) => crates.push(name.string()?),
            (_, other) => return Err(other.unexpected()),
        }
    }
    match &command {
        Command::Bench { pace, filter: Some(text) } if *pace != Pace::Peers => {
            Err(Error::UnexpectedArgument(text.into()))
        }
        _ => Ok(command),
    }
}

fn arg_error(flag: &str) -> Error {
    Error::UnexpectedOption(format!("--{flag}"))
}

#[cfg(test)]
mod tests;
