//! Tables in other formats than JSON lines, which only another build of the command reads.

use std::{
    fs::File,
    io::{IsTerminal as _, Read as _, Write, stdout},
    path::Path,
};

use llm_stream_guard::{End, Guard};

use crate::error::{Error, misuse};

/// The first bytes of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// Reads a table, and writes its rows with their messages.
pub type ParseTable = fn(&ColumnFile<'_>, &mut (dyn Write + Send)) -> Result<(), String>;

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
    /// The guard of the family.
    pub guard: Guard,
    /// The reason why each answer ended.
    pub end: End,
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
        let how = "build the command of `bindings/columns` to read it";
        return Err(misuse(format!("{path} is a Parquet file; {how}")));
    };
    if stdout().is_terminal() {
        return Err(misuse("Parquet is not written to a terminal; redirect the output to a file"));
    }
    parse(table, out).map_err(|fault| misuse(format!("{path}: {fault}")))
}
