//! The Python class of one event of a message.

use llm_stream_guard::{Diagnostic, Outcome};
use pyo3::{
    exceptions::PyAttributeError,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyString, PyType},
};

use crate::recorder::{Item, Recorder};

/// One event of a message. `kind` decides which other attributes there are:
///
/// - `content`, `reasoning`: `text`
/// - `call_start`: `index`, `id`, `name`
/// - `call_arguments`: `index`, `fragment`
/// - `call_end`: `index`, `outcome`
/// - `diagnostic`: `diagnostic`
///
/// Another attribute raises `AttributeError`.
#[pyclass(frozen, name = "Event", module = "toolcall_parsers")]
#[derive(Debug)]
pub(crate) struct PyEvent(Parts);

/// The fields of an event.
#[derive(Debug)]
enum Parts {
    Content(Py<PyString>),
    Reasoning(Py<PyString>),
    CallStart { index: u32, id: Py<PyString>, name: Py<PyString> },
    CallArguments { index: u32, fragment: Py<PyString> },
    CallEnd { index: u32, outcome: Outcome },
    Diagnostic(Diagnostic),
}

impl PyEvent {
    /// Creates the event of a recorder's item.
    pub(crate) fn of(py: Python<'_>, recorder: &Recorder, item: &Item) -> Self {
        let text = |range| PyString::new(py, recorder.text(range)).unbind();
        Self(match item {
            Item::Content(range) => Parts::Content(text(range)),
            Item::Reasoning(range) => Parts::Reasoning(text(range)),
            Item::CallStart { index, id, name } => {
                Parts::CallStart { index: *index, id: text(id), name: text(name) }
            }
            Item::CallArguments { index, fragment } => {
                Parts::CallArguments { index: *index, fragment: text(fragment) }
            }
            Item::CallEnd { index, outcome } => Parts::CallEnd { index: *index, outcome: *outcome },
            Item::Diagnostic(diagnostic) => Parts::Diagnostic(*diagnostic),
        })
    }

    const fn name_of_kind(&self) -> &'static str {
        match self.0 {
            Parts::Content(_) => "content",
            Parts::Reasoning(_) => "reasoning",
            Parts::CallStart { .. } => "call_start",
            Parts::CallArguments { .. } => "call_arguments",
            Parts::CallEnd { .. } => "call_end",
            Parts::Diagnostic(_) => "diagnostic",
        }
    }

    fn none<T>(&self, attribute: &str) -> PyResult<T> {
        let kind = self.name_of_kind();
        Err(PyAttributeError::new_err(format!("a `{kind}` event has no `{attribute}`")))
    }
}

#[pymethods]
impl PyEvent {
    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("kind",)
    }

    /// The kind of the event.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        use pyo3::intern;
        match self.0 {
            Parts::Content(_) => intern!(py, "content"),
            Parts::Reasoning(_) => intern!(py, "reasoning"),
            Parts::CallStart { .. } => intern!(py, "call_start"),
            Parts::CallArguments { .. } => intern!(py, "call_arguments"),
            Parts::CallEnd { .. } => intern!(py, "call_end"),
            Parts::Diagnostic(_) => intern!(py, "diagnostic"),
        }
    }

    /// Text of the answer or of the reasoning.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        match &self.0 {
            Parts::Content(text) | Parts::Reasoning(text) => Ok(text.clone_ref(py)),
            _ => self.none("text"),
        }
    }

    /// Position of the call among the message's calls, from 0.
    #[getter]
    fn index(&self) -> PyResult<u32> {
        match self.0 {
            Parts::CallStart { index, .. }
            | Parts::CallArguments { index, .. }
            | Parts::CallEnd { index, .. } => Ok(index),
            _ => self.none("index"),
        }
    }

    /// Id of the call: the wire's own, or a generated one.
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        match &self.0 {
            Parts::CallStart { id, .. } => Ok(id.clone_ref(py)),
            _ => self.none("id"),
        }
    }

    /// Complete name of the called tool.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        match &self.0 {
            Parts::CallStart { name, .. } => Ok(name.clone_ref(py)),
            _ => self.none("name"),
        }
    }

    /// The next piece of the arguments' JSON text.
    #[getter]
    fn fragment(&self, py: Python<'_>) -> PyResult<Py<PyString>> {
        match &self.0 {
            Parts::CallArguments { fragment, .. } => Ok(fragment.clone_ref(py)),
            _ => self.none("fragment"),
        }
    }

    /// Outcome of the call: `complete`, `repaired`, `malformed` or `incomplete`.
    #[getter]
    fn outcome(&self) -> PyResult<&'static str> {
        match self.0 {
            Parts::CallEnd { outcome, .. } => Ok(outcome.name()),
            _ => self.none("outcome"),
        }
    }

    /// A notice about the input that is not an error.
    #[getter]
    fn diagnostic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Parts::Diagnostic(diagnostic) => diagnostic_of(py, diagnostic),
            _ => self.none("diagnostic"),
        }
    }

    /// Returns the event as a dictionary with `kind` and the attributes of its kind.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("kind", self.name_of_kind())?;
        match &self.0 {
            Parts::Content(text) | Parts::Reasoning(text) => dict.set_item("text", text)?,
            Parts::CallStart { index, id, name } => {
                dict.set_item("index", index)?;
                dict.set_item("id", id)?;
                dict.set_item("name", name)?;
            }
            Parts::CallArguments { index, fragment } => {
                dict.set_item("index", index)?;
                dict.set_item("fragment", fragment)?;
            }
            Parts::CallEnd { index, outcome } => {
                dict.set_item("index", index)?;
                dict.set_item("outcome", outcome.name())?;
            }
            Parts::Diagnostic(Diagnostic { kind, at, bytes, call, .. }) => {
                let fields = PyDict::new(py);
                fields.set_item("kind", kind.name())?;
                fields.set_item("at", at)?;
                fields.set_item("bytes", bytes)?;
                fields.set_item("call", call)?;
                dict.set_item("diagnostic", fields)?;
            }
        }
        Ok(dict)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        self.to_dict(py)?.eq(other.get().to_dict(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.__repr__(py)?.into_pyobject(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dict = self.to_dict(py)?;
        let mut fields = Vec::new();
        for (name, value) in dict.iter() {
            fields.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("Event({})", fields.join(", ")))
    }
}

/// Returns a diagnostic as an object of the package's class.
pub(crate) fn diagnostic_of<'py>(
    py: Python<'py>,
    &Diagnostic { kind, at, bytes, call, .. }: &Diagnostic,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "toolcall_parsers._types", "Diagnostic")?;
    class.call1((kind.name(), at, bytes, call))
}
