//! From a request for a response to one for a chat completion.

use serde_json::{Map, Value, json};

use crate::{
    dialect::fields::{count_at_end, expected, rename},
    error::{Fault, Kind},
};

/// Fields that ask for what nobody here remembers.
const STATEFUL: [&str; 4] = ["previous_response_id", "conversation", "background", "prompt"];

/// Fields that mean nothing to a chat completion.
const DROPPED: [&str; 5] = ["include", "store", "truncation", "text", "reasoning"];

/// The chat completion that answers a request for a response. Fields that chat completions do not
/// know otherwise stay: servers may.
///
/// # Errors
/// A part of it is malformed, needs a state that is not kept, or is of a kind that chat completions
/// have no word for; the fault names the field.
pub fn request(body: Value) -> Result<Value, Fault> {
    let Value::Object(mut body) = body else { return Err(expected("", "an object")) };
    for name in STATEFUL {
        let unset = |it: &Value| it.is_null() || *it == Value::Bool(false);
        if body.shift_remove(name).is_some_and(|it| !unset(&it)) {
            return Err(
                Fault::new(Kind::Request, "no state is kept: send the whole input").at(name)
            );
        }
    }
    let mut messages = Vec::new();
    if let Some(text) = body.shift_remove("instructions").filter(|it| !it.is_null()) {
        messages.push(message("system", text));
    }
    match body.shift_remove("input") {
        Some(Value::String(text)) => messages.push(message("user", text.into())),
        Some(Value::Array(items)) => {
            for (n, item) in items.iter().enumerate() {
                self::item(item, &format!("input[{n}]"), &mut messages)?;
            }
        }
        _ => return Err(expected("input", "text or a list")),
    }
    body.insert("messages".into(), messages.into());
    rename(&mut body, "max_output_tokens", "max_tokens");
    if let Some(format) = body.get("text").and_then(|text| text.get("format")) {
        let format = self::format(format);
        body.insert("response_format".into(), format);
    }
    if let Some(effort) = body.get("reasoning").and_then(|it| it.get("effort")).cloned() {
        body.insert("reasoning_effort".into(), effort);
    }
    for name in DROPPED {
        body.shift_remove(name);
    }
    if let Some(tools) = body.shift_remove("tools").filter(|it| !it.is_null()) {
        body.insert("tools".into(), self::tools(&tools)?);
    }
    if let Some(choice) = body.get_mut("tool_choice") {
        nest(choice);
    }
    count_at_end(&mut body);
    Ok(body.into())
}

/// Adds what `item` says to the messages. What an assistant did in a row is one message.
fn item(item: &Value, at: &str, messages: &mut Vec<Map<String, Value>>) -> Result<(), Fault> {
    let text = |key: &str| {
        let text = item.get(key).and_then(Value::as_str);
        text.ok_or_else(|| expected(&format!("{at}.{key}"), "text"))
    };
    match item.get("type").and_then(Value::as_str).unwrap_or("message") {
        "message" => {
            let role = text("role")?;
            let role = if role == "developer" { "system" } else { role };
            let content = content(item.get("content"), &format!("{at}.content"))?;
            if role == "assistant" {
                let last = assistant(messages);
                match (last.get("content").and_then(Value::as_str), content.as_str()) {
                    (Some(before), Some(more)) => {
                        let both = format!("{before}{more}");
                        last.insert("content".into(), both.into());
                    }
                    _ => drop(last.insert("content".into(), content)),
                }
            } else {
                messages.push(message(role, content));
            }
        }
        "reasoning" => {
            let parts = item.get("content").or_else(|| item.get("summary"));
            let parts = parts.and_then(Value::as_array).into_iter().flatten();
            let thought: String = parts.filter_map(|part| part.get("text")?.as_str()).collect();
            if !thought.is_empty() {
                assistant(messages).insert("reasoning_content".into(), thought.into());
            }
        }
        "function_call" => {
            let function = json!({"name": text("name")?, "arguments": text("arguments")?});
            let call = json!({"id": text("call_id")?, "type": "function", "function": function});
            let calls = assistant(messages).entry("tool_calls").or_insert_with(|| json!([]));
            if let Some(calls) = calls.as_array_mut() {
                calls.push(call);
            }
        }
        "function_call_output" => {
            let content = content(item.get("output"), &format!("{at}.output"))?;
            let id = text("call_id")?;
            let mut result = message("tool", content);
            result.insert("tool_call_id".into(), id.into());
            messages.push(result);
        }
        _ => return Err(expected(&format!("{at}.type"), "a type that chat completions know")),
    }
    Ok(())
}

/// The assistant's message at the end; it is begun if need be.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a message was just pushed unless the last one already is what is looked for, so \
              there is one"
)]
fn assistant(messages: &mut Vec<Map<String, Value>>) -> &mut Map<String, Value> {
    let is_assistant =
        |it: &Map<_, Value>| it.get("role").and_then(Value::as_str) == Some("assistant");
    if !messages.last().is_some_and(is_assistant) {
        messages.push(message("assistant", Value::Null));
    }
    let last = messages.len() - 1;
    &mut messages[last]
}

fn message(role: &str, content: Value) -> Map<String, Value> {
    [("role".to_owned(), role.into()), ("content".to_owned(), content)].into_iter().collect()
}

/// Text, or parts: text alone is said as text.
fn content(content: Option<&Value>, at: &str) -> Result<Value, Fault> {
    let parts = match content {
        Some(Value::String(text)) => return Ok(text.as_str().into()),
        Some(Value::Array(parts)) => parts,
        _ => return Err(expected(at, "text or a list")),
    };
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str())
        .collect();
    if let Some(texts) = texts {
        return Ok(texts.concat().into());
    }
    let part = |(n, part): (usize, &Value)| {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        match (text("type"), text("text"), text("image_url")) {
            (_, Some(text), _) => Ok(json!({"type": "text", "text": text})),
            (Some("input_image"), _, Some(url)) => {
                Ok(json!({"type": "image_url", "image_url": {"url": url}}))
            }
            _ => Err(expected(&format!("{at}[{n}]"), "text or an image by its address")),
        }
    };
    parts.iter().enumerate().map(part).collect::<Result<Vec<_>, _>>().map(Value::from)
}

fn tools(tools: &Value) -> Result<Value, Fault> {
    let list = tools.as_array().ok_or_else(|| expected("tools", "a list"))?;
    let tool = |(n, tool): (usize, &Value)| {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Err(expected(
                &format!("tools[{n}].type"),
                "`function`: a tool of the client's",
            ));
        }
        let mut tool = tool.clone();
        nest(&mut tool);
        Ok(tool)
    };
    list.iter().enumerate().map(tool).collect::<Result<Vec<_>, _>>().map(Value::from)
}

/// Puts what describes a function into a field of its own, as chat completions have it.
fn nest(tool: &mut Value) {
    let Some(fields) = tool.as_object_mut() else { return };
    if fields.get("type").and_then(Value::as_str) == Some("function") {
        let kind = fields.shift_remove("type");
        let function = Value::Object(std::mem::take(fields));
        fields.extend(kind.map(|kind| ("type".to_owned(), kind)));
        fields.insert("function".into(), function);
    }
}

/// A format as chat completions have it.
fn format(format: &Value) -> Value {
    if format.get("type").and_then(Value::as_str) != Some("json_schema") {
        return format.clone();
    }
    let mut schema = format.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.shift_remove("type");
    }
    json!({"type": "json_schema", "json_schema": schema})
}
