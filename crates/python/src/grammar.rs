//! Grammars for engines that constrain the output of a model.

use family_export::{CallGrammar, ExportError, call_grammar};
use llm_stream_guard::Ids;
use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};
use serde_json::Value;

use crate::{
    convert::to_python,
    settings::{Settings, fault},
};

/// A grammar in the language of a target.
enum Written {
    Text(String),
    Json(Value),
}

/// Writes a grammar in a language.
type WriteGrammar = fn(&CallGrammar) -> Result<Written, ExportError>;

/// The languages of grammars, by the names that Python programs use.
const LANGUAGES: [(&str, WriteGrammar); 5] = [
    ("structural_tag", |grammar| Ok(Written::Json(grammar.structural_tag()))),
    ("gbnf", |grammar| Ok(Written::Text(grammar.gbnf()))),
    ("lazy_gbnf", |grammar| grammar.lazy_gbnf().map(|lazy| Written::Json(lazy.request_fields()))),
    ("lark", |grammar| {
        let special: Vec<&str> = grammar.special_tokens().iter().map(String::as_str).collect();
        grammar.lark(&special).map(Written::Text)
    }),
    ("regex", |grammar| grammar.regex().map(Written::Text)),
];

/// Returns the grammar of the answers that the settings' request allows, and the restrictions of the
/// schemas that it does not check.
#[pyfunction]
#[pyo3(signature = (language, **settings))]
pub(crate) fn grammar<'py>(
    py: Python<'py>,
    language: &str,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Vec<String>)> {
    let Some((_, write)) = LANGUAGES.iter().find(|(name, _)| *name == language) else {
        let names = LANGUAGES.map(|(name, _)| name).join(", ");
        return Err(fault(format!("language: `{language}` is not one of {names}")));
    };
    let settings = Settings::new(settings)?;
    let profile = settings.profile()?;
    let rules = settings.builder(&profile, Ids::counting()).rules();
    let made = py.detach(|| {
        let grammar = call_grammar(&profile, &rules)?;
        Ok((write(&grammar)?, grammar.widened().to_vec()))
    });
    let (written, widened) = made.map_err(|error: ExportError| fault(error))?;
    let written = match written {
        Written::Text(text) => PyString::new(py, &text).into_any(),
        Written::Json(value) => to_python(py, &value)?,
    };
    Ok((written, widened))
}
