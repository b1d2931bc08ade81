//! The `llm-stream-guard` binary.

use std::process::ExitCode;

use clap::Parser as _;
use llm_stream_guard_cli::{Cli, run};

fn main() -> ExitCode {
    run(&Cli::parse())
}
