//! Parses columns of token ids into messages, with the role of each token.
//!
//! ```text
//! [[7, 40, 8, 41]]   of the vocabulary 7 `<think>`, 8 `</think>`, 40 `hm`, 41 `Yes`
//! [{content: "Yes", reasoning: "hm", .., token_roles: ["markup", "reasoning", "markup", "content"]}]
//! ```

use std::ops::Range;

use arrow_array::{Array as _, ListArray, UInt32Array, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use llm_stream_guard::{End, Guard, Ids};
use message_columns::{BatchError, Columns, on_threads};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};

use super::parsed;
use crate::{
    convert::{Piece, end},
    roles::{Tokens, reader, roles},
    settings::Settings,
};

/// The texts of a tokenizer's tokens, by their ids.
///
/// A token with only a part of a character is given as bytes. Bytes that are not UTF-8 are
/// replaced.
#[pyclass(frozen, module = "toolcall_parsers")]
#[derive(Debug)]
pub(crate) struct Vocabulary(Vec<Vec<u8>>);

#[pymethods]
impl Vocabulary {
    /// Creates a vocabulary of texts, each at the position of its id.
    #[new]
    fn new(texts: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let texts = texts.iter().map(|text| Ok(Piece::of(text)?.as_bytes().to_vec()));
        texts.collect::<PyResult<_>>().map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

impl Vocabulary {
    /// Returns the texts of a message's tokens. A character of several tokens belongs to the last
    /// of them.
    fn texts(&self, ids: &[u32]) -> Result<Vec<String>, BatchError> {
        let mut waiting = Vec::new();
        let mut texts = Vec::with_capacity(ids.len());
        for id in ids {
            let bytes = usize::try_from(*id).ok().and_then(|id| self.0.get(id));
            waiting.extend_from_slice(bytes.ok_or(BatchError::Token(*id))?);
            let cut = match std::str::from_utf8(&waiting) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => waiting.len(),
            };
            let rest = waiting.split_off(cut);
            texts.push(String::from_utf8_lossy(&waiting).into_owned());
            waiting = rest;
        }
        if let Some(last) = texts.last_mut() {
            last.push_str(&String::from_utf8_lossy(&waiting));
        }
        Ok(texts)
    }
}

/// The settings of all rows of a batch.
struct TokenRows<'r> {
    guard: Guard,
    vocabulary: &'r Vocabulary,
    markers: Vec<&'r str>,
    end: End,
}

impl TokenRows<'_> {
    fn parse(&self, lists: &ListArray, rows: Range<usize>) -> Result<ArrayData, BatchError> {
        let Self { guard, vocabulary, markers, end } = self;
        let mut columns = Columns::<i32>::with_roles();
        for row in rows {
            if lists.is_null(row) {
                columns.null();
                continue;
            }
            let ids = lists.value(row);
            let ids = ids.as_any().downcast_ref::<UInt32Array>().map(|ids| &**ids.values());
            let texts = vocabulary.texts(ids.unwrap_or_default())?;
            // This cannot fail, because the settings were checked when the guard was made.
            let Ok(mut reader) = reader(guard.clone()) else { continue };
            let tokens = Tokens { texts: texts.iter().map(String::as_str), markers };
            let found = roles(&mut reader, tokens, *end, &mut columns);
            for role in found.map_err(BatchError::Limit)?.iter() {
                columns.role(role);
            }
            columns.end_row();
        }
        columns.finish().map_err(BatchError::Overflow)
    }
}

/// Parses each list of token ids of an array. `how` has the end of each message, the maximum number
/// of threads, and the vocabulary.
#[pyfunction]
#[pyo3(signature = (lists, how, **settings))]
pub(crate) fn parse_token_batch(
    py: Python<'_>,
    lists: PyArrowType<ArrayData>,
    how: (String, usize, Py<Vocabulary>),
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let (settings, end) = (Settings::new(settings)?, end(&how.0)?);
    let (_, guard) = settings.guard(Ids::counting())?;
    reader(guard.clone())?;
    let (markers, vocabulary) = (settings.marker_tokens(), how.2.get());
    let array = make_array(lists.0);
    let Some(lists) = array.as_any().downcast_ref::<ListArray>() else {
        let found = array.data_type();
        return Err(PyTypeError::new_err(format!("expected lists of token ids, found `{found}`")));
    };
    let rows = TokenRows { guard, vocabulary, markers, end };
    let parts = py.detach(|| on_threads(lists.len(), how.1, |range| rows.parse(lists, range)));
    parsed(py, parts)
}
