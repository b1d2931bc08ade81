//! Parses rows of texts on several threads.

use std::{fmt, ops::Range, thread};

use arrow_array::{
    Array, ArrayAccessor, LargeStringArray, OffsetSizeTrait, StringArray, StringArrayType,
    StringViewArray,
};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use llm_stream_guard::{End, Guard, LimitError};

use crate::columns::{Columns, Overflow};

/// Minimum number of rows for a thread.
const ROWS_OF_THREAD: usize = 64;

/// Maximum number of threads of a batch.
const THREADS: usize = 256;

/// The reason why a batch was not parsed.
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchError {
    /// A column is longer than its offsets can count.
    Overflow(Overflow),
    /// A message exceeds a limit of the guard.
    Limit(LimitError),
    /// The vocabulary lacks this token.
    Token(u32),
    /// The array has another type than strings.
    Type(DataType),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow(error) => error.fmt(f),
            Self::Limit(error) => error.fmt(f),
            Self::Token(id) => write!(f, "the vocabulary has no token {id}"),
            Self::Type(found) => write!(f, "expected an array of strings, found `{found}`"),
        }
    }
}

impl std::error::Error for BatchError {}

/// The end of each message, and the maximum number of threads.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The reason why each answer ended.
    pub end: End,
    /// The maximum number of threads.
    pub threads: usize,
}

/// The rows of a batch, and how to parse them.
struct Rows<F> {
    len: usize,
    how: How,
    /// Returns the text of a row, or `None` for null.
    text: F,
}

/// Parses each text of an array of strings. Each thread makes an array of its rows, in their order.
///
/// # Errors
/// The array has another type, or a message or a column exceeds a limit.
pub fn parse_texts(
    guard: &Guard,
    texts: &dyn Array,
    how: How,
) -> Result<Vec<ArrayData>, BatchError> {
    let (any, len) = (texts.as_any(), texts.len());
    if let Some(array) = any.downcast_ref::<StringArray>() {
        parse_rows::<i32>(guard, Rows { len, how, text: |row| text(array, row) })
    } else if let Some(array) = any.downcast_ref::<LargeStringArray>() {
        parse_rows::<i64>(guard, Rows { len, how, text: |row| text(array, row) })
    } else if let Some(array) = any.downcast_ref::<StringViewArray>() {
        parse_rows::<i64>(guard, Rows { len, how, text: |row| text(array, row) })
    } else {
        Err(BatchError::Type(texts.data_type().clone()))
    }
}

/// Returns the text of a row, or `None` for null.
fn text<'a, A>(array: &'a A, row: usize) -> Option<&'a str>
where
    &'a A: StringArrayType<'a>,
    A: Array,
{
    array.is_valid(row).then(|| ArrayAccessor::value(&array, row))
}

/// Parses rows, a contiguous range on each thread.
fn parse_rows<'t, O: OffsetSizeTrait>(
    guard: &Guard,
    rows: Rows<impl Fn(usize) -> Option<&'t str> + Sync>,
) -> Result<Vec<ArrayData>, BatchError> {
    let Rows { len, how, text } = &rows;
    on_threads(*len, how.threads, |range| parse_range::<O>(guard.clone(), how.end, range.map(text)))
}

/// Runs `parse` for contiguous ranges of rows, each on its own thread.
///
/// # Errors
/// The first error of `parse`, in the order of rows.
pub fn on_threads(
    len: usize,
    threads: usize,
    parse: impl Fn(Range<usize>) -> Result<ArrayData, BatchError> + Sync,
) -> Result<Vec<ArrayData>, BatchError> {
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

/// Parses texts one after the other.
fn parse_range<'t, O: OffsetSizeTrait>(
    mut guard: Guard,
    end: End,
    texts: impl Iterator<Item = Option<&'t str>>,
) -> Result<ArrayData, BatchError> {
    let mut columns = Columns::<O>::default();
    for text in texts {
        let Some(text) = text else {
            columns.null();
            continue;
        };
        guard.push(text, &mut columns).map_err(BatchError::Limit)?;
        guard.finish(end, &mut columns).map_err(BatchError::Limit)?;
        guard.reset();
        columns.end_row();
    }
    columns.finish().map_err(BatchError::Overflow)
}
