//! The native module of the Python package `toolcall_parsers`.
//!
//! The Python modules of the package have the types of whole messages and the adapters of streams.
//! This crate has the guards, the chat guard, names, the encoder and Arrow batches.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod batch;
mod chat;
mod convert;
mod derive;
mod encode;
mod event;
mod explain;
mod grammar;
mod guard;
mod limits;
mod message;
mod names;
mod recorder;
mod request;
mod roles;
mod sealed;
mod settings;
mod splitter;

use pyo3::prelude::*;

pyo3::create_exception!(
    toolcall_parsers,
    SettingsError,
    pyo3::exceptions::PyValueError,
    "A setting is unknown, malformed, or does not fit the others."
);
pyo3::create_exception!(
    toolcall_parsers,
    EncodeError,
    pyo3::exceptions::PyValueError,
    "The family cannot express a call."
);
pyo3::create_exception!(
    toolcall_parsers,
    StreamError,
    pyo3::exceptions::PyRuntimeError,
    "A stream broke the protocol or hit a limit. `released` is what was emitted before."
);

pyo3::create_exception!(
    toolcall_parsers,
    RowError,
    pyo3::exceptions::PyValueError,
    "A row of a column cannot be read. `args` are the reason and the position of the row."
);

/// Returns a [`StreamError`] with the output that was released before it.
fn stream_error<'py>(
    py: Python<'py>,
    error: impl std::fmt::Display,
    released: impl IntoPyObject<'py>,
) -> PyErr {
    let error = StreamError::new_err(error.to_string());
    // Setting an attribute of a new exception fails only if memory is exhausted.
    let _ = error.value(py).setattr("released", released);
    error
}

/// The native part of the package.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::{
        EncodeError, RowError, SettingsError, StreamError,
        batch::{Vocabulary, count_batch, parse_batch, parse_token_batch},
        chat::{PyChatGuard, PySseGuard},
        derive::derive,
        encode::encode,
        event::{PyCallArguments, PyCallEnd, PyCallStart, PyContent, PyNotice, PyReasoning},
        explain::explain,
        grammar::{answer_format, grammar},
        guard::PyGuard,
        names::{
            detect, families, identify, profile, reasoning_after, reasoning_tags, serve_renderings,
        },
        request::{forward_request, move_tools_to_prompt},
        roles::token_roles,
        sealed::PySealedArguments,
        splitter::PySplitter,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("REQUEST_FORMATS", family_export::OWN_FORMAT)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
