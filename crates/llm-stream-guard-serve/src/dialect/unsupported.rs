//! Tools and items without an equivalent in chat completions, which are omitted and noted, or
//! refused.

use serde::{Deserialize, Serialize};

use crate::{dialect::fields::expected, error::Fault};

/// Policy for tools and items of messages and responses without an equivalent in chat completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnsupportedTools {
    /// Omits, counts and logs them.
    Drop,
    /// The request is refused.
    Refuse,
}

/// Kinds of tools and items that may be omitted, by their names in metrics.
const KINDS: [&str; 20] = [
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
    "search_result",
    "server_tool",
    "shell",
    "text_editor",
    "tool_search",
    "web_fetch",
    "web_search",
];

/// The tools and items omitted from a request.
#[derive(Debug)]
pub(crate) struct Unsupported {
    policy: UnsupportedTools,
    dropped: Vec<&'static str>,
}

impl Unsupported {
    pub(crate) fn new(policy: UnsupportedTools) -> Self {
        Self { policy, dropped: Vec::new() }
    }

    /// Omits an item of this `kind` at the field `at`.
    ///
    /// # Errors
    /// The configuration refuses such items.
    pub(crate) fn drop(&mut self, at: &str, kind: &str) -> Result<(), Fault> {
        if self.policy == UnsupportedTools::Refuse {
            return Err(expected(at, "a type that chat completions know"));
        }
        self.note(kind);
        Ok(())
    }

    /// Counts an omitted item of this `kind`, regardless of the policy.
    pub(crate) fn note(&mut self, kind: &str) {
        // A kind may be a known name with a version after it.
        let named = KINDS.into_iter().rfind(|known| kind.starts_with(known));
        self.dropped.push(named.unwrap_or("other"));
    }

    /// Returns the kind of each omitted tool and item.
    pub(crate) fn into_dropped(self) -> Vec<&'static str> {
        self.dropped
    }
}
