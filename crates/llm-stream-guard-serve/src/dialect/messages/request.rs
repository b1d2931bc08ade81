//! From a request for a message to one for a chat completion.

use serde_json::{Map, Value, json};

use crate::{
    dialect::fields::{count_at_end, expected, rename},
    error::Fault,
};

/// The chat completion that answers a request for a message. Fields that chat completions do not
/// know otherwise stay: servers may.
///
/// # Errors
/// A part of it is malformed, or of a kind that chat completions have no word for; the fault names
/// the field.
pub fn request(body: Value) -> Result<Value, Fault> {
    let Value::Object(mut body) = body else { return Err(expected("", "an object")) };
    let mut messages = Vec::new();
    if let Some(system) = body.shift_remove("system") {
        messages.push(json!({"role": "system", "content": text_of(&system, "system")?}));
    }
    let turns = body.shift_remove("messages");
    let turns = turns.as_ref().and_then(Value::as_array);
    for (n, turn) in turns.ok_or_else(|| expected("messages", "a list"))?.iter().enumerate() {
        self::turn(turn, &format!("messages[{n}]"), &mut messages)?;
    }
    body.insert("messages".into(), messages.into());
    rename(&mut body, "stop_sequences", "stop");
    if let Some(tools) = body.shift_remove("tools") {
        body.insert("tools".into(), self::tools(&tools)?);
    }
    if let Some(choice) = body.shift_remove("tool_choice") {
        if choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true)) {
            body.insert("parallel_tool_calls".into(), false.into());
        }
        body.insert("tool_choice".into(), self::choice(&choice)?);
    }
    let user = body.shift_remove("metadata").and_then(|it| it.get("user_id").cloned());
    if let Some(user) = user {
        body.insert("user".into(), user);
    }
    if let Some(thinking) = body.shift_remove("thinking") {
        let on = match thinking.get("type").and_then(Value::as_str) {
            Some("enabled") => Some(true),
            Some("disabled") => Some(false),
            _ => None,
        };
        if let Some(on) = on {
            switch_reasoning(&mut body, on);
        }
    }
    count_at_end(&mut body);
    Ok(body.into())
}

/// Templates know the switch by either name.
fn switch_reasoning(body: &mut Map<String, Value>, on: bool) {
    let arguments = body.entry("chat_template_kwargs").or_insert_with(|| json!({}));
    if let Some(arguments) = arguments.as_object_mut() {
        for name in ["enable_thinking", "thinking"] {
            arguments.entry(name).or_insert(on.into());
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "`message` was made an object a few lines before")]
fn turn(turn: &Value, at: &str, messages: &mut Vec<Value>) -> Result<(), Fault> {
    let role = turn.get("role").and_then(Value::as_str);
    let role = role.ok_or_else(|| expected(&format!("{at}.role"), "`user` or `assistant`"))?;
    let at = format!("{at}.content");
    let content = turn.get("content").ok_or_else(|| expected(&at, "text or a list"))?;
    let blocks = match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => return Err(expected(&at, "text or a list")),
    };
    let (mut parts, mut reasoning, mut calls) = (Vec::new(), String::new(), Vec::new());
    for (n, block) in blocks.iter().enumerate() {
        let at = format!("{at}[{n}]");
        let text = |key: &str| {
            let text = block.get(key).and_then(Value::as_str);
            text.ok_or_else(|| expected(&format!("{at}.{key}"), "text"))
        };
        match block.get("type").and_then(Value::as_str) {
            Some("text") => parts.push(json!({"type": "text", "text": text("text")?})),
            Some("image") => parts.push(image(block, &at)?),
            Some("thinking") => reasoning.push_str(text("thinking")?),
            // Nobody but its maker can read it.
            Some("redacted_thinking") => {}
            Some("tool_use") => {
                let arguments = block.get("input").cloned().unwrap_or_else(|| json!({}));
                calls.push(json!({
                    "id": text("id")?,
                    "type": "function",
                    "function": {"name": text("name")?, "arguments": arguments.to_string()},
                }));
            }
            Some("tool_result") => {
                let content = block.get("content").cloned().unwrap_or_else(|| "".into());
                let content = text_of(&content, &format!("{at}.content"))?;
                let id = text("tool_use_id")?;
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
            _ => return Err(expected(&format!("{at}.type"), "a type that chat completions know")),
        }
    }
    if parts.is_empty() && calls.is_empty() && reasoning.is_empty() {
        return Ok(());
    }
    let mut message = json!({"role": role, "content": plain(parts)});
    if !reasoning.is_empty() {
        message["reasoning_content"] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    messages.push(message);
    Ok(())
}

/// Parts as simply as they can be said.
fn plain(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text")?.as_str()).collect();
    match texts {
        Some(texts) if texts.is_empty() => Value::Null,
        Some(texts) => texts.concat().into(),
        None => parts.into(),
    }
}

fn image(block: &Value, at: &str) -> Result<Value, Fault> {
    let text = |path: &str| block.pointer(path).and_then(Value::as_str);
    let url = match (text("/source/url"), text("/source/media_type"), text("/source/data")) {
        (Some(url), ..) => url.to_owned(),
        (None, Some(kind), Some(data)) => format!("data:{kind};base64,{data}"),
        _ => return Err(expected(&format!("{at}.source"), "`url`, or `media_type` and `data`")),
    };
    Ok(json!({"type": "image_url", "image_url": {"url": url}}))
}

/// Text, or the text of blocks.
fn text_of(content: &Value, at: &str) -> Result<String, Fault> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    let fault = || expected(at, "text or a list of texts");
    let blocks = content.as_array().ok_or_else(fault)?;
    blocks.iter().map(|block| block.get("text")?.as_str()).collect::<Option<_>>().ok_or_else(fault)
}

#[expect(clippy::indexing_slicing, reason = "`function` was made an object the line before")]
fn tools(tools: &Value) -> Result<Value, Fault> {
    let list = tools.as_array().ok_or_else(|| expected("tools", "a list"))?;
    let tool = |(n, tool): (usize, &Value)| {
        let name = tool.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| expected(&format!("tools[{n}].name"), "text"))?;
        let schema = tool.get("input_schema");
        let fault =
            || expected(&format!("tools[{n}].input_schema"), "a schema: a tool of the client's");
        let schema = schema.ok_or_else(fault)?;
        // In the order of OpenAI's clients: templates write it into the prompt.
        let mut function = json!({"name": name});
        if let Some(about) = tool.get("description") {
            function["description"] = about.clone();
        }
        function["parameters"] = schema.clone();
        Ok(json!({"type": "function", "function": function}))
    };
    list.iter().enumerate().map(tool).collect::<Result<Vec<_>, _>>().map(Value::from)
}

fn choice(choice: &Value) -> Result<Value, Fault> {
    match choice.get("type").and_then(Value::as_str) {
        Some("auto") => Ok("auto".into()),
        Some("none") => Ok("none".into()),
        Some("any") => Ok("required".into()),
        Some("tool") => {
            let name = choice.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| expected("tool_choice.name", "text"))?;
            Ok(json!({"type": "function", "function": {"name": name}}))
        }
        _ => Err(expected("tool_choice.type", "`auto`, `any`, `none` or `tool`")),
    }
}
