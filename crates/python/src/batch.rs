//! Parses Arrow arrays of texts into Arrow arrays of messages.
//!
//! ```text
//! ["<think>hm</think>Hi.", null]
//! [{content: "Hi.", reasoning: "hm", calls: [], outcome: "complete", diagnostics: [],
//!   finish: "stop", open: "none", error: null}, null]
//! ```

mod tokens;

use arrow_array::{ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use llm_stream_guard::{RowReader, RowSetting};
use message_columns::{BatchError, BatchSettings, TextArray, count_texts, parse_texts};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};

pub(crate) use self::tokens::{Vocabulary, parse_token_batch};
use crate::{
    RowError,
    convert::{end, to_python, word},
    settings::Settings,
};

/// The arguments of a batch: the end of messages whose row does not say it, the maximum number of
/// threads, whether the first error of a row ends the batch, and the columns of the rows' own
/// settings.
type BatchArguments = (String, usize, bool, Vec<(String, PyArrowType<ArrayData>)>);

/// The settings of a batch, with its columns.
struct Batch {
    reader: RowReader,
    rows: Vec<(RowSetting, ArrayRef)>,
    raises: bool,
    threads: usize,
}

impl Batch {
    fn new(
        (end, threads, raises, rows): BatchArguments,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let rows = rows
            .into_iter()
            .map(|(name, column)| Ok((word::<RowSetting>("rows", &name)?, make_array(column.0))));
        let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
        let names = |(setting, _): &(RowSetting, _)| {
            matches!(setting, RowSetting::Family | RowSetting::Model)
        };
        let compile = Settings::new(settings)?.compile_row(rows.iter().any(names))?;
        let reader = RowReader::new(self::end(&end)?, compile);
        Ok(Self { reader, rows, raises, threads })
    }

    /// Calls `read` with the settings of the batch.
    fn with<T>(
        &self,
        read: impl FnOnce(&BatchSettings<'_>) -> Result<T, BatchError>,
    ) -> Result<T, BatchError> {
        let Self { reader, rows, raises, threads } = self;
        let rows = rows
            .iter()
            .map(|(setting, column)| Ok((*setting, TextArray::of_keys(column.as_ref())?)));
        let rows = rows.collect::<Result<_, BatchError>>()?;
        read(&BatchSettings { reader, rows, raises: *raises, threads: *threads })
    }
}

/// Converts the error of a batch for Python.
fn batch_error(error: BatchError) -> PyErr {
    match error {
        BatchError::Row(row, error) => RowError::new_err((error.to_string(), row)),
        error @ BatchError::Overflow(_) => PyOverflowError::new_err(error.to_string()),
        error @ BatchError::Length(_) => PyValueError::new_err(error.to_string()),
        error => PyTypeError::new_err(error.to_string()),
    }
}

/// Converts the arrays of a batch, or its error, for Python.
fn parsed(parts: Result<Vec<ArrayData>, BatchError>) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let parts = parts.map_err(batch_error)?;
    Ok(parts.into_iter().map(PyArrowType).collect())
}

/// Parses each text of an array of strings or bytes. Each thread makes an array of its rows.
#[pyfunction]
#[pyo3(signature = (texts, how, **settings))]
pub(crate) fn parse_batch(
    py: Python<'_>,
    texts: PyArrowType<ArrayData>,
    how: BatchArguments,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let (batch, texts) = (Batch::new(how, settings)?, make_array(texts.0));
    parsed(py.detach(|| batch.with(|settings| parse_texts(texts.as_ref(), settings))))
}

/// Counts the messages of an array of strings or bytes, as a dictionary.
#[pyfunction]
#[pyo3(signature = (texts, how, **settings))]
pub(crate) fn count_batch<'py>(
    py: Python<'py>,
    texts: PyArrowType<ArrayData>,
    how: BatchArguments,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (batch, texts) = (Batch::new(how, settings)?, make_array(texts.0));
    let counts = py.detach(|| batch.with(|settings| count_texts(texts.as_ref(), settings)));
    to_python(py, &counts.map_err(batch_error)?)
}
