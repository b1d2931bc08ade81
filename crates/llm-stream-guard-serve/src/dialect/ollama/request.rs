//! Converts a request of Ollama's API into one for a chat completion.

use serde_json::{Map, Value, json};

use crate::{
    body::{Body, each, part},
    dialect::{
        content::Parts,
        fields::{Messages, count_at_end, expected, message, switch_reasoning},
    },
    error::{Fault, Kind},
};

/// Options, with their names in chat completions. A name that only some servers know is ignored by
/// the others.
pub(crate) const OPTIONS: [(&str, &str); 10] = [
    ("frequency_penalty", "frequency_penalty"),
    ("min_p", "min_p"),
    ("presence_penalty", "presence_penalty"),
    // vLLM and SGLang have another name for it than llama.cpp.
    ("repeat_penalty", "repeat_penalty"),
    ("repeat_penalty", "repetition_penalty"),
    ("seed", "seed"),
    ("stop", "stop"),
    ("temperature", "temperature"),
    ("top_k", "top_k"),
    ("top_p", "top_p"),
];

/// Fields about the server's own work, which chat completions do not have.
const DROPPED: [&str; 6] = ["keep_alive", "logprobs", "options", "think", "top_logprobs", "format"];

/// Fields of `/api/generate` that change the prompt in a way that a chat cannot express, with the
/// advice for clients.
const UNSUPPORTED: [(&str, &str); 4] = [
    ("context", "no state is kept: send all messages to `/api/chat`"),
    ("raw", "a rendered prompt goes to `/v1/completions`"),
    ("suffix", "text between two others cannot be asked for"),
    ("template", "the prompt is rendered by the server's own template"),
];

/// Beginnings of images in base64, with their types.
const IMAGES: [(&str, &str); 4] =
    [("/9j/", "jpeg"), ("iVBOR", "png"), ("R0lGOD", "gif"), ("UklGR", "webp")];

/// Returns whether a request only loads or unloads a model: it has no text.
pub(crate) fn is_load(body: &Body) -> bool {
    let is_empty = |name: &str| {
        body.text(name).is_none_or(|it| {
            let text = it.get();
            text == "null" || text == "\"\"" || text.trim_matches(['[', ']']).trim().is_empty()
        })
    };
    ["messages", "prompt", "images"].into_iter().all(is_empty)
}

/// Converts a request of `/api/chat`.
///
/// # Errors
/// A malformed part. The fault names the field.
pub(crate) fn chat(mut body: Body) -> Result<Body, Fault> {
    let turns = body.take_text("messages").ok_or_else(|| expected("messages", "a list"))?;
    let mut messages = Messages::new(turns.get().len());
    let mut calls = CallIds::default();
    each(&turns, "messages", &mut |n, raw| {
        let at = format!("messages[{n}]");
        messages.push(turn(part(raw, &at)?, &at, &mut calls)?);
        Ok(())
    })?;
    drop(turns);
    body.set_text("messages", messages.finish()?);
    settings(body)
}

/// Converts a request of `/api/generate`: the system's text and the prompt become messages.
///
/// # Errors
/// A malformed field, or one that a chat cannot express. The fault names the field.
pub(crate) fn generate(mut body: Body) -> Result<Body, Fault> {
    for (name, advice) in UNSUPPORTED {
        let is_used = |text: &str| !matches!(text, "null" | "false" | "\"\"" | "[]");
        if body.take_text(name).is_some_and(|it| is_used(it.get())) {
            return Err(Fault::new(Kind::Request, advice).at(name));
        }
    }
    let length = ["system", "prompt", "images"].iter().filter_map(|name| body.text(name));
    let mut messages = Messages::new(length.map(|it| it.get().len()).sum());
    let text = |body: &mut Body, name: &str| match body.take(name)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(expected(name, "text")),
    };
    if let Some(system) = text(&mut body, "system")?.filter(|it| !it.is_empty()) {
        messages.push(message("system", system.into()));
    }
    let prompt = text(&mut body, "prompt")?.unwrap_or_default();
    let images = body.take("images")?;
    messages.push(message("user", content(prompt, images, "images")?));
    body.set_text("messages", messages.finish()?);
    settings(body)
}

