//! Development tasks of this workspace: `cargo xtask help` lists them.

mod bench;
mod book;
mod ci;
mod compare;
mod cycles;
mod disk;
mod dist;
mod drift;
mod e2e;
mod examples;
mod families;
mod flags;
mod fuzz;
mod grammars;
mod js;
mod manifest;
mod mutants;
#[cfg(test)]
mod no_std;
mod page;
mod process;
mod python;
#[cfg(test)]
mod readmes;
mod release;
mod seeded;
mod source;
mod templates;
mod tidy;
mod type_names;
mod usage;
mod words;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use flags::{Against, Command, Compared, Tables};

fn main() -> ExitCode {
    let command = match flags::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("xtask: {error}\n\n{}", usage::USAGE);
            return ExitCode::from(2);
        }
    };
    let root = root();
    let result = match command {
        Command::Help => {
            println!("{}", usage::USAGE);
            Ok(())
        }
        Command::Ci(scope) => ci::run(&root, scope),
        Command::E2e(Against::Clients) => e2e::run(&root),
        Command::E2e(Against::Crowd) => e2e::soak(&root),
        Command::Engines { cache } => e2e::engines(&root, cache),
        Command::Page => page::run(&root),
        Command::Js(depth) => js::run(&root, depth),
        Command::Python(depth) => python::run(&root, depth),
        Command::Book => book::run(&root),
        Command::Tidy => tidy::run(&root),
        Command::Drift { wheels, keep } => drift::run(&root, wheels.as_deref(), keep),
        Command::Families(Tables::Written) => families::run(&root),
        Command::Families(Tables::Checked) => families::check(&root),
        Command::Bench { pace, filter } => bench::run(&root, pace, filter.as_deref()),
        Command::Compare(Compared::Fixtures) => compare::fixtures(&root),
        Command::Compare(Compared::Old { revision, further }) => {
            compare::with_old(&root, &revision, further.as_deref())
        }
        Command::Compare(Compared::Vectors { further }) => compare::run(&root, further.as_deref()),
        Command::Fuzz { effort, target } => fuzz::run(&root, effort, target.as_deref()),
        Command::Mutants { part, shard } => mutants::run(&root, part.as_deref(), shard.as_deref()),
        Command::Seeded => seeded::run(&root),
        Command::Seed { target } => fuzz::seed(&root, target.as_deref()),
        Command::Templates { count, seed } => templates::run(&root, count, seed.unwrap_or(1)),
        Command::Grammars { count } => grammars::run(&root, count),
        Command::Dist(wanted) => dist::run(&root, &wanted),
        Command::Release { mode, crates } => release::run(&root, mode, &crates),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the root of the workspace, wherever the command was called.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies below the root").to_owned()
}
