//! Arguments of `parse --column`.

use std::num::NonZero;

use clap::Args;

/// Arguments of `parse` for rows of whole texts.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Read rows of whole texts, and add the message of the text in this column or field
    ///
    /// Rows are JSON lines or a Parquet file, keep their order, and are written in the same format. A
    /// missing text gives null. Needs a family, a model, a grammar or a template.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["output", "input", "chunk"])]
    pub(crate) column: Option<String>,
    /// The rows are JSON lines
    #[arg(long, requires = "column")]
    pub(crate) jsonl: bool,
    /// Number of threads that parse [default: as many as there are cores]
    #[arg(long, value_name = "N", requires = "column")]
    pub(crate) threads: Option<NonZero<usize>>,
}
