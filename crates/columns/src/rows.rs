//! Parses rows of texts on several threads.

use std::{fmt, ops::Range, str, thread};

use arrow_array::{Array, OffsetSizeTrait};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use llm_stream_guard::{MessageEnd, RowCounts, RowError, RowReader, RowSetting, RowSettings, Sink};

use crate::{
    columns::{ColumnOverflow, Columns},
    texts::TextArray,
};

/// Minimum number of rows for a thread.
const ROWS_OF_THREAD: usize = 64;

/// Maximum number of threads of a batch.
const THREADS: usize = 256;

/// The reason why a batch was not parsed.
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchError {
    /// A column is longer than its offsets can count.
    Overflow(ColumnOverflow),
    /// A row has an error, and errors of rows are errors of their batch.
    Row(usize, RowError),
    /// The array has another type than strings or bytes.
    Type(DataType),
    /// A column of settings has another number of rows than the texts.
    Length(RowSetting),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow(error) => error.fmt(f),
            Self::Row(row, error) => write!(f, "row {row}: {error}"),
            Self::Type(found) => write!(f, "expected an array of strings, found `{found}`"),
            Self::Length(setting) => {
                write!(f, "the column of {setting:?} has another length than the texts")
            }
        }
    }
}

impl std::error::Error for BatchError {}

/// The settings of a batch.
#[derive(Debug)]
pub struct BatchSettings<'s> {
    /// The reader of rows, of which each thread takes a clone.
    pub reader: &'s RowReader,
    /// The columns of the rows' own settings.
    pub rows: Vec<(RowSetting, TextArray<'s>)>,
    /// Whether the first row with an error ends the batch.
    pub raises: bool,
    /// The maximum number of threads.
    pub threads: usize,
}

impl BatchSettings<'_> {
    /// Checks that each column of settings has `len` rows.
    ///
    /// # Errors
    /// A column has another number of rows.
    pub fn check(&self, len: usize) -> Result<(), BatchError> {
        let other = self.rows.iter().find(|(_, values)| values.len() != len);
        other.map_or(Ok(()), |(setting, _)| Err(BatchError::Length(*setting)))
    }

    /// Returns the settings of a row.
    ///
    /// # Errors
    /// A setting is not UTF-8.
    pub fn of_row(&self, row: usize) -> Result<RowSettings<'_>, RowError> {
        let mut settings = RowSettings::default();
        for (setting, values) in &self.rows {
            let value = values.get(row).map(str::from_utf8).transpose();
            let fault = |_| RowError::Settings(format!("the {setting:?} of the row is not UTF-8"));
            settings.set(*setting, value.map_err(fault)?);
        }
        Ok(settings)
    }

    /// Returns the error of a row if it ends the batch.
    ///
    /// # Errors
    /// The row has an error, and errors end the batch.
    pub fn raised<T>(&self, row: usize, read: &Result<T, RowError>) -> Result<(), BatchError> {
        match read {
            Err(error) if self.raises => Err(BatchError::Row(row, error.clone())),
            _ => Ok(()),
        }
    }
}

/// A receiver of the rows of a range.
trait RowSink: Sink {
    /// Ends a row without a text.
    fn null(&mut self);

    /// Ends a row that has a text.
    fn end_row(&mut self, read: &Result<MessageEnd, RowError>, settings: &RowSettings<'_>);
}

impl<O: OffsetSizeTrait> RowSink for Columns<O> {
    fn null(&mut self) {
        Self::null(self);
    }

    fn end_row(&mut self, read: &Result<MessageEnd, RowError>, _: &RowSettings<'_>) {
        Self::end_row(self, read);
    }
}

impl RowSink for RowCounts {
    fn null(&mut self) {
        Self::null(self);
    }

    fn end_row(&mut self, read: &Result<MessageEnd, RowError>, settings: &RowSettings<'_>) {
        Self::end_row(self, read, settings.family);
    }
}

/// Parses each text of an array of strings or bytes. Each thread makes an array of its rows, in
/// their order.
///
/// # Errors
/// The array has another type, a column exceeds a limit, or a row has an error that ends the batch.
pub fn parse_texts(
    texts: &dyn Array,
    settings: &BatchSettings<'_>,
) -> Result<Vec<ArrayData>, BatchError> {
    let texts = TextArray::new(texts)?;
    match texts.is_large() {
        true => parse_rows::<i64>(&texts, settings),
        false => parse_rows::<i32>(&texts, settings),
    }
}

/// Counts the messages of an array of strings or bytes.
///
/// # Errors
/// As [`parse_texts`].
pub fn count_texts(
    texts: &dyn Array,
    settings: &BatchSettings<'_>,
) -> Result<RowCounts, BatchError> {
    let texts = TextArray::new(texts)?;
    settings.check(texts.len())?;
    let parts = on_threads(texts.len(), settings.threads, |range| {
        let mut counts = RowCounts::default();
        read_range(&texts, range, settings, &mut counts).map(|()| counts)
    });
    let mut all = RowCounts::default();
    parts?.iter().for_each(|part| all.merge(part));
    Ok(all)
}

/// Parses rows, a contiguous range on each thread.
fn parse_rows<O: OffsetSizeTrait>(
    texts: &TextArray<'_>,
    settings: &BatchSettings<'_>,
) -> Result<Vec<ArrayData>, BatchError> {
    settings.check(texts.len())?;
    on_threads(texts.len(), settings.threads, |range| {
        let mut columns = Columns::<O>::default();
        read_range(texts, range, settings, &mut columns)?;
        columns.finish().map_err(BatchError::Overflow)
    })
}

/// Runs `parse` for contiguous ranges of rows, each on its own thread.
///
/// # Errors
/// The first error of `parse`, in the order of rows.
pub fn on_threads<T: Send>(
    len: usize,
    threads: usize,
    parse: impl Fn(Range<usize>) -> Result<T, BatchError> + Sync,
) -> Result<Vec<T>, BatchError> {
    let of_thread = len.div_ceil(threads.clamp(1, THREADS)).max(ROWS_OF_THREAD);
    let ranges = (0..len).step_by(of_thread).map(|from| from..(from + of_thread).min(len));
    let parse = &parse;
    let mut ranges = ranges.collect::<Vec<_>>().into_iter();
    let first = ranges.next().unwrap_or(0..0);
    thread::scope(|scope| {
        let others: Vec<_> = ranges.map(|range| scope.spawn(move || parse(range))).collect();
        let first = parse(first);
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        [first].into_iter().chain(others).collect()
    })
}

/// Parses rows one after the other.
fn read_range(
    texts: &TextArray<'_>,
    range: Range<usize>,
    settings: &BatchSettings<'_>,
    sink: &mut impl RowSink,
) -> Result<(), BatchError> {
    let mut reader = settings.reader.clone();
    for row in range {
        let Some(text) = texts.get(row) else {
            sink.null();
            continue;
        };
        let (of_row, read) = match settings.of_row(row) {
            Ok(of_row) => (of_row, reader.read(text, &of_row, sink)),
            Err(error) => (RowSettings::default(), Err(error)),
        };
        settings.raised(row, &read)?;
        sink.end_row(&read, &of_row);
    }
    Ok(())
}
