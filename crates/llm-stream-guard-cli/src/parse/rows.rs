//! `parse --column`: adds the messages to the rows of a file.
//!
//! ```text
//! {"id": 7, "text": "<think>hm</think>Hi."}
//! {"id": 7, "text": "<think>hm</think>Hi.","message":{"content":"Hi.","reasoning":"hm",...}}
//! ```

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, BufRead, Write},
    num::NonZero,
    thread,
};

use indicatif::{ProgressBar, ProgressStyle};
use llm_stream_guard::{Call, End, Guard, Message, Outcome};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    guard, open,
    table::{self, ColumnFile, ParseTable},
};
use crate::{
    args::ParseArgs,
    error::{Error, misuse},
    limits::MAX_ROW_BYTES,
    lookup,
};

/// Number of lines that a thread takes at once.
const LINES: usize = 256;

/// The field that is added to each row.
const FIELD: &str = "message";

/// The settings of all rows.
struct Rows<'a> {
    guard: Guard,
    column: &'a str,
    end: End,
}

/// A message as the row's field.
#[derive(Serialize)]
struct MessageField<'m> {
    content: &'m str,
    reasoning: &'m str,
    calls: Vec<CallField<'m>>,
    outcome: &'static str,
    diagnostics: Vec<Notice>,
}

#[derive(Serialize)]
struct CallField<'m> {
    id: &'m str,
    name: &'m str,
    arguments: &'m str,
    outcome: &'static str,
}

#[derive(Serialize)]
struct Notice {
    kind: &'static str,
    at: u64,
    bytes: u64,
    call: Option<u32>,
}

impl<'m> MessageField<'m> {
    fn of(message: &'m Message) -> Self {
        let mut worst = Outcome::Complete;
        let call = |Call { id, name, arguments, outcome, .. }: &'m Call| {
            let outcome = outcome.unwrap_or(Outcome::Incomplete);
            worst = worst.worse(outcome);
            CallField { id, name, arguments, outcome: outcome.name() }
        };
        let calls: Vec<_> = message.calls.iter().map(call).collect();
        let notices = message.diagnostics.iter().map(|it| Notice {
            kind: it.kind.name(),
            at: it.at,
            bytes: it.bytes,
            call: it.call,
        });
        let diagnostics = notices.collect();
        let Message { content, reasoning, .. } = message;
        Self { content, reasoning, calls, outcome: worst.name(), diagnostics }
    }
}

/// Parses the texts of a column, on all cores. Rows keep their order and their bytes.
///
/// # Errors
/// No family is named, a line is not an object, or its column is not a text.
pub(super) fn parse_rows(
    args: &ParseArgs,
    column: &str,
    (out, tables): (&mut (dyn Write + Send), Option<ParseTable>),
) -> Result<(), Error> {
    let reading = &args.reading;
    let Some(profile) = lookup::told(reading)? else {
        return Err(misuse("--column needs --family, --model, --grammar or --template"));
    };
    let end = reading.settings.finish.unwrap_or(End::Stop);
    let guard = guard(reading, &profile)?;
    let threads = args.rows.threads;
    let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
    let path = reading.file.as_path();
    if !args.rows.jsonl && table::is_parquet(path) {
        let table = ColumnFile { path, column, field: FIELD, guard, end, threads };
        return table::parse(&table, tables, out);
    }
    let rows = Rows { guard, column, end };
    let bar = bar(args);
    if path.as_os_str() == "-" {
        return write_rows(&rows, &mut bar.wrap_read(io::stdin().lock()), (threads, out));
    }
    let file = bar.wrap_read(open(path)?.0);
    let written = write_rows(&rows, &mut io::BufReader::new(file), (threads, out));
    bar.finish_and_clear();
    written
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

/// Reads lines, parses them on several threads, and writes them in order.
fn write_rows(
    rows: &Rows<'_>,
    input: &mut dyn BufRead,
    (threads, out): (usize, &mut (dyn Write + Send)),
) -> Result<(), Error> {
    let mut number = 0;
    loop {
        let lines = read_lines(input, threads.saturating_mul(LINES))?;
        if lines.is_empty() {
            out.flush()?;
            return Ok(());
        }
        let per_thread = lines.len().div_ceil(threads).max(1);
        let parts = thread::scope(|scope| {
            let parts = lines.chunks(per_thread).enumerate().map(|(part, lines)| {
                let first = number + part * per_thread;
                scope.spawn(move || rows.parse(first, lines))
            });
            let parts: Vec<_> = parts.collect();
            let joined = parts
                .into_iter()
                .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Vec<_>>()
        });
        for part in parts {
            out.write_all(&part?)?;
        }
        number += lines.len();
    }
}

/// Reads the next lines: at most `count`, or fewer if they are long.
fn read_lines(input: &mut dyn BufRead, count: usize) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while lines.len() < count && bytes < MAX_ROW_BYTES {
        let mut line = String::new();
        let most = u64::try_from(MAX_ROW_BYTES).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut *input, most).read_line(&mut line).map_err(misuse)?;
        if read == 0 {
            break;
        }
        if read == MAX_ROW_BYTES && !line.ends_with('\n') {
            return Err(misuse(format!("a line is longer than {MAX_ROW_BYTES} bytes")));
        }
        bytes += read;
        lines.push(line);
    }
    Ok(lines)
}

impl Rows<'_> {
    /// Returns lines with their messages. `first` is the number of lines before them.
    fn parse(&self, first: usize, lines: &[String]) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            self.row(line, &mut out)
                .map_err(|fault| misuse(format!("line {}: {fault}", first + at + 1)))?;
        }
        Ok(out)
    }

    /// Writes a line with its message. The message of a missing text or null is null.
    fn row(&self, line: &str, out: &mut Vec<u8>) -> Result<(), String> {
        let fields: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(line).map_err(|error| format!("expected an object: {error}"))?;
        if fields.contains_key(FIELD) {
            return Err(format!("the row has a field `{FIELD}`"));
        }
        let text = match fields.get(self.column) {
            None => None,
            Some(value) => serde_json::from_str::<Option<String>>(value.get())
                .map_err(|_| format!("expected a text at `{}`", self.column))?,
        };
        let object = line.strip_suffix('}').unwrap_or(line);
        out.extend_from_slice(object.as_bytes());
        out.extend_from_slice(if fields.is_empty() { b"\"" } else { b",\"" });
        out.extend_from_slice(FIELD.as_bytes());
        out.extend_from_slice(b"\":");
        let field = text.map(|text| self.guard.parse(&text, self.end)).transpose();
        let message = field.map_err(|error| error.to_string())?;
        serde_json::to_writer(&mut *out, &message.as_ref().map(MessageField::of))
            .map_err(|error| error.to_string())?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}
