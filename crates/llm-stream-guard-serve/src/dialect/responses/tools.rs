//! Tools of a request for a response, and the choice among them.
//!
//! A tool of a namespace, `{"type": "namespace", "name": "clock", "tools": [{"name": "sleep", ..}]}`, becomes the
//! function `clock__sleep`. Its call is an item with both names again.

use serde_json::{Map, Value, json};

use crate::{
    dialect::{fields::expected, unsupported::Unsupported},
    error::Fault,
};

/// The only argument of a tool that takes text.
pub(super) const INPUT: &str = "input";

/// The type of a tool with which a model searches for further tools, and the name of its function.
pub(super) const SEARCH: &str = "tool_search";

/// The type of input items with the tools that a search found.
pub(super) const FOUND: &str = "tool_search_output";

/// A type of input items with tools, and the field of the body with their tools: a list of lists.
pub(super) const ADDITIONAL: &str = "additional_tools";

/// Adds tools as functions of chat completions. A tool that takes text becomes a function of one
/// string.
pub(super) fn tools(
    tools: Value,
    at: &str,
    unsupported: &mut Unsupported,
    functions: &mut Vec<Value>,
) -> Result<(), Fault> {
    let Value::Array(list) = tools else { return Err(expected(at, "a list")) };
    for (n, mut tool) in list.into_iter().enumerate() {
        let at = format!("{at}[{n}]");
        if tool.get("type").is_none_or(|kind| kind != "namespace") {
            functions.extend(function(tool, &at, None, unsupported)?);
            continue;
        }
        let inner = match tool.get_mut("tools").map(Value::take) {
            Some(Value::Array(inner)) => inner,
            None | Some(Value::Null) => {
                unsupported.drop(&format!("{at}.tools"), "namespace")?;
                continue;
            }
            Some(_) => return Err(expected(&format!("{at}.tools"), "a list")),
        };
        let namespace = tool.get("name").and_then(Value::as_str);
        for (n, tool) in inner.into_iter().enumerate() {
            let at = format!("{at}.tools[{n}]");
            functions.extend(function(tool, &at, namespace, unsupported)?);
        }
    }
    Ok(())
}

/// Returns the function that represents a tool, unless there is none and the tool is omitted.
fn function(
    mut tool: Value,
    at: &str,
    namespace: Option<&str>,
    unsupported: &mut Unsupported,
) -> Result<Option<Value>, Fault> {
    let Some(kind) = tool.get("type").and_then(Value::as_str) else {
        return Err(expected(&format!("{at}.type"), "text"));
    };
    match kind {
        "function" => {
            if let Some(name) = tool.get_mut("name") {
                *name = function_name(namespace, name.as_str().unwrap_or_default()).into();
            }
            nest(&mut tool);
            Ok(Some(tool))
        }
        "custom" => custom(&tool, at, namespace).map(Some),
        SEARCH if is_clients(&tool) => Ok(Some(search(&mut tool))),
        kind => unsupported.drop(&format!("{at}.type"), kind).map(|()| None),
    }
}

/// Returns the name of the function that represents a tool, with its namespace if it has one.
pub(super) fn function_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}__{name}"))
}

/// Whether the client itself runs a search for tools.
fn is_clients(tool: &Value) -> bool {
    tool.get("execution").is_none_or(|execution| execution == "client")
}

/// Returns the function that represents a search for tools.
fn search(tool: &mut Value) -> Value {
    let mut field = |name: &str| tool.get_mut(name).map(Value::take).unwrap_or_default();
    let (description, parameters) = (field("description"), field("parameters"));
    let mut function = json!({"name": SEARCH});
    for (name, value) in [("description", description), ("parameters", parameters)] {
        if !value.is_null() {
            function[name] = value;
        }
    }
    json!({"type": "function", "function": function})
}

