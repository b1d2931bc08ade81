//! `parse --column`: adds the messages to the rows of a file.
//!
//! ```text
//! {"id": 7, "text": "<think>hm</think>Hi."}
//! {"id": 7, "text": "<think>hm</think>Hi.","message":{"content":"Hi.","reasoning":"hm",...}}
//! ```

mod line;

use std::{
    io::{self, BufRead, Write},
    num::NonZero,
    sync::Arc,
    thread,
};

use indicatif::{ProgressBar, ProgressStyle};
use llm_stream_guard::{
    CompileRow, End, Event, Message, RowCounts, RowError, RowReader, RowSetting, RowSettings,
};

use self::line::{FieldNames, LineError, Row, RowLine, write_error};
use super::{
    builder_with, open, read_settings,
    table::{self, ColumnFile, ParseTable},
};
use crate::{
    args::{OnError, ParseArgs},
    error::{Error, misuse},
    limits::MAX_ROW_BYTES,
    lookup,
};

/// Number of lines that a thread takes at once.
const LINES: usize = 256;

/// The settings of all rows.
#[derive(Debug)]
struct Rows {
    names: FieldNames,
    on_error: OnError,
    /// Whether only counts are wanted.
    count: bool,
}

/// The rows of a thread: what is written for them, and their counts.
#[derive(Debug, Default)]
struct ReadRows {
    written: Vec<u8>,
    counts: RowCounts,
}

/// A line of a file, with its number from 1.
#[derive(Debug)]
struct NumberedLine {
    number: usize,
    /// The line without the white space around it.
    bytes: Vec<u8>,
    /// Whether the line is longer than a row may be. Its bytes were then dropped.
    is_too_long: bool,
}

/// Parses the texts of a column, on all cores. Rows keep their order and their bytes.
///
/// # Errors
/// No family is named, a line already has a field of messages, or a row cannot be read and errors
/// end the command.
pub(super) fn parse_rows(
    args: &ParseArgs,
    column: &str,
    (out, tables): (&mut (dyn Write + Send), Option<ParseTable>),
) -> Result<(), Error> {
    let (reading, rows) = (&args.reading, &args.rows);
    let threads = rows.threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZero::get);
    let end = reading.settings.finish.unwrap_or(End::Stop);
    let reader = RowReader::new(end, compile(args)?);
    let path = reading.file.as_path();
    if !rows.jsonl && table::is_parquet(path) {
        let table = ColumnFile {
            path,
            column,
            field: &rows.into,
            reader,
            row: &rows.row,
            raises: rows.on_error == OnError::Raise,
            count: rows.count,
            parts: rows.parts.as_deref(),
            threads,
        };
        return table::parse(&table, tables, out);
    }
    if rows.parts.is_some() {
        return Err(misuse("--parts needs a Parquet file"));
    }
    let names =
        FieldNames { column: column.to_owned(), into: rows.into.clone(), row: rows.row.clone() };
    let all = Rows { names, on_error: rows.on_error, count: rows.count };
    let bar = bar(args);
    let mut readers = vec![reader; threads];
    let counts = match path.as_os_str() == "-" {
        true => all.write(&mut bar.wrap_read(io::stdin().lock()), &mut readers, out),
        false => {
            let file = bar.wrap_read(open(path)?.0);
            all.write(&mut io::BufReader::new(file), &mut readers, out)
        }
    }?;
    bar.finish_and_clear();
    table::report(&counts, rows.count, out)
}

/// Returns a function that compiles the guard of a row. That of a row without settings is compiled
/// once, so that a fault in the arguments ends the command.
fn compile(args: &ParseArgs) -> Result<CompileRow, Error> {
    let named = lookup::told(&args.reading)?;
    let names_family =
        |(setting, _): &(RowSetting, _)| matches!(setting, RowSetting::Family | RowSetting::Model);
    if named.is_none() && !args.rows.row.iter().any(names_family) {
        return Err(misuse("--column needs --family, --model, --grammar or --template"));
    }
    let settings = read_settings(&args.reading.settings)?;
    if let Some(profile) = &named {
        builder_with(&settings, profile)?.build().map_err(misuse)?;
    }
    Ok(Arc::new(move |row: &RowSettings<'_>| {
        let profile = row.profile(named.as_ref())?;
        let builder = builder_with(&settings, &profile).map_err(|error| error.to_string())?;
        row.set_in(builder)?.build().map_err(|error| error.to_string())
    }))
}

/// Returns a progress bar on a terminal, over the bytes of the file.
fn bar(args: &ParseArgs) -> ProgressBar {
    let len = std::fs::metadata(&args.reading.file).map_or(0, |metadata| metadata.len());
    let bar = ProgressBar::new(len);
    let template = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) if len > 0 => bar.with_style(style),
        _ => ProgressBar::hidden(),
    }
}

