//! Tables in other formats than JSON lines, which only another build of the command reads.

use std::{
    fs::File,
    io::{IsTerminal as _, Read as _, Write, stderr, stdout},
    path::Path,
};

use llm_stream_guard::{RowCounts, RowReader, RowSetting};

use crate::error::{Error, misuse};

/// The first bytes of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// Reads a table, and writes its rows with their messages.
pub type ParseTable = fn(&ColumnFile<'_>, &mut (dyn Write + Send)) -> Result<RowCounts, String>;

/// A Parquet file of texts, as `parse --column` was given it. [`run_with_tables`] hands it to the
/// function that reads it.
///
/// [`run_with_tables`]: crate::run_with_tables
#[derive(Debug)]
pub struct ColumnFile<'a> {
    /// The path of the file.
    pub path: &'a Path,
    /// The name of the column of texts.
    pub column: &'a str,
    /// The name of the column of messages.
    pub field: &'a str,
    /// The reader of the rows.
    pub reader: RowReader,
    /// The columns of the rows' own settings.
    pub row: &'a [(RowSetting, String)],
    /// Whether a row that cannot be read ends the command.
    pub raises: bool,
    /// Whether only counts are wanted.
    pub count: bool,
    /// The folder in which each row group is written to its own file.
    pub parts: Option<&'a Path>,
    /// The maximum number of threads that parse.
    pub threads: usize,
}

/// Returns whether a file begins like Parquet. Errors are reported when the file is read again.
pub(super) fn is_parquet(path: &Path) -> bool {
    let mut first = [0; PARQUET.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == PARQUET
}

/// Parses a table, if this build can.
pub(super) fn parse(
    table: &ColumnFile<'_>,
    parse: Option<ParseTable>,
    out: &mut (dyn Write + Send),
) -> Result<(), Error> {
    let path = table.path.display();
    let Some(parse) = parse else {
        let how = "build the command of `crates/columns` to read it";
        return Err(misuse(format!("{path} is a Parquet file; {how}")));
    };
    let writes = !table.count && table.parts.is_none();
    if writes && stdout().is_terminal() {
        return Err(misuse("Parquet is not written to a terminal; redirect the output to a file"));
    }
    let counts = parse(table, out).map_err(|fault| misuse(format!("{path}: {fault}")))?;
    report(&counts, table.count, out)
}

/// Writes the counts if they are wanted, and otherwise notes how many rows have an error.
pub(super) fn report(
    counts: &RowCounts,
    count: bool,
    out: &mut (dyn Write + Send),
) -> Result<(), Error> {
    if count {
        let text = serde_json::to_string(counts).map_err(misuse)?;
        writeln!(out, "{text}")?;
        out.flush()?;
    } else if counts.errors > 0 {
        let RowCounts { rows, errors, .. } = counts;
        // A failure to print this cannot be reported.
        let _ = writeln!(stderr(), "note: {errors} of {rows} rows have an error");
    }
    Ok(())
}