/// Returns the function that represents a tool with text as its input.
fn custom(tool: &Value, at: &str, namespace: Option<&str>) -> Result<Value, Fault> {
    let text = |path: &str| tool.pointer(path).and_then(Value::as_str);
    let name = text("/name").ok_or_else(|| expected(&format!("{at}.name"), "text"))?;
    let mut about = text("/description").unwrap_or_default().to_owned();
    if let Some(grammar) = text("/format/definition") {
        let syntax = text("/format/syntax").unwrap_or("a");
        about.push_str(&format!("\n\nThe input follows this {syntax} grammar:\n{grammar}"));
    }
    Ok(json!({"type": "function", "function": {
        "name": function_name(namespace, name),
        "description": about.trim_start(),
        "parameters": {
            "type": "object",
            "properties": {INPUT: {"type": "string"}},
            "required": [INPUT],
            "additionalProperties": false,
        },
    }}))
}

/// A tool whose calls differ from those of the function that represents it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolName {
    /// The function's name.
    pub(super) function: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) kind: ToolKind,
}

/// The kind of a tool, which decides the form of its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Function,
    /// The tool takes text.
    Custom,
    /// The tool searches for further tools.
    Search,
}

/// Returns the tools of a request whose calls differ from those of functions: they take text, have
/// a namespace or search for tools.
pub(super) fn tool_names(asked: &Value) -> Vec<ToolName> {
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).map(str::to_owned);
    let further = list(asked.get(ADDITIONAL)).flat_map(|tools| list(Some(tools)));
    let mut names = Vec::new();
    for tool in list(asked.get("tools")).chain(further) {
        let is_namespace = text(tool, "type").as_deref() == Some("namespace");
        let namespace = text(tool, "name").filter(|_| is_namespace);
        let inner = is_namespace.then(|| list(tool.get("tools")));
        for tool in inner.into_iter().flatten().chain((!is_namespace).then_some(tool)) {
            let kind = match text(tool, "type").as_deref() {
                Some("custom") => ToolKind::Custom,
                Some(SEARCH) if is_clients(tool) => ToolKind::Search,
                _ => ToolKind::Function,
            };
            let name = match kind {
                ToolKind::Search => Some(SEARCH.to_owned()),
                _ => text(tool, "name").filter(|_| kind == ToolKind::Custom || is_namespace),
            };
            let Some(name) = name else { continue };
            let function = function_name(namespace.as_deref(), &name);
            names.push(ToolName { function, namespace: namespace.clone(), name, kind });
        }
    }
    names
}

/// Returns the entries of a list. Other values have none.
fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Converts a choice into that of chat completions. The choice of an omitted tool becomes `auto`.
pub(super) fn tool_choice(mut choice: Value) -> Value {
    match choice.get("type").and_then(Value::as_str) {
        Some("function" | "custom") => {
            let text = |key: &str| choice.get(key).and_then(Value::as_str);
            let name = function_name(text("namespace"), text("name").unwrap_or_default());
            choice = json!({"type": "function", "function": {"name": name}});
        }
        Some("allowed_tools") => {
            let tools = choice.get_mut("tools").and_then(Value::as_array_mut);
            let tools = tools.map(std::mem::take).unwrap_or_default().into_iter();
            let tools: Vec<Value> = tools
                .filter(|tool| {
                    let kind = tool.get("type").and_then(Value::as_str);
                    matches!(kind, Some("function" | "custom"))
                })
                .map(tool_choice)
                .collect();
            let mode = choice.get("mode").cloned().unwrap_or_else(|| "auto".into());
            choice = json!({"type": "allowed_tools",
                            "allowed_tools": {"mode": mode, "tools": tools}});
        }
        Some(_) => return "auto".into(),
        None => {}
    }
    choice
}

/// Moves the description of a function into the field `function`, as in chat completions.
fn nest(tool: &mut Value) {
    let Some(fields) = tool.as_object_mut() else { return };
    let kind = fields.shift_remove("type");
    let function = Value::Object(std::mem::take(fields));
    let mut nested: Map<String, Value> =
        kind.map(|kind| ("type".to_owned(), kind)).into_iter().collect();
    nested.insert("function".into(), function);
    *fields = nested;
}