/// Converts the settings of a request.
fn settings(mut body: Body) -> Result<Body, Fault> {
    let options = body.get("options")?.unwrap_or_else(|| json!({}));
    for (name, ours) in OPTIONS {
        if let Some(value) = options.get(name).filter(|value| !value.is_null()) {
            body.set(ours, value);
        }
    }
    // Negative numbers ask for no limit.
    if let Some(most) = options.get("num_predict").and_then(Value::as_u64).filter(|&it| it > 0) {
        body.set("max_tokens", &most.into());
    }
    match body.get("think")? {
        Some(Value::Bool(on)) => switch_reasoning(&mut body, on)?,
        Some(effort @ Value::String(_)) => body.set("reasoning_effort", &effort),
        Some(_) => return Err(expected("think", "`true`, `false` or a level")),
        None => {}
    }
    let format = match body.get("format")? {
        Some(Value::String(name)) if name == "json" => Some(json!({"type": "json_object"})),
        Some(Value::String(name)) if name.is_empty() => None,
        Some(schema @ Value::Object(_)) => Some(json!({"type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema}})),
        Some(_) => return Err(expected("format", "`json` or a schema")),
        None => None,
    };
    for name in DROPPED {
        drop(body.take_text(name));
    }
    if let Some(format) = format {
        body.set("response_format", &format);
    }
    if !body.is("stream", "false") {
        body.set("stream", &true.into());
    }
    count_at_end(&mut body);
    Ok(body)
}

/// Ids of the calls in messages, which Ollama's API may leave out. Results follow their calls, in
/// the same order unless they name their tool.
#[derive(Debug, Default)]
struct CallIds {
    made: u32,
    /// Calls without a result: name and id.
    open: Vec<(String, String)>,
}

impl CallIds {
    /// Returns the id of a call of this name.
    fn call(&mut self, name: &str, id: Option<&str>) -> String {
        let id = id
            .filter(|id| !id.is_empty())
            .map_or_else(|| format!("call_{}", self.made), Into::into);
        self.made = self.made.saturating_add(1);
        self.open.push((name.to_owned(), id.clone()));
        id
    }

    /// Returns the id of the call to which a result belongs.
    fn result(&mut self, name: Option<&str>, id: Option<&str>) -> Option<String> {
        let is_meant = |(known, known_id): &(String, String)| match (id, name) {
            (Some(id), _) => id == known_id,
            (None, Some(name)) => name == known,
            (None, None) => true,
        };
        match self.open.iter().position(is_meant) {
            Some(at) => Some(self.open.remove(at).1),
            None => id.map(str::to_owned),
        }
    }
}

fn turn(mut turn: Value, at: &str, calls: &mut CallIds) -> Result<Map<String, Value>, Fault> {
    let text = |turn: &Value, name: &str| turn.get(name).and_then(Value::as_str).map(str::to_owned);
    let role = text(&turn, "role").ok_or_else(|| expected(&format!("{at}.role"), "text"))?;
    let said = match turn.get_mut("content").map(Value::take) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(_) => return Err(expected(&format!("{at}.content"), "text")),
    };
    let images = turn.get_mut("images").map(Value::take).filter(|it| !it.is_null());
    let mut written = message(&role, content(said, images, &format!("{at}.images"))?);
    if let Some(thought) = text(&turn, "thinking").filter(|it| !it.is_empty()) {
        written.insert("reasoning_content".into(), thought.into());
    }
    if let Some(made) = turn.get("tool_calls").and_then(Value::as_array).filter(|it| !it.is_empty())
    {
        let mut all = Vec::new();
        for (n, call) in made.iter().enumerate() {
            let name = call.pointer("/function/name").and_then(Value::as_str);
            let at = format!("{at}.tool_calls[{n}].function.name");
            let name = name.ok_or_else(|| expected(&at, "text"))?;
            let arguments = match call.pointer("/function/arguments") {
                None | Some(Value::Null) => "{}".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(arguments) => arguments.to_string(),
            };
            let id = calls.call(name, call.get("id").and_then(Value::as_str));
            let function = json!({"name": name, "arguments": arguments});
            all.push(json!({"id": id, "type": "function", "function": function}));
        }
        written.insert("tool_calls".into(), all.into());
    }
    if role == "tool" {
        let name = text(&turn, "tool_name").or_else(|| text(&turn, "name"));
        let id = calls.result(name.as_deref(), text(&turn, "tool_call_id").as_deref());
        // Servers refuse a result without an id.
        written.insert("tool_call_id".into(), id.unwrap_or_else(|| "call_0".into()).into());
    }
    Ok(written)
}

/// Returns a message's content: text, with images as parts.
fn content(text: String, images: Option<Value>, at: &str) -> Result<Value, Fault> {
    let images = match images {
        None => return Ok(text.into()),
        Some(Value::Array(images)) => images,
        Some(_) => return Err(expected(at, "a list")),
    };
    let mut parts = Parts::default();
    if !text.is_empty() || images.is_empty() {
        parts.text(text);
    }
    for (n, image) in images.iter().enumerate() {
        let data = image.as_str().ok_or_else(|| expected(&format!("{at}[{n}]"), "base64"))?;
        let known = IMAGES.iter().find(|(begin, _)| data.starts_with(begin));
        let kind = known.map_or("png", |(_, kind)| kind);
        parts.image(&format!("data:image/{kind};base64,{data}"));
    }
    Ok(parts.plain())
}
