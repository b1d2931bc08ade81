//! Converts values between Python and JSON, and words into enums.

use std::{borrow::Cow, str::FromStr};

use llm_stream_guard::{End, UnknownName};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{
        PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView,
        PyString, PyTuple,
    },
};
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::{
    SettingsError,
    limits::{MAX_JSON_DEPTH, MAX_JSON_VALUES},
};

/// Creates an exception for a setting.
pub(crate) fn fault(error: impl std::fmt::Display) -> PyErr {
    SettingsError::new_err(error.to_string())
}

/// The rule for floats that JSON cannot write: not a number, and infinities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonFinite {
    /// The object is refused.
    Refused,
    /// `null` is read in their place, as most writers of JSON do.
    Null,
}

/// Reads a Python value as JSON.
///
/// # Errors
/// The value is not JSON, is too deep, or has a number that JSON cannot write.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    JsonReader { non_finite: NonFinite::Refused, values: 0 }.read(value, 0)
}

/// Reads a Python value as JSON, with `null` for floats that JSON cannot write.
///
/// # Errors
/// The value is not JSON, or too deep.
pub(crate) fn chunk_to_json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    JsonReader { non_finite: NonFinite::Null, values: 0 }.read(value, 0)
}

/// A reader of Python values, which may be recursive.
struct JsonReader {
    non_finite: NonFinite,
    /// The number of values read.
    values: usize,
}

impl JsonReader {
    fn read(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        self.values += 1;
        if depth > MAX_JSON_DEPTH || self.values > MAX_JSON_VALUES {
            let what =
                format!("an object is deeper than {MAX_JSON_DEPTH}, recursive, or too large");
            return Err(PyValueError::new_err(what));
        }
        if value.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Value::String(text_of(text)?.into_owned()));
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Value::Bool(flag.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            return integer(value);
        }
        if let Ok(float) = value.cast::<PyFloat>() {
            return self.float(float.value());
        }
        if let Ok(map) = value.cast::<PyDict>() {
            let mut object = Map::with_capacity(map.len());
            for (key, value) in map.iter() {
                object.insert(key_of(&key)?, self.read(&value, depth + 1)?);
            }
            return Ok(Value::Object(object));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.list(list.iter(), depth);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.list(tuple.iter(), depth);
        }
        self.other(value, depth)
    }

    fn list<'py>(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> PyResult<Value> {
        items.map(|item| self.read(&item, depth + 1)).collect::<PyResult<_>>().map(Value::Array)
    }

    fn float(&self, float: f64) -> PyResult<Value> {
        match Number::from_f64(float) {
            Some(number) => Ok(Value::Number(number)),
            None if self.non_finite == NonFinite::Null => Ok(Value::Null),
            None => Err(PyValueError::new_err(format!("JSON has no number {float}"))),
        }
    }

    /// Reads a mapping, a model of pydantic, or an array of numpy.
    fn other(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        if let Ok(map) = value.cast::<PyMapping>() {
            let mut object = Map::new();
            for pair in map.items()?.iter() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
                object.insert(key_of(&key)?, self.read(&value, depth + 1)?);
            }
            return Ok(Value::Object(object));
        }
        for (method, excluding) in [("model_dump", true), ("tolist", false)] {
            if !value.hasattr(method)? {
                continue;
            }
            let excluded = PyDict::new(value.py());
            if excluding {
                excluded.set_item("exclude_unset", true)?;
            }
            return self.read(&value.call_method(method, (), Some(&excluded))?, depth + 1);
        }
        let found = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("expected JSON, found `{found}`")))
    }
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.into());
    }
    match value.extract::<u64>() {
        Ok(number) => Ok(number.into()),
        Err(_) => Err(PyValueError::new_err("an integer is longer than 64 bits")),
    }
}

fn key_of(key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(text_of(text)?.into_owned()),
        Err(_) => Err(PyTypeError::new_err("the keys of an object must be texts")),
    }
}

/// Returns a text, in which U+FFFD replaces each lone surrogate.
pub(crate) fn text_of<'t>(text: &'t Bound<'_, PyString>) -> PyResult<Cow<'t, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(text.into());
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>()?.as_bytes().chunks_exact(2);
    let units = units.map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    let characters = char::decode_utf16(units);
    Ok(characters.map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
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
    word.parse().map_err(|error| fault(format!("{what}: {error}")))
}

/// Reads the word for how a stream ended.
pub(crate) fn end(text: &str) -> PyResult<End> {
    word("end", text)
}

/// A piece of a stream.
pub(crate) enum Piece<'p> {
    Text(Cow<'p, str>),
    Bytes(Cow<'p, [u8]>),
}

impl<'p> Piece<'p> {
    /// Reads a `str`, or an object with bytes: `bytes`, `bytearray`, `memoryview`. A lone surrogate
    /// of a `str` is read as U+FFFD, like bytes that are not UTF-8.
    pub(crate) fn of(chunk: &'p Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = chunk.cast::<PyString>() {
            return Ok(Self::Text(text_of(text)?));
        }
        if let Ok(bytes) = chunk.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().into()));
        }
        if let Ok(bytes) = chunk.cast::<PyByteArray>() {
            return Ok(Self::Bytes(bytes.to_vec().into()));
        }
        if let Ok(view) = PyMemoryView::from(chunk) {
            let bytes = view.call_method0("tobytes")?;
            return Ok(Self::Bytes(bytes.cast::<PyBytes>()?.as_bytes().to_vec().into()));
        }
        let found = chunk.get_type().name()?;
        Err(PyTypeError::new_err(format!("expected `str` or `bytes`, found `{found}`")))
    }

    /// Returns the bytes of the piece.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