impl Rows {
    /// Reads lines, parses them with one reader on each thread, and writes them in order.
    fn write(
        &self,
        input: &mut dyn BufRead,
        readers: &mut [RowReader],
        out: &mut (dyn Write + Send),
    ) -> Result<RowCounts, Error> {
        let (mut number, mut counts) = (0, RowCounts::default());
        loop {
            let lines = read_lines(input, readers.len().saturating_mul(LINES), &mut number)?;
            if lines.is_empty() {
                out.flush()?;
                return Ok(counts);
            }
            let per_thread = lines.len().div_ceil(readers.len()).max(1);
            let parts = thread::scope(|scope| {
                let parts = lines.chunks(per_thread).zip(&mut *readers);
                let parts: Vec<_> =
                    parts.map(|(lines, reader)| scope.spawn(|| self.read(lines, reader))).collect();
                let joined = parts.into_iter().map(|part| {
                    part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                joined.collect::<Vec<_>>()
            });
            for part in parts {
                let ReadRows { written, counts: more } = part?;
                out.write_all(&written)?;
                counts.merge(&more);
            }
        }
    }

    /// Reads lines one after the other.
    fn read(&self, lines: &[NumberedLine], reader: &mut RowReader) -> Result<ReadRows, Error> {
        let mut read = ReadRows::default();
        for line in lines {
            if !line.bytes.is_empty() || line.is_too_long {
                self.line(line, reader, &mut read)
                    .map_err(|fault| misuse(format!("line {}: {fault}", line.number)))?;
            }
        }
        Ok(read)
    }

    /// Reads a line. The message of a missing text or null is null.
    fn line(
        &self,
        NumberedLine { number, bytes, is_too_long }: &NumberedLine,
        reader: &mut RowReader,
        read: &mut ReadRows,
    ) -> Result<(), String> {
        let found = match *is_too_long {
            true => Err(LineError::NoObject(format!("longer than {MAX_ROW_BYTES} bytes"))),
            false => RowLine::read(bytes, &self.names),
        };
        let (line, row) = match found {
            Ok(found) => found,
            Err(LineError::Taken(name)) => return Err(format!("the row has a field `{name}`")),
            Err(LineError::NoObject(fault)) => {
                self.check(&fault)?;
                read.counts.end_row(&Err(RowError::Settings(String::new())), None);
                if !self.count {
                    write_error(&self.names, *number, &fault, &mut read.written);
                }
                return Ok(());
            }
        };
        let mut message = Message::default();
        let ended = match &row {
            Ok(Row { text: None, .. }) => {
                read.counts.null();
                if !self.count {
                    line.write(&self.names, None, &mut read.written);
                }
                return Ok(());
            }
            Ok(row @ Row { text: Some(text), .. }) => {
                let mut sink = |event: Event<'_>| match self.count {
                    true => llm_stream_guard::Sink::event(&mut read.counts, event),
                    false => message.collect(event),
                };
                reader.read(text.as_bytes(), &row.settings(), &mut sink)
            }
            Err(fault) => Err(RowError::Settings(fault.clone())),
        };
        let family = row.as_ref().ok().and_then(|row| row.settings().family);
        read.counts.end_row(&ended, family);
        let ended = ended.map_err(|error| error.to_string());
        if let Err(fault) = &ended {
            self.check(fault)?;
        }
        if !self.count {
            let ended = ended.as_ref().map(|end| *end).map_err(String::as_str);
            line.write(&self.names, Some((&message, ended)), &mut read.written);
        }
        Ok(())
    }

    /// Returns the fault of a row if it ends the command.
    fn check(&self, fault: &str) -> Result<(), String> {
        match self.on_error {
            OnError::Row => Ok(()),
            OnError::Raise => Err(fault.to_owned()),
        }
    }
}

/// Reads the next lines: at most `count`, or fewer if they are long. `number` counts them.
fn read_lines(
    input: &mut dyn BufRead,
    count: usize,
    number: &mut usize,
) -> Result<Vec<NumberedLine>, Error> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while lines.len() < count && bytes < MAX_ROW_BYTES {
        let mut line = Vec::new();
        let most = u64::try_from(MAX_ROW_BYTES).unwrap_or(u64::MAX);
        let read =
            io::Read::take(&mut *input, most).read_until(b'\n', &mut line).map_err(misuse)?;
        if read == 0 {
            break;
        }
        *number += 1;
        let is_too_long = read == MAX_ROW_BYTES && !line.ends_with(b"\n");
        if is_too_long {
            line = Vec::new();
            input.skip_until(b'\n').map_err(misuse)?;
        }
        bytes += read;
        let bytes = line.trim_ascii().to_vec();
        lines.push(NumberedLine { number: *number, bytes, is_too_long });
    }
    Ok(lines)
}
