//! Earlier calls and results as text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolcall_parsers::{
    EncodeCall, EncodeError, Grammar, ToolResult, Tools, encode, encode_dropping_ids,
    template::Hole,
};

use super::{append, text_part};

/// Returns whether a message has calls or is the result of one.
pub(super) fn has_calls(message: &Value) -> bool {
    is_result(message)
        || message.get("function_call").is_some_and(|call| !call.is_null())
        || calls_of(message).any(is_function)
}

fn is_result(message: &Value) -> bool {
    matches!(message.get("role").and_then(Value::as_str), Some("tool" | "function"))
}

fn calls_of(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("tool_calls").and_then(Value::as_array).into_iter().flatten()
}

/// Returns whether a call is one of a function. Other calls stay in their message.
fn is_function(call: &Value) -> bool {
    call.get("function").is_some_and(Value::is_object)
}

fn string<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// A result that waits for the message after it.
struct ShownResult {
    /// The index of the call in its message.
    order: usize,
    text: String,
    /// Parts that are not text, such as images.
    others: Vec<Value>,
}

/// The rewriter of a request's messages.
pub(super) struct History<'h> {
    grammar: &'h Grammar,
    tools: &'h Tools,
    /// The names of the called tools, and the index of each call in its message, by id.
    called: BTreeMap<String, (String, usize)>,
    /// The ids of calls that stay in their message.
    kept: BTreeSet<String>,
    results: Vec<ShownResult>,
    out: Vec<Value>,
}

impl<'h> History<'h> {
    pub(super) fn new(grammar: &'h Grammar, tools: &'h Tools) -> Self {
        let (called, kept) = (BTreeMap::new(), BTreeSet::new());
        Self { grammar, tools, called, kept, results: Vec::new(), out: Vec::new() }
    }

    /// Returns the messages without calls and results.
    pub(super) fn written(mut self, messages: &[Value]) -> Vec<Value> {
        for message in messages {
            if is_result(message) && self.is_own(message) {
                self.result(message);
            } else {
                let mut message = message.clone();
                self.calls(&mut message);
                self.end_results(&mut message);
                self.out.push(message);
            }
        }
        self.end_results(&mut Value::Null);
        self.out
    }

    /// Returns whether a result is not that of a call that stays in its message.
    fn is_own(&self, result: &Value) -> bool {
        string(result, "tool_call_id").is_none_or(|id| !self.kept.contains(id))
    }

    /// Moves the calls of a message into its content.
    fn calls(&mut self, message: &mut Value) {
        let kept = calls_of(message).filter(|call| !is_function(call));
        self.kept.extend(kept.filter_map(|call| Some(string(call, "id")?.to_owned())));
        let older = message.get("function_call").filter(|call| call.is_object());
        let calls = calls_of(message).filter(|call| is_function(call));
        let calls = calls.map(|call| (call.get("function").unwrap_or(call), string(call, "id")));
        let calls = calls.chain(older.map(|call| (call, None)));
        let calls: Vec<WrittenCall> = calls.map(WrittenCall::new).collect();
        if calls.is_empty() {
            return;
        }
        for (index, call) in calls.iter().enumerate() {
            if let Some(id) = &call.id {
                self.called.insert(id.clone(), (call.name.clone(), index));
            }
        }
        let text = self.text_of(&calls);
        append(message, &text, "\n");
        let Some(message) = message.as_object_mut() else { return };
        message.shift_remove("function_call");
        let kept = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        let are_left = kept.is_some_and(|calls| {
            calls.retain(|call| !is_function(call));
            !calls.is_empty()
        });
        if !are_left {
            message.shift_remove("tool_calls");
        }
    }

