//! Columns of texts: an Arrow array in, an Arrow array of messages out.
//!
//! ```text
//! ["<think>hm</think>Hi.", null]
//! [{content: "Hi.", reasoning: "hm", calls: [], outcome: "complete", diagnostics: []}, null]
//! ```

mod columns;
mod tokens;

use std::{ops::Range, thread};

use arrow_array::{
    Array, ArrayAccessor, LargeStringArray, OffsetSizeTrait, StringArray, StringArrayType,
    StringViewArray, make_array,
};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use llm_stream_guard::{End, Guard, Ids, LimitError};
use pyo3::{
    exceptions::{PyIndexError, PyOverflowError, PyTypeError},
    prelude::*,
    types::PyDict,
};

use self::columns::{Columns, Overflow};
pub(crate) use self::tokens::{Vocabulary, parse_token_batch};
use crate::{convert::end, settings::Settings, stream_error};

/// Minimum number of rows for a thread.
const ROWS_OF_THREAD: usize = 64;

/// Maximum number of threads of a batch.
const THREADS: usize = 256;

/// Why a batch was not parsed.
enum BatchError {
    Overflow(Overflow),
    Limit(LimitError),
    /// A token that the vocabulary does not have.
    Token(u32),
}

/// The arrays of a batch, or an exception.
fn parsed(
    py: Python<'_>,
    parts: Result<Vec<ArrayData>, BatchError>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    match parts {
        Ok(arrays) => Ok(arrays.into_iter().map(PyArrowType).collect()),
        Err(BatchError::Overflow(error)) => Err(PyOverflowError::new_err(error.to_string())),
        Err(BatchError::Limit(error)) => Err(stream_error(py, error, py.None())),
        Err(BatchError::Token(id)) => {
            Err(PyIndexError::new_err(format!("the vocabulary has no token {id}")))
        }
    }
}

/// The rows of a batch, and how to parse them.
struct Rows<F> {
    len: usize,
    threads: usize,
    end: End,
    /// Returns the text of a row, or `None` for null.
    text: F,
}

/// Parses each text of an array of strings, as `how` says: the end of each message, and
/// the maximum number of threads. Each thread makes an array of its rows.
#[pyfunction]
#[pyo3(signature = (texts, how, **settings))]
pub(crate) fn parse_batch(
    py: Python<'_>,
    texts: PyArrowType<ArrayData>,
    how: (String, usize),
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let (end, threads) = (self::end(&how.0)?, how.1);
    let (_, guard) = Settings::new(settings)?.guard(Ids::counting())?;
    let array = make_array(texts.0);
    let len = array.len();
    let parts = py.detach(|| {
        let any = array.as_any();
        if let Some(array) = any.downcast_ref::<StringArray>() {
            let text = |row| text(array, row);
            Some(parse_rows::<i32>(&guard, Rows { len, threads, end, text }))
        } else if let Some(array) = any.downcast_ref::<LargeStringArray>() {
            let text = |row| text(array, row);
            Some(parse_rows::<i64>(&guard, Rows { len, threads, end, text }))
        } else {
            let array = any.downcast_ref::<StringViewArray>()?;
            let text = |row| text(array, row);
            Some(parse_rows::<i64>(&guard, Rows { len, threads, end, text }))
        }
    });
    match parts {
        Some(parts) => parsed(py, parts),
        None => {
            let found = array.data_type();
            let what = format!("expected an array of strings, found `{found}`");
            Err(PyTypeError::new_err(what))
        }
    }
}

/// The text of a row, or `None` for null.
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
    let Rows { len, threads, end, text } = &rows;
    on_threads(*len, *threads, |range| parse_range::<O>(guard.clone(), *end, range.map(text)))
}

/// Runs `parse` for contiguous ranges of rows, each on its thread.
fn on_threads(
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
