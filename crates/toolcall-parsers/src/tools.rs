//! The declared tools: names to check against and schemas to type by.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::fmt;

use serde_json::Value;

/// The tools a request declared. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    list: Arc<[Tool]>,
}

/// A tool of the request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Name of the declared tool.
    pub name: String,
    /// The JSON schema of its arguments; `null` if it has none.
    pub parameters: Value,
}

impl Tools {
    /// No tools declared: every name is accepted, nothing is typed.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Tools by name and schema.
    pub fn new<N: Into<String>>(tools: impl IntoIterator<Item = (N, Value)>) -> Self {
        let list = tools
            .into_iter()
            .map(|(name, parameters)| Tool { name: name.into(), parameters })
            .collect();
        Self { list }
    }

    /// Reads a list of tools as requests contain them: `{"type": "function", "function": {"name",
    /// "parameters"}}`, or the inner object alone (with `input_schema` accepted for `parameters`).
    ///
    /// # Errors
    /// An entry that is not a tool. The error names the entry and the missing member.
    pub fn from_json(tools: &Value) -> Result<Self, ToolsError> {
        let Some(entries) = tools.as_array() else {
            return Err(ToolsError("expected an array of tools".to_string()));
        };
        let mut list = Vec::with_capacity(entries.len());
        for (i, entry) in entries.iter().enumerate() {
            let function = entry.get("function").unwrap_or(entry);
            let Some(name) = function.get("name").and_then(Value::as_str) else {
                return Err(ToolsError(format!(
                    "tool {i}: expected a string at `function.name` or `name`"
                )));
            };
            let parameters =
                function.get("parameters").or_else(|| function.get("input_schema")).cloned();
            list.push(Tool { name: name.to_owned(), parameters: parameters.unwrap_or_default() });
        }
        Ok(Self { list: list.into() })
    }

    /// Whether no tools were declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The tool called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.list.iter().find(|tool| tool.name == name)
    }

    /// Whether a call of `name` may be one: it is declared, or nothing is.
    #[must_use]
    pub fn admits(&self, name: &str) -> bool {
        self.is_empty() || self.get(name).is_some()
    }

    /// Whether `head` may be the beginning of an admitted name.
    pub(crate) fn may_become(&self, head: &str) -> bool {
        self.is_empty() || self.iter().any(|tool| tool.name.starts_with(head))
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.list.iter()
    }
}

/// A tool list that is not one. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsError(String);

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ToolsError {}
