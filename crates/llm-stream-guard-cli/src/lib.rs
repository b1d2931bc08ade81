//! The `llm-stream-guard` command: `parse` or `explain` a stream, `check` vectors, `encode` calls,
//! `detect` and `identify` families, list `families`, `serve` as a proxy.
//!
//! The command is a library, so that tests and other tools of the workspace can call it.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod args;
mod check;
mod derive;
mod detect;
mod encode;
mod error;
mod explain;
mod families;
mod identify;
mod input;
mod limits;
mod lookup;
mod parse;
mod pattern;
mod serve;
mod tokens;

use std::{
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use args::{Command, CompletionsArgs};
use clap::CommandFactory as _;
use error::Error;

pub use args::Cli;
pub use check::{machine_for, machine_with};
pub use parse::{ColumnFile, ParseTable};

/// Runs a command. The exit code is 0 if it succeeded and 2 for misuse. The code 1 means: `check`
/// found failures, `detect` or `identify` found no family, or `serve --healthcheck` found no live
/// proxy.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    exit_code(dispatch(cli, None))
}

/// Runs a command like [`run`], in which `parse --column` also reads Parquet files with `tables`.
#[must_use]
pub fn run_with_tables(cli: &Cli, tables: ParseTable) -> ExitCode {
    exit_code(dispatch(cli, Some(tables)))
}

fn exit_code(ran: Result<bool, Error>) -> ExitCode {
    match ran {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            // A failure to print this cannot be reported.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes the completions of a shell.
fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> Result<(), Error> {
    // The writer panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}

fn dispatch(cli: &Cli, tables: Option<ParseTable>) -> Result<bool, Error> {
    let mut out = BufWriter::new(io::stdout());
    match &cli.command {
        Command::Parse(args) => parse::parse(args, tables, &mut out).map(|()| true),
        Command::Explain(args) => explain::explain(args, &mut out).map(|()| true),
        Command::Check(args) => check::check(args, &mut out),
        Command::Detect(args) => detect::detect(args, &mut out),
        Command::Identify(args) => identify::identify(args, &mut out),
        Command::Derive(args) => derive::derive(args, &mut out).map(|()| true),
        Command::Encode(args) => encode::encode(args, &mut out).map(|()| true),
        Command::Families(args) => families::families(args, &mut out).map(|()| true),
        Command::Serve(args) => serve::serve(args, &mut out),
        Command::Completions(args) => completions(args, &mut out).map(|()| true),
    }
}
