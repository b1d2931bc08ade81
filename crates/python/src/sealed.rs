//! Arguments of calls on their way to a client.

use llm_stream_guard::chat::SealedArguments;
use pyo3::prelude::*;

/// The arguments of a call in a stream, of which only those of a call that may run parse as JSON.
#[pyclass(name = "SealedArguments", module = "toolcall_parsers")]
#[derive(Debug, Default)]
pub(crate) struct PySealedArguments(SealedArguments);

#[pymethods]
impl PySealedArguments {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Feeds the next text, and returns the text to send.
    fn push<'t>(&mut self, fragment: &'t str) -> &'t str {
        self.0.push(fragment)
    }

    /// Ends the arguments, and returns the last text to send: what was held if the call may run, or
    /// text that makes them invalid for every reader of JSON.
    fn end(&mut self, runs: bool) -> String {
        std::mem::take(&mut self.0).end(runs)
    }
}
