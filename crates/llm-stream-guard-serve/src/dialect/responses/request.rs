//! Converts a request for a response into one for a chat completion.

use serde_json::{Map, Value, json, value::RawValue};

use super::tools::{ADDITIONAL, FOUND, SEARCH, function_name, tool_choice, tools};
use crate::{
    body::{Body, each, part},
    dialect::{
        content::{Parts, response_parts},
        fields::{Messages, count_at_end, expected, message},
        unsupported::Unsupported,
    },
    error::{Fault, Kind},
};

/// Fields that need stored state, which the proxy does not have.
const STATEFUL: [&str; 4] = ["previous_response_id", "conversation", "background", "prompt"];

/// Fields without an equivalent in chat completions, which are dropped or converted.
const DROPPED: [&str; 5] = ["include", "store", "truncation", "text", "reasoning"];

/// Converts a request for a response into one for a chat completion. Fields that chat completions
/// do not know stay, because servers may.
///
/// # Errors
/// A malformed field, a field that needs state, or a kind without an equivalent that the
/// configuration refuses. The fault names the field.
pub(crate) fn request(mut body: Body, unsupported: &mut Unsupported) -> Result<Body, Fault> {
    for name in STATEFUL {
        if body.take_text(name).is_some_and(|it| !matches!(it.get(), "null" | "false")) {
            return Err(
                Fault::new(Kind::Request, "no state is kept: send the whole input").at(name)
            );
        }
    }
    let input = body.take_text("input").ok_or_else(|| expected("input", "text or a list"))?;
    let mut messages = Messages::new(input.get().len());
    if let Some(text) = body.take("instructions")? {
        messages.push(message("system", text));
    }
    if input.get().starts_with('"') {
        messages.push(message("user", part(&input, "input")?));
    } else {
        each(&input, "input", &mut |n, raw| {
            let at = format!("input[{n}]");
            item(part(raw, &at)?, &at, &mut messages, unsupported)
        })?;
    }
    drop(input);
    body.set_text("messages", messages.finish()?);
    body.rename("max_output_tokens", "max_tokens");
    let format = body.get("text")?.and_then(|mut text| Some(text.get_mut("format")?.take()));
    if let Some(format) = format {
        body.set("response_format", &self::format(format));
    }
    let effort = body.get("reasoning")?.and_then(|mut it| Some(it.get_mut("effort")?.take()));
    if let Some(effort) = effort {
        body.set("reasoning_effort", &effort);
    }
    for name in DROPPED {
        drop(body.take_text(name));
    }
    let mut functions = Vec::new();
    for name in ["tools", ADDITIONAL] {
        match body.take(name)? {
            Some(Value::Array(lists)) if name == ADDITIONAL => lists
                .into_iter()
                .try_for_each(|list| tools(list, name, unsupported, &mut functions))?,
            Some(list) => tools(list, name, unsupported, &mut functions)?,
            None => {}
        }
    }
    let choice = body.take("tool_choice")?.map(tool_choice);
    // Without tools, `tool_choice` has no meaning.
    if let Some(choice) = choice.filter(|_| !functions.is_empty()) {
        body.set("tool_choice", &choice);
    }
    if !functions.is_empty() {
        body.set("tools", &functions.into());
    }
    count_at_end(&mut body);
    Ok(body)
}

/// Collects the tools that items of the input declare in the field [`ADDITIONAL`].
///
/// # Errors
/// The input is malformed.
pub(crate) fn gather_tools(body: &mut Body) -> Result<(), Fault> {
    drop(body.take_text(ADDITIONAL));
    let holds = |text: &str| [ADDITIONAL, FOUND].into_iter().any(|kind| text.contains(kind));
    let Some(input) = body.text("input").filter(|input| holds(input.get())) else {
        return Ok(());
    };
    let mut lists = Vec::new();
    each(input, "input", &mut |n, raw| {
        if !holds(raw.get()) {
            return Ok(());
        }
        let mut item = part(raw, &format!("input[{n}]"))?;
        if item.get("type").is_some_and(|kind| kind == ADDITIONAL || kind == FOUND) {
            // Text takes less memory than parsed values.
            lists.push(
                item.get_mut("tools").map_or_else(|| "[]".into(), |it| it.take().to_string()),
            );
        }
        Ok(())
    })?;
    let lists = RawValue::from_string(format!("[{}]", lists.join(",")));
    body.set_text(ADDITIONAL, lists.map_err(|_| expected("input", "a list"))?);
    Ok(())
}

