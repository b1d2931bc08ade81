//! The `llm-stream-guard` binary with Parquet.

use std::process::ExitCode;

use clap::Parser as _;
use llm_stream_guard_cli::{Cli, run_with_tables};

fn main() -> ExitCode {
    run_with_tables(&Cli::parse(), message_columns::parse_parquet)
}
