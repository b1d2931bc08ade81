//! Reading of chat-completion requests: the parts that matter for the text of the answer.

mod choice;
mod tools;

use std::{collections::BTreeMap, fmt};

use serde_json::Value;
use think_filter::Start;
use toolcall_parsers::{Parallel, Tools};

pub(crate) use self::{
    choice::RequestedChoice,
    tools::{Declared, is_function, name_of},
};
use super::{BuildError, GuardBuilder, ToolChoice};
use crate::{
    profile::Profile,
    reasoning::{Reasoning, reasoning},
    stop::{Shown, StopString},
};

/// Settings from a request and a model's id, for [`GuardBuilder::build`].
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    fault: Option<RequestError>,
    /// The request declared tools that can be called by name.
    declares: bool,
    set_aside: Vec<Value>,
    /// Arguments for the chat template that are on or off.
    arguments: BTreeMap<String, bool>,
    /// Whether an option of the request, not of the template, turns reasoning on.
    reasoning: Option<bool>,
    /// Whether a `reasoning_effort`, in the template's arguments or in the request, asks for
    /// reasoning.
    effort: Option<bool>,
    /// Number of answers the request asks for, if it has one.
    answers: Option<u32>,
    /// Whether the answer is JSON: the server is asked for a format.
    pub(super) json: bool,
    /// Whether the prompt is the text of a message to be continued.
    pub(super) continued: bool,
}

impl GuardBuilder {
    /// Reads the body of the chat-completion request that the stream answers: `tools`,
    /// `tool_choice`, `parallel_tool_calls`, `stop`, `n`, and whether reasoning is on. Settings
    /// without a field in the request stay.
    ///
    /// - Tools of the type `function` count, and those of Anthropic's requests. Others (`custom`,
    ///   `web_search`) are set aside: [`GuardBuilder::tools_set_aside`].
    /// - `tool_choice` is read as by [`ToolChoice::from_json`]. `allowed_tools` declares only its
    ///   tools. The choice of a tool that was set aside becomes the model's choice.
    /// - For a model found by its id whose template opens the reasoning by default,
    ///   `chat_template_kwargs` decide, then the request's own options: `enable_thinking`, `think`,
    ///   `thinking`, `reasoning`, and a `reasoning_effort` of `none`. Where the template reads
    ///   `reasoning_effort`, that decides first.
    /// - If the server is asked for JSON (`response_format`, `guided_json`, `structured_outputs`), an
    ///   answer that begins with a bracket is content, wherever the prompt ends.
    /// - A final message to be continued decides where the answer begins.
    /// - Generated ids continue after the calls of earlier messages.
    ///
    /// A malformed field, and tools for a profile that reads no calls, are errors of
    /// [`GuardBuilder::build`]. To pass tools for their names and types alone, use
    /// [`GuardBuilder::tools`].
    #[must_use]
    pub fn request(mut self, body: &Value) -> Self {
        match self.read(body) {
            Ok(()) => {}
            Err(fault) => self.asked.fault = Some(fault),
        }
        self
    }

    /// Returns the tools of the request that are not functions: the server makes their calls, or
    /// their calls are not JSON with a schema.
    #[must_use]
    pub fn tools_set_aside(&self) -> &[Value] {
        &self.asked.set_aside
    }

    /// Returns the number of answers that the request asks for, `n`. Each is read by its own guard;
    /// [`crate::chat::ChatGuard`] creates one per choice.
    #[must_use]
    pub fn answers(&self) -> u32 {
        self.asked.answers.unwrap_or(1)
    }

