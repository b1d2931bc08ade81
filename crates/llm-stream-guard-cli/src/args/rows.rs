//! Arguments of `parse --column`.

use std::{num::NonZero, path::PathBuf};

use clap::{Args, ValueEnum};
use llm_stream_guard::RowSetting;

/// Arguments of `parse` for rows of whole texts.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Read rows of whole texts, and add the message of the text in this column or field
    ///
    /// Rows are JSON lines or a Parquet file, keep their order, and are written in the same format. A
    /// missing text gives null. Needs a family, a model, a grammar, a template, or `--row` with one
    /// of the first two.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["output", "input", "chunk"])]
    pub(crate) column: Option<String>,
    /// Name of the column or field that is added
    #[arg(long, value_name = "NAME", requires = "column", default_value = "message")]
    pub(crate) into: String,
    /// Take a setting of each row from another column or field, such as `finish=finish_reason`
    ///
    /// Settings are `family`, `model`, `tools`, `prompt`, `finish` and `key`. Ids of calls that the
    /// model did not write are made of the key, and otherwise count the calls of each row. Where the
    /// column is null, the option for all rows counts.
    #[arg(long = "row", value_name = "SETTING=NAME", requires = "column", value_parser = row)]
    pub(crate) row: Vec<(RowSetting, String)>,
    /// Whether a row that cannot be read has an `error` in its message, or ends the command
    #[arg(long, value_enum, requires = "column", default_value_t)]
    pub(crate) on_error: OnError,
    /// Print counts of the messages, in place of the rows
    #[arg(long, requires = "column")]
    pub(crate) count: bool,
    /// Write each row group of a Parquet file to a separate file in DIR
    ///
    /// Files that DIR already has are not written again, so that a run that was stopped can be
    /// repeated.
    #[arg(long, value_name = "DIR", requires = "column", conflicts_with_all = ["count", "jsonl"])]
    pub(crate) parts: Option<PathBuf>,
    /// The rows are JSON lines
    #[arg(long, requires = "column")]
    pub(crate) jsonl: bool,
    /// Number of threads that parse [default: as many as there are cores]
    #[arg(long, value_name = "N", requires = "column")]
    pub(crate) threads: Option<NonZero<usize>>,
}

/// The effect of a row that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OnError {
    /// The row's message has the field `error`, and the other rows are read.
    #[default]
    Row,
    /// The command ends with an error that names the row.
    Raise,
}

/// Reads `SETTING=NAME`.
fn row(text: &str) -> Result<(RowSetting, String), String> {
    let (setting, column) = text.split_once('=').ok_or("expected SETTING=NAME")?;
    let setting = setting.parse::<RowSetting>().map_err(|error| error.to_string())?;
    Ok((setting, column.to_owned()))
}
