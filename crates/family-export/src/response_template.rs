//! The writer of response templates.

use llm_stream_guard::Profile;
use serde_json::{Map, Value, json};

use crate::{
    ExportError,
    expr::{Expr, Without},
    outline::{CallShape, Outline, Payload, Thought, outline},
};

/// The field of reasoning.
const REASONING: &str = "reasoning_content";

/// A template, with the properties of the family that it does not express.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The object at `response_template`.
    pub template: Value,
    /// The parts that the template does not express, each as a phrase.
    pub lost: Vec<String>,
}

/// Writes the family of `profile` as a response template. In a prompt, the model's turn begins with
/// `anchor`.
///
/// # Errors
/// Returns an error that names a part of the family which no response template can express.
pub fn response_template(profile: &Profile, anchor: &str) -> Result<Exported, ExportError> {
    let outline = outline(profile)?;
    let mut fields = Map::new();
    let header = pattern(&outline.header);
    if let Some(calls) = calls(&outline) {
        fields.insert("tool_calls".to_owned(), calls);
    }
    if let Some(open) = &outline.reasoning_header {
        let close = closer(&pattern(&Expr::choice(outline.message_ends.clone())), &header);
        let open = format!(r"\s*{}", pattern(open));
        let field = json!({"open_pattern": open, "close_pattern": close});
        fields.insert(REASONING.to_owned(), field);
    }
    if let Some(thought) = &outline.thought {
        fields.insert(REASONING.to_owned(), reasoning(thought, &outline)?);
    }
    // The white space after a header belongs to the message.
    let removed = match Expr::choice(outline.removed) {
        removed if removed.is_empty() => removed,
        removed => removed.then(Expr::Blanks),
    };
    let content = match Expr::choice([removed, outline.header]) {
        removed if removed.is_empty() => json!({}),
        removed => json!({"close_pattern": format!(r"\s*{}", pattern(&removed))}),
    };
    fields.insert("content".to_owned(), content);
    let template = json!({
        "version": 1, "defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields,
    });
    Ok(Exported { template, lost: outline.lost })
}

/// Returns the field of the calls.
fn calls(outline: &Outline) -> Option<Value> {
    let first = outline.calls.first()?;
    let ends: Vec<String> = outline.ends.iter().map(pattern).collect();
    let next = outline.calls.iter().flat_map(|call| &call.next).map(pattern);
    let next = alternatives(next.map(|next| before_end(&next, &ends).to_owned()));
    let open = alternatives(outline.calls.iter().map(|call| {
        let (open, confirmed_by) = (pattern(&call.open), pattern(&call.confirmed_by));
        if confirmed_by.is_empty() { open } else { format!("{open}(?={confirmed_by})") }
    }));
    let mut field = payload(first);
    field.insert("open_pattern".to_owned(), format!(r"\s*{open}").into());
    field.insert("close_pattern".to_owned(), closer(&alternatives(ends), &next).into());
    Some(Value::Object(field))
}

/// Returns the part of the pattern `next` before the first of `ends` in it. A reader of pieces
/// would find that end while it waits for the rest of the pattern.
fn before_end<'a>(next: &'a str, ends: &[String]) -> &'a str {
    let before = |end: &String| Some(next.split_once(end)?.0.trim_end_matches(r"\s*"));
    let ends = ends.iter().filter(|end| !end.is_empty());
    let shortest = ends.filter_map(before).filter(|it| !it.is_empty()).min_by_key(|it| it.len());
    shortest.unwrap_or(next)
}