    fn read(&mut self, body: &Value) -> Result<(), RequestError> {
        if !body.is_object() {
            return Err(RequestError::new("", "an object"));
        }
        let Declared { mut functions, others } = Declared::read(body)?;
        let RequestedChoice { choice, allowed, one } = RequestedChoice::read(body)?;
        if let Some(allowed) = allowed {
            functions.retain(|(name, _)| allowed.contains(name));
        }
        if !functions.is_empty() {
            self.asked.declares = true;
            self.tools = Tools::new(functions);
        }
        self.asked.set_aside.extend(others);
        if let Some(choice) = choice {
            self.choice = choice;
        }
        if one || body.get("parallel_tool_calls") == Some(&Value::Bool(false)) {
            self.calls.parallel = Parallel::One;
        }
        self.calls.ids = std::mem::take(&mut self.calls.ids).after(earlier_calls(body));
        self.stop.extend(stop(body)?);
        self.asked.answers = answers(body)?.or(self.asked.answers);
        let arguments = body.get("chat_template_kwargs").and_then(Value::as_object);
        let flags = arguments.into_iter().flatten();
        let flags = flags.filter_map(|(name, value)| Some((name.clone(), value.as_bool()?)));
        self.asked.arguments.extend(flags);
        self.asked.reasoning = reasoning_is_on(body).or(self.asked.reasoning);
        self.asked.effort = effort_is_on(body).or(self.asked.effort);
        self.asked.json |= asks_json(body);
        if self.prompt.is_none() {
            self.prompt = continued(body).map(str::to_owned);
            self.asked.continued = self.prompt.is_some();
        }
        Ok(())
    }

    /// Returns the builder with the settings of the request applied.
    ///
    /// # Errors
    /// Returns an error for a malformed request, or for tools with a profile that reads no calls.
    pub(super) fn heeding_request(mut self) -> Result<Self, BuildError> {
        if let Some(fault) = self.asked.fault.take() {
            return Err(BuildError::Request(fault));
        }
        // A required call can be read without a grammar.
        let declares = self.asked.declares || !self.tools.is_empty();
        let by_grammar = declares && self.choice == ToolChoice::Auto;
        if by_grammar && self.profile.grammar.is_none() && !reads_calls(&self.profile) {
            return Err(BuildError::NoToolGrammar { profile: self.profile.name });
        }
        self.profile.start = self.asked.start(&self.profile);
        Ok(self)
    }
}

impl Asked {
    /// Returns where the answer begins without a prompt.
    pub(super) fn start(&self, profile: &Profile) -> Start {
        if profile.switch.is_empty() {
            return profile.start;
        }
        // Templates that read the effort prefer it to an argument that is on or off.
        let effort = self.effort.filter(|_| profile.switch.contains_key(EFFORT));
        // Requests set one of several arguments with the same meaning.
        let mut named =
            profile.switch.keys().filter_map(|name| self.arguments.get(name)).peekable();
        let is_on = match (named.peek(), self.reasoning) {
            _ if effort.is_some() => effort == Some(true),
            (Some(_), _) => named.all(|&on| on),
            (None, Some(on)) => on,
            (None, None) => profile.switch.values().all(|&on| on),
        };
        if is_on { Start::Reasoning } else { Start::Content }
    }

    /// Returns whether a model may begin with a thought that its prompt did not open: nothing in
    /// the request or in the template closes it.
    pub(super) fn may_think(&self, profile: &Profile) -> bool {
        let is_off = self.reasoning == Some(false) || self.effort == Some(false);
        let mut switches = SWITCHES.iter().filter_map(|name| self.arguments.get(*name));
        profile.switch.is_empty() && !is_off && switches.all(|&on| on)
    }
}

/// Whether a profile reads calls: some profiles do so by their reasoning format.
fn reads_calls(profile: &Profile) -> bool {
    #[cfg(feature = "response-templates")]
    if let Some(template) = &profile.response_template {
        return template.has_calls();
    }
    let format = profile.reasoning.as_deref().map(reasoning);
    profile.tools.is_some() || matches!(format, Some(Ok(Reasoning::Channels(_))))
}

/// Returns the stop strings of a request.
fn stop(body: &Value) -> Result<Vec<StopString>, RequestError> {
    let shown = body.get("include_stop_str_in_output") == Some(&Value::Bool(true));
    let shown = if shown { Shown::Visible } else { Shown::Hidden };
    let made = |text: &str| StopString { text: text.to_owned(), shown };
    let mut strings = Vec::new();
    for key in ["stop", "stop_sequences"] {
        match body.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => strings.push(made(text)),
            Some(Value::Array(texts)) => {
                for (i, text) in texts.iter().enumerate() {
                    let fault = || RequestError::new(format!("{key}[{i}]"), "a string");
                    strings.push(made(text.as_str().ok_or_else(fault)?));
                }
            }
            Some(_) => return Err(RequestError::new(key, "a string or a list of strings")),
        }
    }
    Ok(strings)
}

