//! Parses Arrow arrays of texts into Arrow arrays of messages.
//!
//! ```text
//! ["<think>hm</think>Hi.", null]
//! [{content: "Hi.", reasoning: "hm", calls: [], outcome: "complete", diagnostics: []}, null]
//! ```

mod tokens;

use arrow_array::make_array;
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use llm_stream_guard::Ids;
use message_columns::{BatchError, How, parse_texts};
use pyo3::{
    exceptions::{PyIndexError, PyOverflowError, PyTypeError},
    prelude::*,
    types::PyDict,
};

pub(crate) use self::tokens::{Vocabulary, parse_token_batch};
use crate::{convert::end, settings::Settings, stream_error};

/// Converts the arrays of a batch, or its error, for Python.
fn parsed(
    py: Python<'_>,
    parts: Result<Vec<ArrayData>, BatchError>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    match parts {
        Ok(arrays) => Ok(arrays.into_iter().map(PyArrowType).collect()),
        Err(BatchError::Limit(error)) => Err(stream_error(py, error, py.None())),
        Err(BatchError::Token(id)) => Err(PyIndexError::new_err(BatchError::Token(id).to_string())),
        Err(error @ BatchError::Overflow(_)) => Err(PyOverflowError::new_err(error.to_string())),
        Err(error) => Err(PyTypeError::new_err(error.to_string())),
    }
}

/// Parses each text of an array of strings. `how` has the end of each message and the maximum
/// number of threads. Each thread makes an array of its rows.
#[pyfunction]
#[pyo3(signature = (texts, how, **settings))]
pub(crate) fn parse_batch(
    py: Python<'_>,
    texts: PyArrowType<ArrayData>,
    how: (String, usize),
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let how = How { end: self::end(&how.0)?, threads: how.1 };
    let (_, guard) = Settings::new(settings)?.guard(Ids::counting())?;
    let array = make_array(texts.0);
    let parts = py.detach(|| parse_texts(&guard, array.as_ref(), how));
    parsed(py, parts)
}
