//! The declared tools. Their names distinguish calls from text. Their schemas give types to values.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::fmt;

use serde_json::Value;

/// The tools that a request declared. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    list: Arc<[Tool]>,
}

/// A tool that a request declared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name of the tool.
    pub name: String,
    /// The JSON schema of the arguments, or `null`.
    pub parameters: Value,
}

impl Tools {
    /// Creates an empty list. Every name is then accepted, and no value has a declared type.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a list from names and schemas.
    pub fn new<N: Into<String>>(tools: impl IntoIterator<Item = (N, Value)>) -> Self {
        let list = tools
            .into_iter()
            .map(|(name, parameters)| Tool { name: name.into(), parameters })
            .collect();
        Self { list }
    }

    /// Reads the `tools` of a request. An entry is `{"type": "function", "function": {"name",
    /// "parameters"}}` or the inner object alone. `input_schema` is accepted for `parameters`.
    ///
    /// # Errors
    /// The value is not an array, or an entry has no name. The error names the entry and the
    /// missing member.
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

    /// Returns whether no tools were declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the tool called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.list.iter().find(|tool| tool.name == name)
    }

    /// Returns the declared name inside a `name` that is not declared, but was written with more:
    ///
    /// ```text
    /// bash<|channel|>commentary   a piece of the message's header
    /// functions.bash, functions_bash_2, functions.bash:2   the namespace, the number of the call
    /// ```
    #[must_use]
    pub fn declared_in(&self, name: &str) -> Option<&str> {
        if self.admits(name) {
            return None;
        }
        let found = |name: &str| self.get(name).map(|tool| tool.name.as_str());
        let head = name.split_once("<|").map_or(name, |(head, _)| head);
        let inner = head.strip_prefix("functions").and_then(|it| it.strip_prefix(['.', '_']));
        let numbered = inner.and_then(|inner| inner.rsplit_once([':', '_']));
        let unnumbered = numbered
            .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
            .map(|(inner, _)| inner);
        [Some(head), inner, unnumbered].into_iter().flatten().find_map(found)
    }

    /// Returns whether `name` is declared. Without declared tools every name is.
    #[must_use]
    pub fn admits(&self, name: &str) -> bool {
        self.is_empty() || self.get(name).is_some()
    }

    /// Returns whether an admitted name may begin with `head`.
    pub(crate) fn may_become(&self, head: &str) -> bool {
        self.is_empty() || self.iter().any(|tool| tool.name.starts_with(head))
    }

    /// Returns the tools, in the order of the request.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.list.iter()
    }
}

/// The error of [`Tools::from_json`]: the value is not a list of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsError(String);

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ToolsError {}
