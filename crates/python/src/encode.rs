//! Writes calls as a model would have written them.

use llm_stream_guard::{
    Tools,
    toolcall_parsers::{self, EncodeCall},
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    EncodeError,
    settings::{Settings, fault},
};

/// Writes calls as a model would have written them. A call has a name, the arguments' JSON text and
/// an id or `None`. Also returns whether ids were dropped, because the family cannot write them.
#[pyfunction]
#[pyo3(signature = (calls, **settings))]
pub(crate) fn encode(
    calls: Vec<(String, String, Option<String>)>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<(String, bool)> {
    let settings = Settings::new(settings)?;
    let profile = settings.profile()?;
    let grammar = profile.grammar_to_write().map_err(fault)?;
    let grammar =
        grammar.ok_or_else(|| fault(format!("`{}` writes no tool calls", profile.name)))?;
    let encoded = calls.iter().map(|(name, arguments, id)| {
        let call = EncodeCall::new(name, arguments);
        id.as_deref().map_or(call, |id| call.with_id(id))
    });
    let encoded: Vec<_> = encoded.collect();
    let tools = settings.tools().cloned().unwrap_or_else(|| Tools::implied_by(&encoded));
    let (text, dropped) = toolcall_parsers::encode_dropping_ids(&grammar, &encoded, &tools)
        .map_err(|error| EncodeError::new_err(error.to_string()))?;
    Ok((text, !dropped.is_empty()))
}