/// Adds an `item` to the messages. Consecutive items of the assistant become one message.
fn item(
    mut item: Value,
    at: &str,
    messages: &mut Messages,
    unsupported: &mut Unsupported,
) -> Result<(), Fault> {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or("message").to_owned();
    let text = |item: &Value, key: &str| {
        let text = item.get(key).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| expected(&format!("{at}.{key}"), "text"))
    };
    match kind.as_str() {
        "message" => {
            let role = text(&item, "role")?;
            let role = if role == "developer" { "system" } else { &role };
            let mut parts = Parts::default();
            let content = item.get_mut("content").map(Value::take);
            response_parts(content, &format!("{at}.content"), &mut parts, unsupported)?;
            if role == "assistant" {
                said(assistant(messages), parts.plain());
            } else {
                messages.push(message(role, parts.plain()));
            }
        }
        "reasoning" => {
            let written = |key: &str| {
                let parts = item.get(key).and_then(Value::as_array).into_iter().flatten();
                parts.filter_map(|part| part.get("text")?.as_str()).collect::<String>()
            };
            let thought = Some(written("content")).filter(|it| !it.is_empty());
            let thought = thought.unwrap_or_else(|| written("summary"));
            if !thought.is_empty() {
                assistant(messages).insert("reasoning_content".into(), thought.into());
            }
        }
        "function_call" => {
            let name = function_name(namespace(&item), &text(&item, "name")?);
            let function = json!({"name": name, "arguments": text(&item, "arguments")?});
            called(messages, &text(&item, "call_id")?, function);
        }
        "custom_tool_call" => {
            let input = json!({"input": text(&item, "input")?}).to_string();
            let name = function_name(namespace(&item), &text(&item, "name")?);
            let function = json!({"name": name, "arguments": input});
            called(messages, &text(&item, "call_id")?, function);
        }
        "local_shell_call" => {
            let action = item.get("action").map_or_else(|| "{}".into(), Value::to_string);
            let function = json!({"name": "local_shell", "arguments": action});
            called(messages, &text(&item, "call_id")?, function);
        }
        "tool_search_call" => {
            let arguments = item.get("arguments").map_or_else(|| "{}".into(), Value::to_string);
            let function = json!({"name": SEARCH, "arguments": arguments});
            called(messages, &text(&item, "call_id")?, function);
        }
        // The tools were added to the request's. The model reads their names here.
        FOUND => {
            let found = item.get("tools").map_or_else(|| "[]".into(), Value::to_string);
            let mut result = message("tool", found.into());
            result.insert("tool_call_id".into(), text(&item, "call_id")?.into());
            messages.push(result);
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let id =
                text(&item, "call_id").or_else(|fault| text(&item, "id").map_err(|_| fault))?;
            let mut parts = Parts::default();
            let output = item.get_mut("output").map(Value::take);
            response_parts(output, &format!("{at}.output"), &mut parts, unsupported)?;
            let mut result = message("tool", parts.plain());
            result.insert("tool_call_id".into(), id.into());
            messages.push(result);
        }
        // The tools of such an item were added to the request's.
        ADDITIONAL => {}
        // The proxy does not have the referenced item, and cannot read encrypted reasoning. The
        // conversation is still valid without its reasoning.
        "item_reference" if text(&item, "id").is_ok_and(|id| id.starts_with("rs_")) => {
            unsupported.note(&kind);
        }
        "compaction" | "compaction_summary" => unsupported.note(&kind),
        kind => unsupported.drop(&format!("{at}.type"), kind)?,
    }
    Ok(())
}

/// Returns the namespace of the tool that an item calls.
fn namespace(item: &Value) -> Option<&str> {
    item.get("namespace").and_then(Value::as_str)
}

/// Returns the assistant's message at the end, or begins one.
fn assistant(messages: &mut Messages) -> &mut Map<String, Value> {
    messages.assistant(|| message("assistant", Value::Null))
}

/// Adds content to the assistant's message.
fn said(message: &mut Map<String, Value>, content: Value) {
    let content = match (message.shift_remove("content"), content) {
        (Some(Value::String(before)), Value::String(more)) => format!("{before}\n{more}").into(),
        (Some(Value::Null) | None, more) => more,
        (Some(before), Value::Null) => before,
        (Some(before), more) => {
            let list = |content| match content {
                Value::Array(parts) => parts,
                text => vec![json!({"type": "text", "text": text})],
            };
            [list(before), list(more)].concat().into()
        }
    };
    message.insert("content".into(), content);
}

/// Adds a call to the assistant's message.
fn called(messages: &mut Messages, id: &str, function: Value) {
    let call = json!({"id": id, "type": "function", "function": function});
    let calls = assistant(messages).entry("tool_calls").or_insert_with(|| json!([]));
    if let Some(calls) = calls.as_array_mut() {
        calls.push(call);
    }
}

/// Converts a format into that of chat completions.
fn format(format: Value) -> Value {
    match format {
        Value::Object(mut schema)
            if schema.get("type").and_then(Value::as_str) == Some("json_schema") =>
        {
            schema.shift_remove("type");
            json!({"type": "json_schema", "json_schema": schema})
        }
        format => format,
    }
}
