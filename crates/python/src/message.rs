//! Conversion of whole messages for Python.

use llm_stream_guard::{Call, Message, MessageEnd, Outcome};
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyList, PyType},
};

use crate::event::diagnostic_of;

/// Returns the outcome of a call. A call that never ended is incomplete.
pub(crate) const fn outcome_of(call: &Call) -> &'static str {
    match call.outcome {
        Some(outcome) => outcome.name(),
        None => Outcome::Incomplete.name(),
    }
}

/// Returns a message as an object of the package's class.
pub(crate) fn message_of<'py>(
    py: Python<'py>,
    message: &Message,
    end: MessageEnd,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static CALL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "toolcall_parsers._types", "Message")?;
    let call = CALL.import(py, "toolcall_parsers._types", "Call")?;
    let calls = message
        .calls
        .iter()
        .map(|one| call.call1((&one.id, &one.name, &one.arguments, outcome_of(one))));
    let calls = PyList::new(py, calls.collect::<PyResult<Vec<_>>>()?)?;
    let diagnostics = message.diagnostics.iter().map(|one| diagnostic_of(py, one));
    let diagnostics = PyList::new(py, diagnostics.collect::<PyResult<Vec<_>>>()?)?;
    let Message { content, reasoning, .. } = message;
    class.call1((content, reasoning, calls, diagnostics, end.finish(), end.open.name()))
}
