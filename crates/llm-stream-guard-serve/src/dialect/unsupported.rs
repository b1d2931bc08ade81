//! Tools and items that chat completions have no word for: left out and noted, or refused.

use crate::{config::UnsupportedTools, dialect::fields::expected, error::Fault};

/// What may be left out, by the names that are counted.
const KINDS: [&str; 21] = [
    "code_execution",
    "code_interpreter",
    "compaction",
    "computer",
    "document",
    "file",
    "file_search",
    "image",
    "image_generation",
    "item_reference",
    "local_shell",
    "mcp",
    "memory",
    "namespace",
    "search_result",
    "server_tool",
    "shell",
    "text_editor",
    "tool_search",
    "web_fetch",
    "web_search",
];

/// What was left out of a request.
#[derive(Debug)]
pub(crate) struct Unsupported {
    policy: UnsupportedTools,
    dropped: Vec<&'static str>,
}

impl Unsupported {
    pub(crate) fn new(policy: UnsupportedTools) -> Self {
        Self { policy, dropped: Vec::new() }
    }

    /// Leaves out what is of this `kind`, which the field `at` says.
    ///
    /// # Errors
    /// It is to be refused.
    pub(crate) fn drop(&mut self, at: &str, kind: &str) -> Result<(), Fault> {
        if self.policy == UnsupportedTools::Refuse {
            return Err(expected(at, "a type that chat completions know"));
        }
        self.note(kind);
        Ok(())
    }

    /// Notes that something of this `kind` was left out, whatever the policy.
    pub(crate) fn note(&mut self, kind: &str) {
        // A name may have a version behind it.
        let named = KINDS.into_iter().rfind(|known| kind.starts_with(known));
        self.dropped.push(named.unwrap_or("other"));
    }

    /// The kinds of what was left out, one for each time.
    pub(crate) fn into_dropped(self) -> Vec<&'static str> {
        self.dropped
    }
}
