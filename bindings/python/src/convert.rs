//! Converts values between Python and JSON, and words into enums.

use std::str::FromStr;

use llm_stream_guard::{End, UnknownName};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyByteArray, PyBytes, PyString},
};
use serde::Serialize;
use serde_json::Value;

/// Reads a Python value as JSON.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(pythonize::depythonize(value)?)
}

/// Converts a serializable value into a Python value.
pub(crate) fn to_python<'py, T: Serialize + ?Sized>(
    py: Python<'py>,
    value: &T,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

/// Reads a setting that is one of several words.
///
/// # Errors
/// The word is not known.
pub(crate) fn word<T: FromStr<Err = UnknownName>>(what: &str, word: &str) -> PyResult<T> {
    word.parse().map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

/// Reads the word for how a stream ended.
pub(crate) fn end(text: &str) -> PyResult<End> {
    word("end", text)
}

/// A piece of a stream.
pub(crate) enum Piece<'p> {
    Text(&'p str),
    Bytes(&'p [u8]),
    Copied(Vec<u8>),
}

impl<'p> Piece<'p> {
    /// Reads a `str`, `bytes` or `bytearray`.
    pub(crate) fn of(chunk: &'p Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = chunk.cast::<PyString>() {
            return Ok(Self::Text(text.to_str()?));
        }
        if let Ok(bytes) = chunk.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes()));
        }
        if let Ok(bytes) = chunk.cast::<PyByteArray>() {
            return Ok(Self::Copied(bytes.to_vec()));
        }
        let found = chunk.get_type().name()?;
        Err(PyTypeError::new_err(format!("expected `str` or `bytes`, found `{found}`")))
    }

    /// Returns the bytes of the piece.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}