/// Returns the members of the calls' field that describe the text of a call.
fn payload(call: &CallShape) -> Map<String, Value> {
    let mut field = Map::new();
    let mut set = |key: &str, value: Value| drop(field.insert(key.to_owned(), value));
    let place = |root: &str, key: &str| match key {
        "" => String::new(),
        key => format!("{{{root}{key}}}"),
    };
    let (mut name, mut arguments) = ("{name}".to_owned(), "{content}".to_owned());
    set("content", "json".into());
    if !matches!(call.payload, Payload::List { .. }) {
        set("repeats", true.into());
    }
    match &call.payload {
        Payload::Json => {}
        Payload::BareKeys { quote } => {
            set("content_args", json!({"unquoted_keys": true, "string_delims": [[quote, quote]]}));
        }
        Payload::Object { name: key, arguments: others } => {
            (name, arguments) = (place("content.", key), place("content.", others));
        }
        Payload::List { name: key, arguments: others } => {
            (name, arguments) = (place("", key), place("", others));
            set("transform_each", true.into());
        }
        Payload::Parameters { tag, may_be_json } => {
            set("content", "xml-inline".into());
            let parser = json!({"name": "json", "args": {"allow_non_json": true, "strip": false}});
            set(
                "content_args",
                match may_be_json {
                    true => json!({"tag_pattern": pattern(tag), "value_parser": parser}),
                    false => json!({"tag_pattern": pattern(tag)}),
                },
            );
        }
    }
    let function = json!({"name": name, "arguments": arguments});
    set(
        "transform",
        match call.open.has_group("id") {
            true => json!({"type": "function", "function": function, "id": "{id}"}),
            false => json!({"type": "function", "function": function}),
        },
    );
    field
}

/// Returns the field of reasoning between markers.
fn reasoning(thought: &Thought, outline: &Outline) -> Result<Value, ExportError> {
    let close = pattern(&Expr::choice(thought.close.iter().map(|text| text.as_str().into())));
    if thought.open.is_empty() || close.is_empty() {
        return Err(ExportError::new("its reasoning has no opener or no closer"));
    }
    let calls = outline.calls.iter().filter(|_| thought.ends_at_call);
    let calls =
        calls.map(|call| pattern(&call.open.clone().ungrouped()) + &pattern(&call.confirmed_by));
    let calls = Some(alternatives(calls)).filter(|calls| !calls.is_empty());
    let close = [format!(r"{close}\s*")].into_iter().chain(calls.map(|it| format!("(?={it})")));
    let close = alternatives(close);
    Ok(match thought.is_any_case {
        true => {
            let open = Expr::choice(thought.open.iter().map(|text| text.as_str().into()));
            json!({
                "open_pattern": format!("(?i){}", pattern(&open)),
                "close_pattern": format!(r"(?i)\s*{close}"),
            })
        }
        false => json!({"open": thought.open, "close_pattern": format!(r"\s*{close}")}),
    })
}

/// Returns the closer of a region: one of `ends`, or the place before `next`.
fn closer(ends: &str, next: &str) -> String {
    match ends.is_empty() {
        true => format!(r"\s*(?={next})"),
        false => format!(r"\s*(?:{ends}\s*|(?={next}))"),
    }
}

/// Returns an expression as a pattern.
fn pattern(expr: &Expr) -> String {
    match expr {
        Expr::Text(text) => text.chars().map(|c| escaped(c, r"\.+*?()|[]{}^$#&-~")).collect(),
        Expr::Blanks => r"\s*".to_owned(),
        Expr::Blank => r"\s".to_owned(),
        Expr::Start => "^".to_owned(),
        Expr::Newline => r"\n?".to_owned(),
        Expr::Digits => r"\d+".to_owned(),
        Expr::AnyText => ".*?".to_owned(),
        Expr::Without(Without { chars, no_blanks, at_least_one, lazy }) => {
            let chars: String = chars.chars().map(|c| escaped(c, r"\]^-[")).collect();
            let blanks = if *no_blanks { r"\s" } else { "" };
            let repeated = if *at_least_one { "+" } else { "*" };
            format!("[^{blanks}{chars}]{repeated}{}", if *lazy { "?" } else { "" })
        }
        Expr::Sequence(parts) => parts.iter().map(pattern).collect(),
        Expr::Choice(ways) => alternatives(ways.iter().map(pattern)),
        Expr::Optional(inner) => format!("(?:{})?", pattern(inner)),
        Expr::Group(name, inner) => format!("(?P<{name}>{})", pattern(inner)),
    }
}

fn escaped(c: char, special: &str) -> String {
    if special.contains(c) { format!("\\{c}") } else { c.to_string() }
}

/// Returns a pattern that matches any of the patterns, or an empty one if there are none.
fn alternatives(ways: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for way in ways {
        if !way.is_empty() && !all.contains(&way) {
            all.push(way);
        }
    }
    match &all[..] {
        [] => String::new(),
        [one] if !one.replace(r"\|", "").contains('|') => one.clone(),
        _ => format!("(?:{})", all.join("|")),
    }
}
