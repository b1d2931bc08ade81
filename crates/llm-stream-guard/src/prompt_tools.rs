//! Tools in the prompt, for models whose chat template declares none.
//!
//! ```text
//! tools: [tide]                          system: You can call tools. ... <tools>...</tools> ...
//! user: When is high tide?               user: When is high tide?
//! assistant: tool_calls: [tide(Brest)]   assistant: <tool_call>\n{"name": "tide", ...}\n</tool_call>
//! tool: At 5.                            user: <tool_response>\nAt 5.\n</tool_response>
//! ```

mod error;
mod history;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use toolcall_parsers::{Grammar, Tools, declare_tools};

pub use self::error::PromptToolsError;
use self::history::{History, has_calls};
use crate::{
    guard::{Declared, RequestedChoice, ToolChoice, is_function, name_of},
    profile::Profile,
};

/// Fields that a server refuses without tools.
const FIELDS: [&str; 5] =
    ["tools", "functions", "tool_choice", "function_call", "parallel_tool_calls"];

/// Moves the tools of a chat-completion request into its messages, as text in the syntax of
/// `profile`:
///
/// - The system message declares the tools, and a missing one is made. The text is that of
///   [`declare_tools`], followed by a sentence if the request demands a call or forbids several.
///   With the choice `none` no tool is declared.
/// - Calls of earlier messages become text of their message. A call that the family cannot write,
///   such as one whose arguments are not JSON, is written as a line of JSON.
/// - Results become text of a message of the user, in the order of their calls.
/// - `tools` and related fields are removed. Tools that are not functions stay.
///
/// Read the request with [`crate::GuardBuilder::request`] first, because the changed body no longer
/// has tools, and call this function before [`crate::forward_request`]. A body without `messages` is
/// unchanged.
///
/// ```
/// use llm_stream_guard::{move_tools_to_prompt, profile};
/// use serde_json::json;
/// let mut body = json!({
///     "tools": [{"type": "function", "function": {"name": "tide"}}],
///     "messages": [{"role": "user", "content": "When is high tide?"}],
/// });
/// move_tools_to_prompt(&mut body, &profile("json_in_tags")?)?;
/// assert!(body.get("tools").is_none());
/// let system = body["messages"][0]["content"].as_str().unwrap();
/// assert!(system.contains("<tools>\n{\"name\": \"tide\"}\n</tools>"));
/// assert!(system.contains("<tool_call>\n{\"name\": \"tide\", \"arguments\": {}}\n</tool_call>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A field of the request is malformed, or the profile reads no calls although the request has
/// tools or earlier calls. The body is then unchanged.
pub fn move_tools_to_prompt(body: &mut Value, profile: &Profile) -> Result<(), PromptToolsError> {
    let Some(messages) = body.get("messages").and_then(Value::as_array) else { return Ok(()) };
    let asked = ToolsAsked::read(body)?;
    let calls_tools = !asked.tools.is_empty() || messages.iter().any(has_calls);
    let changed = match profile.grammar_to_write().map_err(PromptToolsError::Family)? {
        Some(grammar) => {
            let system = asked.declaration(&grammar)?;
            let functions = Value::Array(asked.tools);
            // The entries were checked above.
            let tools = Tools::from_json(&functions).unwrap_or_default();
            let mut messages = History::new(&grammar, &tools).written(messages);
            declare(&mut messages, &system);
            messages
        }
        None if calls_tools => return Err(PromptToolsError::NoCalls(profile.name.clone())),
        None => messages.clone(),
    };
    let Some(fields) = body.as_object_mut() else { return Ok(()) };
    for name in FIELDS {
        fields.shift_remove(name);
    }
    if !asked.others.is_empty() {
        fields.insert("tools".into(), asked.others.into());
    }
    fields.insert("messages".into(), changed.into());
    Ok(())
}

/// The tools of a request, and its rules about calls.
#[derive(Debug)]
struct ToolsAsked {
    /// The functions that may be called.
    tools: Vec<Value>,
    others: Vec<Value>,
    choice: ToolChoice,
    is_single: bool,
}

impl ToolsAsked {
    fn read(body: &Value) -> Result<Self, PromptToolsError> {
        let Declared { others, .. } = Declared::read(body).map_err(PromptToolsError::Request)?;
        let RequestedChoice { choice, allowed, one } =
            RequestedChoice::read(body).map_err(PromptToolsError::Request)?;
        let lists = ["tools", "functions"].into_iter().filter_map(|key| body.get(key)?.as_array());
        let is_allowed = |tool: &&Value| {
            let names = allowed.as_deref();
            names.is_none_or(|names| names.iter().any(|known| Some(&**known) == name_of(tool)))
        };
        let functions = lists.flatten().filter(|tool| is_function(tool)).filter(is_allowed);
        Ok(Self {
            tools: functions.cloned().collect(),
            choice: choice.unwrap_or(ToolChoice::Auto),
            is_single: one || body.get("parallel_tool_calls") == Some(&Value::Bool(false)),
            others,
        })
    }

    /// Returns the text of the system message, which is empty if no tool may be called.
    fn declaration(&self, grammar: &Grammar) -> Result<String, PromptToolsError> {
        if self.tools.is_empty() || self.choice == ToolChoice::None {
            return Ok(String::new());
        }
        let tools = Value::Array(self.tools.clone());
        let mut text = declare_tools(grammar, &tools).map_err(PromptToolsError::Declare)?;
        match &self.choice {
            ToolChoice::Required => text.push_str("\nYou must call a tool now."),
            ToolChoice::Named(name) => {
                text.push_str(&format!("\nYou must call the tool `{name}` now."));
            }
            ToolChoice::Auto | ToolChoice::None => {}
        }
        if self.is_single {
            text.push_str("\nWrite at most one call in a message.");
        }
        Ok(text)
    }
}

/// Adds a text to the system message, which is made if there is none.
fn declare(messages: &mut Vec<Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    let is_system = |it: &&mut Value| matches!(it["role"].as_str(), Some("system" | "developer"));
    match messages.first_mut().filter(is_system) {
        Some(system) => append(system, text, "\n\n"),
        None => messages.insert(0, json!({"role": "system", "content": text})),
    }
}

/// Adds a text to the content of a message. A list of parts gets another part.
fn append(message: &mut Value, text: &str, separator: &str) {
    let Some(message) = message.as_object_mut() else { return };
    let content = message.entry("content").or_insert(Value::Null);
    match content {
        Value::String(before) if before.is_empty() => before.push_str(text),
        Value::String(before) => {
            before.push_str(separator);
            before.push_str(text);
        }
        Value::Array(parts) => {
            let separator = if parts.is_empty() { "" } else { separator };
            parts.push(text_part(&[separator, text].concat()));
        }
        _ => *content = text.into(),
    }
}

/// Returns a text as a part of a message's content.
fn text_part(text: &str) -> Value {
    let mut part = Map::new();
    part.insert("type".into(), "text".into());
    part.insert("text".into(), text.into());
    part.into()
}
