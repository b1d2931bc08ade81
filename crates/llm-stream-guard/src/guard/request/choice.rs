//! Reading of `tool_choice` and related fields of requests.

use serde_json::Value;

use super::{RequestError, tools::name_of};
use crate::guard::ToolChoice;

/// The request's rule about calls.
#[derive(Debug, Default)]
pub(crate) struct RequestedChoice {
    /// `None` if the request has no rule.
    pub(crate) choice: Option<ToolChoice>,
    /// Names of the tools that may be called, or `None` if all declared tools may be called.
    pub(crate) allowed: Option<Vec<String>>,
    /// Whether at most one call may be made.
    pub(crate) one: bool,
}

impl RequestedChoice {
    pub(crate) fn read(body: &Value) -> Result<Self, RequestError> {
        // The older name goes with `functions`.
        let keys = ["tool_choice", "function_call"];
        let said = keys.iter().find_map(|key| Some((*key, body.get(*key)?)));
        let Some((key, value)) = said.filter(|(_, value)| !value.is_null()) else {
            return Ok(Self::default());
        };
        let one = value.get("disable_parallel_tool_use") == Some(&Value::Bool(true));
        let mut allowed = None;
        let choice = match kind(value) {
            Some("allowed_tools") => {
                let inner = value.get("allowed_tools").unwrap_or(value);
                let tools = inner.get("tools").and_then(Value::as_array);
                let fault = || RequestError::new(format!("{key}.tools"), "a list of tools");
                let names = tools.ok_or_else(fault)?.iter().filter_map(name_of);
                allowed = Some(names.map(str::to_owned).collect());
                inner.get("mode").map_or(Some(ToolChoice::Auto), ToolChoice::from_json)
            }
            // Calls of a tool that is set aside are not read.
            Some(kind) if !KINDS.contains(&kind) => Some(ToolChoice::Auto),
            _ => ToolChoice::from_json(value),
        };
        let fault = || RequestError::new(key, "`auto`, `none`, `required` or a tool");
        Ok(Self { choice: Some(choice.ok_or_else(fault)?), allowed, one })
    }
}

/// Types of a choice that concern functions.
const KINDS: [&str; 6] = ["auto", "none", "required", "any", "function", "tool"];

fn kind(choice: &Value) -> Option<&str> {
    choice.get("type")?.as_str()
}

impl ToolChoice {
    /// Reads the `tool_choice` of a request: `auto`, `none`, `required` or `any`, alone or as the
    /// `type` of an object; `{"type": "function", "function": {"name": ..}}` or
    /// `{"type": "tool", "name": ..}`. `None` for what is neither.
    #[must_use]
    pub fn from_json(choice: &Value) -> Option<Self> {
        match choice.as_str().or_else(|| kind(choice)) {
            Some("auto") => Some(Self::Auto),
            Some("none") => Some(Self::None),
            // Some servers write `any` for `required`.
            Some("required" | "any") => Some(Self::Required),
            _ => Some(Self::Named(name_of(choice)?.to_owned())),
        }
    }
}