/// Returns the number of answers that a request asks for.
fn answers(body: &Value) -> Result<Option<u32>, RequestError> {
    let Some(value) = body.get("n").filter(|value| !value.is_null()) else { return Ok(None) };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    let number = number.filter(|&number| number > 0);
    number.map(Some).ok_or_else(|| RequestError::new("n", "a positive number"))
}

/// Returns the number of calls in the assistant's messages, in the form of OpenAI's or Anthropic's
/// API.
fn earlier_calls(body: &Value) -> u32 {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let calls = messages.map(|message| {
        let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
        let used = parts.filter(|part| part.get("type") == Some(&"tool_use".into())).count();
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
        calls.saturating_add(used)
    });
    u32::try_from(calls.sum::<usize>()).unwrap_or(u32::MAX)
}

/// Returns whether the options of a request turn reasoning on or off, in the spelling of each API.
fn reasoning_is_on(body: &Value) -> Option<bool> {
    let flag = |name: &str| body.get(name).and_then(Value::as_bool);
    let word = |path: &str| body.pointer(path).and_then(Value::as_str);
    let own = flag("enable_thinking").or_else(|| flag("think")).or_else(|| flag("thinking"));
    own.or_else(|| match word("/thinking/type")? {
        "enabled" | "adaptive" => Some(true),
        "disabled" => Some(false),
        _ => None,
    })
    .or_else(|| body.pointer("/reasoning/enabled").and_then(Value::as_bool))
    // Only some templates reason because of an effort, but no template reasons with effort `none`.
    .or_else(|| effort_is_on(body).filter(|on| !on))
}

/// Arguments by which templates turn reasoning on or off. Families that begin by them name theirs.
const SWITCHES: [&str; 5] =
    ["enable_reasoning", "enable_thinking", "reasoning", "think", "thinking"];

/// Argument of templates that names an effort.
const EFFORT: &str = "reasoning_effort";

/// Whether the effort of reasoning that the request names is one.
fn effort_is_on(body: &Value) -> Option<bool> {
    let word = |path: &str| body.pointer(path).and_then(Value::as_str);
    let effort = word("/chat_template_kwargs/reasoning_effort")
        .or_else(|| word("/reasoning_effort"))
        .or_else(|| word("/reasoning/effort"));
    effort.map(|effort| effort != "none")
}

/// Returns whether a request asks the server for JSON, in the spelling of each API.
fn asks_json(body: &Value) -> bool {
    let kind = body.pointer("/response_format/type").and_then(Value::as_str);
    let fields = ["/guided_json", "/json_schema", "/structured_outputs/json", "/format"];
    matches!(kind, Some("json_object" | "json_schema"))
        || body.pointer("/structured_outputs/json_object") == Some(&Value::Bool(true))
        || fields.iter().any(|field| body.pointer(field).is_some_and(|it| !it.is_null()))
}

/// Returns the text of the last message, if the answer continues it.
fn continued(body: &Value) -> Option<&str> {
    body.get("continue_final_message").filter(|it| **it == Value::Bool(true))?;
    let last = body.get("messages")?.as_array()?.last()?;
    last.get("content")?.as_str()
}

/// An error in a malformed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    field: String,
    expected: &'static str,
}

impl RequestError {
    fn new(field: impl Into<String>, expected: &'static str) -> Self {
        Self { field: field.into(), expected }
    }

    /// Returns the malformed field, such as `tools[0].function.name`, or empty text for the request
    /// itself.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, expected } = self;
        if field.is_empty() {
            return write!(f, "request: expected {expected}");
        }
        write!(f, "request, `{field}`: expected {expected}")
    }
}

impl std::error::Error for RequestError {}