    /// Returns calls in the syntax of the family, or as lines of JSON if it cannot write them.
    fn text_of(&self, calls: &[WrittenCall]) -> String {
        let shows_ids = self.grammar.family().prompt.result.holes();
        let shows_ids = shows_ids.into_iter().any(|hole| matches!(hole, Hole::Id(_)));
        let calls_to_write: Vec<_> = calls.iter().map(WrittenCall::to_encode).collect();
        let written = |tools: &Tools| -> Result<String, EncodeError> {
            match shows_ids {
                true => Ok(encode_dropping_ids(self.grammar, &calls_to_write, tools)?.0),
                false => {
                    let mut without_ids = calls_to_write.clone();
                    without_ids.iter_mut().for_each(|call| call.id = None);
                    encode(self.grammar, &without_ids, tools)
                }
            }
        };
        // A tool that is no longer declared has no schema, and a value may break its schema.
        let written = written(self.tools).or_else(|_| written(&Tools::implied_by(&calls_to_write)));
        written.unwrap_or_else(|_| {
            let lines: Vec<String> = calls.iter().map(WrittenCall::to_json).collect();
            lines.join("\n")
        })
    }

    /// Keeps the text of a result.
    fn result(&mut self, message: &Value) {
        let id = string(message, "tool_call_id");
        let called = id.and_then(|id| self.called.get(id));
        let name = string(message, "name").or_else(|| called.map(|(name, _)| &**name));
        let (text, others) = match message.get("content") {
            None | Some(Value::Null) => (String::new(), Vec::new()),
            Some(Value::String(text)) => (text.clone(), Vec::new()),
            Some(Value::Array(parts)) => {
                let is_text = |part: &&Value| string(part, "text").is_some();
                let (texts, others): (Vec<&Value>, Vec<&Value>) = parts.iter().partition(is_text);
                let texts: Vec<&str> =
                    texts.into_iter().filter_map(|part| string(part, "text")).collect();
                (texts.join("\n"), others.into_iter().cloned().collect())
            }
            Some(other) => (other.to_string(), Vec::new()),
        };
        let order = called.map_or(usize::MAX, |(_, order)| *order);
        let text = ToolResult { name, id, text: &text }.to_prompt(self.grammar);
        self.results.push(ShownResult { order, text, others });
    }

    /// Writes the results so far into `next`, if that is a message of the user, or else into a
    /// message of their own. Some chat templates refuse two messages of the user in a row.
    fn end_results(&mut self, next: &mut Value) {
        let mut results = std::mem::take(&mut self.results);
        if results.is_empty() {
            return;
        }
        results.sort_by_key(|result| result.order);
        let has_others = results.iter().any(|result| !result.others.is_empty());
        let mut parts = Vec::new();
        for result in results {
            parts.push(text_part(&result.text));
            parts.extend(result.others);
        }
        let is_user = string(next, "role") == Some("user");
        let mut message = json!({"role": "user", "content": Value::Null});
        let message = if is_user { next } else { &mut message };
        match message.get("content") {
            Some(Value::Array(after)) => parts.extend(after.iter().cloned()),
            Some(Value::String(after)) => parts.push(text_part(after)),
            _ => {}
        }
        let is_list = has_others || message.get("content").is_some_and(Value::is_array);
        message["content"] = match is_list {
            true => parts.into(),
            false => {
                let texts: Vec<&str> =
                    parts.iter().filter_map(|part| string(part, "text")).collect();
                texts.join("\n").into()
            }
        };
        if !is_user {
            let message = message.clone();
            self.out.push(message);
        }
    }
}

/// A call of an earlier message.
struct WrittenCall {
    name: String,
    arguments: String,
    id: Option<String>,
}

impl WrittenCall {
    fn new((function, id): (&Value, Option<&str>)) -> Self {
        let name = string(function, "name").unwrap_or_default().to_owned();
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(Value::String(text)) if text.trim().is_empty() => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        Self { name, arguments, id: id.map(str::to_owned) }
    }

    fn to_encode(&self) -> EncodeCall<'_> {
        let call = EncodeCall::new(&self.name, &self.arguments);
        self.id.as_deref().map_or(call, |id| call.with_id(id))
    }

    fn to_json(&self) -> String {
        let text = || Value::from(self.arguments.as_str());
        let arguments = serde_json::from_str(&self.arguments).unwrap_or_else(|_| text());
        json!({"name": self.name, "arguments": arguments}).to_string()
    }
}
