//! Parses columns of token ids into messages, with the role of each token.
//!
//! ```text
//! [[7, 40, 8, 41]]   of the vocabulary 7 `<think>`, 8 `</think>`, 40 `hm`, 41 `Yes`
//! [{content: "Yes", reasoning: "hm", .., token_roles: ["markup", "reasoning", "markup", "content"]}]
//! ```

use std::ops::Range;

use arrow_array::{Array as _, Int64Array, LargeListArray, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use llm_stream_guard::{MessageEnd, NoRoles, RoleReader, RowError, RowReader, RowSettings};
use message_columns::{BatchError, BatchSettings, Columns, on_threads};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyDict};

use super::{Batch, BatchArguments, parsed};
use crate::{
    convert::Piece,
    roles::{Learnt, Roles, Tokens, roles},
    settings::Settings,
};

/// The texts of a tokenizer's tokens, by their ids.
///
/// A token with only a part of a character is given as bytes. Bytes that are not UTF-8 are
/// replaced.
#[pyclass(frozen, module = "toolcall_parsers")]
#[derive(Debug)]
pub(crate) struct Vocabulary(Vec<Option<Vec<u8>>>);

#[pymethods]
impl Vocabulary {
    /// Creates a vocabulary of texts, each at the position of its id. Ids without a token have
    /// `None`.
    #[new]
    fn new(texts: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let texts = texts.iter().map(|text| match text.is_none() {
            true => Ok(None),
            false => Ok(Some(Piece::of(text)?.as_bytes().to_vec())),
        });
        texts.collect::<PyResult<_>>().map(Self)
    }

    /// Creates the vocabulary of a tokenizer of `transformers`, `tokenizers`, `tiktoken` or
    /// `sentencepiece`.
    #[staticmethod]
    fn from_tokenizer(tokenizer: &Bound<'_, PyAny>) -> PyResult<Self> {
        let module = tokenizer.py().import("toolcall_parsers._vocabulary")?;
        Self::new(module.call_method1("tokens_of", (tokenizer,))?.extract()?)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes of a token.
    fn __getitem__(&self, id: usize) -> PyResult<&[u8]> {
        let text = self.0.get(id).and_then(Option::as_deref);
        text.ok_or_else(|| {
            pyo3::exceptions::PyIndexError::new_err("the vocabulary has no such token")
        })
    }
}

impl Vocabulary {
    /// Returns the texts of a message's tokens. A character of several tokens belongs to the last
    /// of them.
    fn texts(&self, ids: &[i64]) -> Result<Vec<String>, RowError> {
        let mut waiting = Vec::new();
        let mut texts = Vec::with_capacity(ids.len());
        for id in ids {
            let bytes = usize::try_from(*id).ok().and_then(|id| self.0.get(id)?.as_deref());
            let missing = || RowError::Settings(format!("the vocabulary has no token {id}"));
            waiting.extend_from_slice(bytes.ok_or_else(missing)?);
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

/// The vocabulary of all rows of a batch, its tokens that are markers, and the roles to learn.
struct TokenRows<'r> {
    vocabulary: &'r Vocabulary,
    markers: Vec<&'r str>,
    learnt: Option<Learnt>,
}

impl TokenRows<'_> {
    /// Parses rows one after the other.
    fn parse(
        &self,
        lists: &LargeListArray,
        rows: Range<usize>,
        settings: &BatchSettings<'_>,
    ) -> Result<ArrayData, BatchError> {
        let mut columns = Columns::<i32>::with_roles(self.learnt.is_some());
        let mut reader = settings.reader.clone();
        for row in rows {
            if lists.is_null(row) {
                columns.null();
                continue;
            }
            let ids = lists.value(row);
            let ids = ids.as_any().downcast_ref::<Int64Array>();
            let read = settings.of_row(row).and_then(|of_row| {
                // A null among the ids is no token.
                let ids: Vec<_> = ids.into_iter().flatten().map(|id| id.unwrap_or(-1)).collect();
                let texts = self.vocabulary.texts(&ids)?;
                self.read(&mut reader, (&texts, &of_row), &mut columns)
            });
            settings.raised(row, &read)?;
            let read = read.map(|(end, roles)| {
                roles.iter().for_each(|role| columns.role(role));
                roles.mask().for_each(|learnt| columns.learnt(learnt));
                end
            });
            columns.end_row(&read);
        }
        columns.finish().map_err(BatchError::Overflow)
    }

    /// Reads a row. `columns` receives the events of its message.
    fn read(
        &self,
        rows: &mut RowReader,
        (texts, of_row): (&[String], &RowSettings<'_>),
        columns: &mut Columns<i32>,
    ) -> Result<(MessageEnd, Roles), RowError> {
        let refused = |error: NoRoles| RowError::Settings(error.to_string());
        let mut reader = RoleReader::new(rows.guard_of(of_row)?).map_err(refused)?;
        let tokens = Tokens { texts: texts.iter().map(String::as_str), markers: &self.markers };
        let end = rows.end_of(of_row);
        let mut found = Roles::learning(self.learnt);
        roles(&mut reader, tokens, end, (&mut found, columns)).map_err(RowError::Limit)?;
        let nothing = MessageEnd { end, open: Default::default() };
        Ok((reader.guard().message_end().unwrap_or(nothing), found))
    }
}

/// The vocabulary of a batch, and the names of the roles that a model learns.
type TokenArguments = (Py<Vocabulary>, Option<Vec<String>>);

/// Parses each list of token ids of an array.
#[pyfunction]
#[pyo3(signature = (lists, how, **settings))]
pub(crate) fn parse_token_batch(
    py: Python<'_>,
    lists: PyArrowType<ArrayData>,
    how: (BatchArguments, TokenArguments),
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<PyArrowType<ArrayData>>> {
    let (how, (vocabulary, learnt)) = how;
    let learnt = learnt.map(|names| Learnt::of(&names)).transpose()?;
    let batch = Batch::new(how, settings)?;
    let settings = Settings::new(settings)?;
    let markers = settings.marker_tokens();
    let array = make_array(lists.0);
    let Some(lists) = array.as_any().downcast_ref::<LargeListArray>() else {
        let found = array.data_type();
        return Err(PyTypeError::new_err(format!("expected lists of token ids, found `{found}`")));
    };
    let rows = TokenRows { vocabulary: vocabulary.get(), markers, learnt };
    parsed(py.detach(|| {
        batch.with(|settings| {
            settings.check(lists.len())?;
            on_threads(lists.len(), settings.threads, |range| rows.parse(lists, range, settings))
        })
    }))
}
