//! Arguments of `parse --jsonl`.

use std::num::NonZero;

use clap::Args;

/// Arguments of `parse` for rows of whole texts.
#[derive(Debug, Args)]
pub(crate) struct RowsArgs {
    /// Read JSON lines, each an object with a whole text, and add its message as a field
    ///
    /// Rows keep their order. A missing text gives null. Needs a family, a model or a template.
    #[arg(long, requires = "column", conflicts_with_all = ["output", "input", "chunk", "grammar"])]
    pub(crate) jsonl: bool,
    /// The field of each row that has the text
    #[arg(long, value_name = "NAME", requires = "jsonl")]
    pub(crate) column: Option<String>,
    /// Number of threads that parse [default: as many as there are cores]
    #[arg(long, value_name = "N", requires = "jsonl")]
    pub(crate) threads: Option<NonZero<usize>>,
}
