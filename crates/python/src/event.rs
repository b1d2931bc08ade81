//! The Python classes of the events of a message, one for each kind.
//!
//! ```text
//! Hi.  [call]       Content(text="Hi.")  CallStart(index=0, id="call_..", name="ring")
//! ```

use llm_stream_guard::Diagnostic;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyString, PyTuple, PyType},
};

use crate::recorder::{Item, Recorder};

/// A field of an event.
trait EventField {
    /// Returns the field as a Python value.
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

impl EventField for Py<PyString> {
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.bind(py).clone().into_any())
    }
}

impl EventField for Py<PyAny> {
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.bind(py).clone())
    }
}

impl EventField for u32 {
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.into_pyobject(py)?.into_any())
    }
}

/// Defines the class of a kind of events: its name, its kind, and its fields.
macro_rules! event_class {
    ($(#[$doc:meta])* $rust:ident, $class:literal, $kind:literal, {
        $($(#[$field_doc:meta])* $field:ident: $type:ty),*
    }) => {
        $(#[$doc])*
        #[pyclass(frozen, name = $class, module = "toolcall_parsers")]
        #[derive(Debug)]
        pub(crate) struct $rust {
            $($(#[$field_doc])* #[pyo3(get)] $field: $type),*
        }

        impl $rust {
            /// Returns the fields, in order.
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
                PyTuple::new(py, [$(self.$field.value(py)?),*])
            }
        }

        #[pymethods]
        impl $rust {
            #[new]
            fn new($($field: $type),*) -> Self {
                Self { $($field),* }
            }

            #[classattr]
            fn kind(py: Python<'_>) -> Py<PyString> {
                PyString::intern(py, $kind).unbind()
            }

            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Py<PyTuple>> {
                Ok(PyTuple::new(py, [$(stringify!($field)),*])?.unbind())
            }

            /// Returns the event as a dictionary with `kind` and the fields of its kind.
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                dict.set_item("kind", $kind)?;
                $(dict.set_item(stringify!($field), plain(self.$field.value(py)?)?)?;)*
                Ok(dict)
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
                let Ok(other) = other.cast::<Self>() else { return Ok(false) };
                self.fields(py)?.eq(other.get().fields(py)?)
            }

            fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
                (PyString::intern(py, $kind), self.fields(py)?).into_pyobject(py)?.hash()
            }

            fn __reduce__<'py>(
                slf: &Bound<'py, Self>,
            ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
                Ok((slf.get_type(), slf.get().fields(slf.py())?))
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = [$(
                    format!("{}={}", stringify!($field), self.$field.value(py)?.repr()?)
                ),*];
                Ok(format!("{}({})", $class, fields.join(", ")))
            }
        }
    };
}

event_class! {
    /// Visible text of the answer.
    PyContent, "Content", "content", {
        /// The next piece of text.
        text: Py<PyString>
    }
}

event_class! {
    /// Text of the reasoning.
    PyReasoning, "Reasoning", "reasoning", {
        /// The next piece of text.
        text: Py<PyString>
    }
}

event_class! {
    /// The start of a call, with its name.
    PyCallStart, "CallStart", "call_start", {
        /// Position of the call among the message's calls, from 0.
        index: u32,
        /// Id of the call: the wire's own, or a generated one.
        id: Py<PyString>,
        /// Complete name of the called tool.
        name: Py<PyString>
    }
}

event_class! {
    /// An addition to the arguments of a call.
    PyCallArguments, "CallArguments", "call_arguments", {
        /// Position of the call among the message's calls, from 0.
        index: u32,
        /// The next piece of the arguments' JSON text.
        fragment: Py<PyString>
    }
}

event_class! {
    /// The end of a call, with its outcome.
    PyCallEnd, "CallEnd", "call_end", {
        /// Position of the call among the message's calls, from 0.
        index: u32,
        /// Outcome of the call: `complete`, `repaired`, `malformed` or `incomplete`.
        outcome: Py<PyString>
    }
}

event_class! {
    /// A notice about the input that is not an error.
    PyNotice, "Notice", "diagnostic", {
        /// Kind and place of the notice.
        diagnostic: Py<PyAny>
    }
}

/// Returns the event of a recorder's item.
pub(crate) fn event_of<'py>(
    py: Python<'py>,
    recorder: &Recorder,
    item: &Item,
) -> PyResult<Bound<'py, PyAny>> {
    let text = |range| PyString::new(py, recorder.text(range)).unbind();
    Ok(match item {
        Item::Content(range) => Bound::new(py, PyContent { text: text(range) })?.into_any(),
        Item::Reasoning(range) => Bound::new(py, PyReasoning { text: text(range) })?.into_any(),
        Item::CallStart { index, id, name } => {
            let start = PyCallStart { index: *index, id: text(id), name: text(name) };
            Bound::new(py, start)?.into_any()
        }
        Item::CallArguments { index, fragment } => {
            let fragment = text(fragment);
            Bound::new(py, PyCallArguments { index: *index, fragment })?.into_any()
        }
        Item::CallEnd { index, outcome } => {
            let outcome = PyString::intern(py, outcome.name()).unbind();
            Bound::new(py, PyCallEnd { index: *index, outcome })?.into_any()
        }
        Item::Diagnostic(diagnostic) => {
            let diagnostic = diagnostic_of(py, diagnostic)?.unbind();
            Bound::new(py, PyNotice { diagnostic })?.into_any()
        }
    })
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

/// Returns a diagnostic as a dictionary, and another value unchanged.
fn plain(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    match value.hasattr("__dataclass_fields__")? {
        true => value.getattr("__dict__"),
        false => Ok(value),
    }
}
