//! Converts a request for a message into one for a chat completion.

use serde_json::{Map, Value, json};

use crate::{
    body::{Body, each, part},
    dialect::{
        content::{Parts, block, blocks, text_part},
        fields::{Messages, count_at_end, expected, message, switch_reasoning},
        unsupported::Unsupported,
    },
    error::Fault,
};

/// Text that tells the model that a tool failed: messages of tools have no field for it.
const FAILED: &str = "Error: ";

/// Blocks of Anthropic's own tools, which have no equivalent in chat completions.
const SERVER_BLOCKS: [&str; 4] = ["server_tool", "web_search_tool", "web_fetch_tool", "mcp_tool"];

/// Converts a request for a message into one for a chat completion. Unknown fields stay, because
/// servers may know them.
///
/// # Errors
/// A malformed part, or a kind without an equivalent that the configuration refuses. The fault
/// names the field.
pub(crate) fn request(mut body: Body, unsupported: &mut Unsupported) -> Result<Body, Fault> {
    let turns = body.take_text("messages").ok_or_else(|| expected("messages", "a list"))?;
    let mut messages = Messages::new(turns.get().len());
    if let Some(system) = body.take("system")? {
        let mut parts = Parts::default();
        blocks(system, "system", &mut parts, unsupported)?;
        messages.push(message("system", parts.plain()));
    }
    each(&turns, "messages", &mut |n, raw| {
        let at = format!("messages[{n}]");
        turn(part(raw, &at)?, &at, &mut messages, unsupported)
    })?;
    drop(turns);
    body.set_text("messages", messages.finish()?);
    body.rename("stop_sequences", "stop");
    let mut some_tools = false;
    if let Some(tools) = body.take("tools")? {
        let tools = self::tools(tools, unsupported)?;
        some_tools = !tools.is_empty();
        if some_tools {
            body.set("tools", &tools.into());
        }
    }
    if let Some(choice) = body.take("tool_choice")? {
        if choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true)) {
            body.set("parallel_tool_calls", &false.into());
        }
        let choice = self::choice(&choice)?;
        // Without tools, `tool_choice` has no meaning.
        if some_tools {
            body.set("tool_choice", &choice);
        }
    }
    let user = body.take("metadata")?.and_then(|it| it.get("user_id").cloned());
    if let Some(user) = user {
        body.set("user", &user);
    }
    if let Some(thinking) = body.take("thinking")? {
        let on = match thinking.get("type").and_then(Value::as_str) {
            Some("enabled" | "adaptive") => Some(true),
            Some("disabled") => Some(false),
            _ => None,
        };
        if let Some(on) = on {
            switch_reasoning(&mut body, on)?;
        }
    }
    count_at_end(&mut body);
    Ok(body)
}

fn turn(
    mut turn: Value,
    at: &str,
    messages: &mut Messages,
    unsupported: &mut Unsupported,
) -> Result<(), Fault> {
    let role = turn.get("role").and_then(Value::as_str).map(str::to_owned);
    let role = role.ok_or_else(|| expected(&format!("{at}.role"), "`user` or `assistant`"))?;
    let at = format!("{at}.content");
    let blocks = match turn.get_mut("content").map(Value::take) {
        Some(Value::String(text)) => vec![text_part(text.into())],
        Some(Value::Array(blocks)) => blocks,
        _ => return Err(expected(&at, "text or a list")),
    };
    let (mut parts, mut reasoning, mut calls) = (Parts::default(), String::new(), Vec::new());
    for (n, mut entry) in blocks.into_iter().enumerate() {
        let at = format!("{at}[{n}]");
        let text = |key: &str| {
            let text = entry.get(key).and_then(Value::as_str);
            text.ok_or_else(|| expected(&format!("{at}.{key}"), "text"))
        };
        match entry.get("type").and_then(Value::as_str) {
            Some("thinking") => reasoning.push_str(text("thinking")?),
            // Only the service that encrypted the block can read it.
            Some("redacted_thinking") => {}
            Some("tool_use") => {
                let arguments = entry.get("input").map_or_else(|| "{}".into(), Value::to_string);
                calls.push(json!({
                    "id": text("id")?,
                    "type": "function",
                    "function": {"name": text("name")?, "arguments": arguments},
                }));
            }
            Some("tool_result") => {
                let id = text("tool_use_id")?.to_owned();
                let failed = entry.get("is_error") == Some(&Value::Bool(true));
                let content = entry.get_mut("content").map(Value::take).unwrap_or_default();
                let content = result(content, failed, &format!("{at}.content"), unsupported)?;
                let mut result = message("tool", content);
                result.insert("tool_call_id".into(), id.into());
                messages.push(result);
            }
            Some(kind) if SERVER_BLOCKS.iter().any(|known| kind.starts_with(known)) => {
                unsupported.drop(&format!("{at}.type"), kind)?;
            }
            _ => block(entry, &at, &mut parts, unsupported)?,
        }
    }
    if parts.is_empty() && calls.is_empty() && reasoning.is_empty() {
        return Ok(());
    }
    let mut message = message(&role, parts.plain());
    if !reasoning.is_empty() {
        message.insert("reasoning_content".into(), reasoning.into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    messages.push(message);
    Ok(())
}

/// Returns the content of a tool's result.
fn result(
    content: Value,
    failed: bool,
    at: &str,
    unsupported: &mut Unsupported,
) -> Result<Value, Fault> {
    let mut parts = Parts::default();
    blocks(content, at, &mut parts, unsupported)?;
    if failed {
        parts.mark(FAILED);
    }
    Ok(if parts.is_empty() { "".into() } else { parts.plain() })
}

fn tools(tools: Value, unsupported: &mut Unsupported) -> Result<Vec<Value>, Fault> {
    let Value::Array(list) = tools else { return Err(expected("tools", "a list")) };
    let mut functions = Vec::new();
    for (n, mut tool) in list.into_iter().enumerate() {
        let kind = tool.get("type").and_then(Value::as_str).filter(|kind| *kind != "custom");
        let Some(schema) = tool.get("input_schema").cloned() else {
            let at = format!("tools[{n}].input_schema");
            match kind {
                Some(kind) => unsupported.drop(&at, kind)?,
                None => return Err(expected(&at, "a schema: a tool of the client's")),
            }
            continue;
        };
        let name = tool.get_mut("name").map(Value::take).filter(Value::is_string);
        let name = name.ok_or_else(|| expected(&format!("tools[{n}].name"), "text"))?;
        let mut function = Map::new();
        function.insert("name".into(), name);
        // The fields have the order of OpenAI's clients, since templates write them into the
        // prompt.
        if let Some(about) = tool.get_mut("description") {
            function.insert("description".into(), about.take());
        }
        function.insert("parameters".into(), schema);
        functions.push(json!({"type": "function", "function": function}));
    }
    Ok(functions)
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
