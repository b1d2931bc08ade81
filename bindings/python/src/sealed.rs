//! Arguments of calls on their way to a client.
//!
//! ```text
//! push({"city": "Oslo"})     {"city": "Oslo"      the last bracket is held
//! end(true)                  }
//! end(false)                 ,]                   no reader of JSON accepts the arguments
//! ```

use llm_stream_guard::chat::Balance;
use pyo3::prelude::*;

/// The arguments of a call in a stream, of which only those of a call that may run parse as JSON.
#[pyclass(name = "SealedArguments", module = "toolcall_parsers")]
#[derive(Debug, Default)]
pub(crate) struct PySealedArguments {
    read: Balance,
    /// The last bracket, and text after it.
    held: String,
}

#[pymethods]
impl PySealedArguments {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Feeds the next text, and returns the text to send.
    fn push<'t>(&mut self, fragment: &'t str) -> &'t str {
        let held = match self.held.is_empty() {
            true => self.read.feed_until_close(fragment),
            false => fragment,
        };
        self.held.push_str(held);
        fragment.get(..fragment.len() - held.len()).unwrap_or_default()
    }

    /// Ends the arguments, and returns the last text to send: what was held if the call may run, or
    /// text that makes them invalid for every reader of JSON.
    fn end(&mut self, runs: bool) -> String {
        let held = std::mem::take(&mut self.held);
        if runs { held } else { self.read.seal() }
    }
}
