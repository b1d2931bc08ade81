//! Grammars for engines that constrain the output of a model.

use family_export::{AnswerDemand, CallGrammar, ExportError, call_grammar};
use llm_stream_guard::{Ids, Server};
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

/// Returns XGrammar's structural tag of a thought and an answer in the form that the settings'
/// request sets. Returns `None` if the model does not think, or the request sets no form, demands a
/// call, or sets a form that cannot be read.
#[pyfunction]
#[pyo3(signature = (**settings))]
pub(crate) fn answer_format<'py>(
    py: Python<'py>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let settings = Settings::new(settings)?;
    let profile = settings.profile()?;
    let rules = settings.builder(&profile, Ids::counting()).rules();
    let made = py.detach(|| {
        // The server that takes the tag itself, in a field with the name of OpenAI's API.
        let demand = AnswerDemand::new(settings.request()?, (rules, &profile), Server::Sglang)?;
        demand.is_for_format().then(|| demand.fields().ok())?
    });
    let fields = made.into_iter().flat_map(|made| made.fields);
    let tag = fields.into_iter().find(|(name, _)| *name == "response_format");
    tag.map(|(_, tag)| to_python(py, &tag)).transpose()
}
