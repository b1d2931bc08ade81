//! Tools of a request for a response, and the choice among them.

use serde_json::{Map, Value, json};

use crate::{
    dialect::{fields::expected, unsupported::Unsupported},
    error::Fault,
};

/// The only argument of a tool that takes text.
pub(super) const INPUT: &str = "input";

/// Functions as chat completions have them. A tool that takes text becomes a function of one string.
pub(super) fn tools(tools: Value, unsupported: &mut Unsupported) -> Result<Vec<Value>, Fault> {
    let Value::Array(list) = tools else { return Err(expected("tools", "a list")) };
    let mut functions = Vec::new();
    for (n, mut tool) in list.into_iter().enumerate() {
        match tool.get("type").and_then(Value::as_str) {
            Some("function") => {
                nest(&mut tool);
                functions.push(tool);
            }
            Some("custom") => functions.push(custom(&tool, &format!("tools[{n}]"))?),
            Some(kind) => unsupported.drop(&format!("tools[{n}].type"), kind)?,
            None => return Err(expected(&format!("tools[{n}].type"), "text")),
        }
    }
    Ok(functions)
}

/// Returns the function that represents a tool with text as its input.
fn custom(tool: &Value, at: &str) -> Result<Value, Fault> {
    let text = |path: &str| tool.pointer(path).and_then(Value::as_str);
    let name = text("/name").ok_or_else(|| expected(&format!("{at}.name"), "text"))?;
    let mut about = text("/description").unwrap_or_default().to_owned();
    if let Some(grammar) = text("/format/definition") {
        let syntax = text("/format/syntax").unwrap_or("a");
        about.push_str(&format!("\n\nThe input follows this {syntax} grammar:\n{grammar}"));
    }
    Ok(json!({"type": "function", "function": {
        "name": name,
        "description": about.trim_start(),
        "parameters": {
            "type": "object",
            "properties": {INPUT: {"type": "string"}},
            "required": [INPUT],
            "additionalProperties": false,
        },
    }}))
}

/// The names of the tools of a request that take text.
pub(super) fn custom_names(asked: &Value) -> Vec<String> {
    let tools = asked.get("tools").and_then(Value::as_array).into_iter().flatten();
    let custom = tools.filter(|tool| tool.get("type").is_some_and(|kind| kind == "custom"));
    custom.filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())).collect()
}

/// A choice as chat completions have it. One of a tool that is left out leaves the choice open.
pub(super) fn tool_choice(mut choice: Value) -> Value {
    match choice.get("type").and_then(Value::as_str) {
        Some("function") => nest(&mut choice),
        Some("custom") => {
            choice = json!({"type": "function", "function": {"name": choice.get("name")}});
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

/// Moves the description of a function into a field, as chat completions have it.
fn nest(tool: &mut Value) {
    let Some(fields) = tool.as_object_mut() else { return };
    let kind = fields.shift_remove("type");
    let function = Value::Object(std::mem::take(fields));
    let mut nested: Map<String, Value> =
        kind.map(|kind| ("type".to_owned(), kind)).into_iter().collect();
    nested.insert("function".into(), function);
    *fields = nested;
}
