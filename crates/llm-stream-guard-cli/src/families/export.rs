//! `families --export`: a registered family as a response template, as far as that language goes.

use llm_stream_guard::{InReasoning, Profile};
use serde_json::{Map, Value, json};
use think_filter::format;
use toolcall_parsers::{
    Family,
    family::{Form, Keys, NamedKeys, Undeclared},
    grammar,
    template::{Dialect, Hole, Part, Template, Trim},
};

/// A template, and what of the family it does not say.
#[derive(Debug)]
pub struct Exported {
    /// The object at `response_template`.
    pub template: Value,
    /// What is lost, each in a sentence.
    pub lost: Vec<String>,
}

/// The response template of `profile`, whose turns begin with `anchor` in a prompt.
///
/// # Errors
/// What of the family a response template cannot say at all.
pub fn export(profile: &Profile, anchor: &str) -> Result<Exported, String> {
    let mut fields = Map::new();
    let mut lost = Vec::new();
    if let Some(name) = &profile.reasoning {
        let format = format(name).map_err(|error| error.to_string())?;
        if !format.is_passthrough() {
            let close: Vec<String> = format.close.iter().map(|close| escaped(close)).collect();
            let close = format!(r"\s*(?:{})\s*", close.join("|"));
            let open: Vec<&str> = format.open.iter().map(AsRef::as_ref).collect();
            if open.is_empty() || format.close.is_empty() {
                return Err("its reasoning has no opener or no closer".to_owned());
            }
            let field = json!({"open": open, "close_pattern": close});
            fields.insert("reasoning_content".to_owned(), field);
            lost.push("where in a line tags of reasoning count, and code fences".to_owned());
        }
    }
    let mut end_of_turn = Vec::new();
    if let Some(name) = &profile.tools {
        let grammar = grammar(name).map_err(|error| error.to_string())?;
        let family = grammar.family();
        fields.insert("tool_calls".to_owned(), calls(family, &mut lost)?);
        end_of_turn = family.end_of_turn.iter().map(|text| escaped(text)).collect();
        if profile.tool_in_reasoning != InReasoning::Literal {
            lost.push("that a call ends or interrupts reasoning".to_owned());
        }
    }
    let content = match end_of_turn.is_empty() {
        true => json!({}),
        false => json!({"close_pattern": format!(r"\s*(?:{})\s*", end_of_turn.join("|"))}),
    };
    fields.insert("content".to_owned(), content);
    let template = json!({
        "version": 1, "defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields,
    });
    Ok(Exported { template, lost })
}

fn calls(family: &Family, lost: &mut Vec<String>) -> Result<Value, String> {
    if family.messages.is_some() {
        return Err("it writes messages with headers".to_owned());
    }
    let form = family.forms.get(family.write.form).or(family.forms.first());
    let form = form.ok_or("it has no calls")?;
    if family.forms.len() > 1 || form.calls.len() > 1 || form.sections.len() > 1 {
        lost.push("forms of calls other than the one it writes".to_owned());
    }
    if !form.spellings.is_empty() || !family.erase.is_empty() {
        lost.push("other spellings, and texts that are removed".to_owned());
    }
    if form.parameters.len() > 1 {
        lost.push("parameters written in other ways, such as CDATA".to_owned());
    }
    lost.push("markers that are missing or cut, and what is read behind a fault".to_owned());
    let call = &form.calls.first().ok_or("it has no call")?.parts;
    let (head, tail) = section(form.sections.first())?;
    if let (Some(head), [Part::Hole(Hole::Object(Dialect::Json))]) =
        (head.strip_suffix('['), &**call)
    {
        return list(form, head, tail.strip_prefix(']').unwrap_or(&tail));
    }
    let repeated = form
        .sections
        .first()
        .is_some_and(|it| it.holes().any(|hole| matches!(hole, Hole::Calls { .. })));
    let opener = |text: &str| match (literal(text), repeated) {
        (text, _) if text.is_empty() => text,
        (text, true) => format!(r"(?:{text}\s*)?"),
        (text, false) => format!(r"{text}\s*"),
    };
    let closer = |text: &str| match (literal(text), repeated) {
        (text, _) if text.is_empty() => text,
        (text, true) => format!(r"(?:\s*{text})?"),
        (text, false) => format!(r"\s*{text}"),
    };
    let at = call.iter().position(is_payload).ok_or("its arguments are not JSON or tags")?;
    let (before, after) = (&call[..at], &call[at + 1..]);
    let payload = match &call[at] {
        Part::Hole(Hole::Parameters { .. }) => {
            form.parameters.first().and_then(|it| it.parts.first()).and_then(first)
        }
        _ => None,
    };
    let (open, groups) = header(before, payload.unwrap_or('{'))?;
    let close = match after {
        [] => String::new(),
        [Part::Literal(text)] if text.trim().is_empty() => String::new(),
        [Part::Literal(text)] => literal(text.trim_end()),
        _ => return Err("what stands behind its arguments is no text".to_owned()),
    };
    let (head, tail) = (head.trim(), tail.trim());
    let ends = if repeated { !close.is_empty() } else { !close.is_empty() || !tail.is_empty() };
    if close.chars().all(|c| r"\}])s*".contains(c)) && !close.is_empty() {
        return Err("its calls end with nothing but a bracket".to_owned());
    }
    let (open, close) = (opener(head) + &open, close + &closer(tail));
    if !ends
        || head.is_empty()
            && !matches!(before.first(), Some(Part::Literal(text)) if !text.trim().is_empty())
    {
        return Err("its calls begin or end without a marker".to_owned());
    }
    let mut field = json!({
        "open_pattern": format!(r"\s*{open}"), "close_pattern": format!(r"{close}\s*"),
        "repeats": true,
    });
    let name = if groups.contains(&"name") { "{name}" } else { "" };
    let (content, name, arguments) = match &call[at] {
        Part::Hole(Hole::Object(_)) => {
            let keys = keys(form)?;
            let place = |keys: &[String]| keys.first().map(|key| format!("{{content.{key}}}"));
            let name = place(&keys.name).unwrap_or_default();
            (json!("json"), name, place(&keys.arguments).unwrap_or_default())
        }
        Part::Hole(Hole::Parameters { .. }) => {
            field["content_args"] = parameters(form)?;
            (json!("xml-inline"), name.to_owned(), "{content}".to_owned())
        }
        _ => (json!("json"), name.to_owned(), "{content}".to_owned()),
    };
    if name.is_empty() {
        return Err("its calls have no name of their own".to_owned());
    }
    field["content"] = content;
    field["transform"] =
        json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    if groups.contains(&"id") {
        field["transform"]["id"] = json!("{id}");
    }
    Ok(field)
}

/// Objects in a list.
fn list(form: &Form, head: &str, tail: &str) -> Result<Value, String> {
    let (open, close) = (literal(head.trim()), literal(tail.trim()));
    if open.is_empty() {
        return Err("its calls begin without a marker".to_owned());
    }
    let keys = keys(form)?;
    let place = |keys: &[String]| keys.first().map(|key| format!("{{{key}}}"));
    let mut field = json!({
        "open_pattern": format!(r"\s*{open}\s*(?=\[)"), "content": "json", "transform_each": true,
        "transform": {"type": "function", "function": {
            "name": place(&keys.name), "arguments": place(&keys.arguments),
        }},
    });
    if !close.is_empty() {
        field["close_pattern"] = format!(r"\s*{close}\s*").into();
    }
    Ok(field)
}

fn keys(form: &Form) -> Result<&NamedKeys, String> {
    let Keys::Named(keys) = &form.keys else {
        return Err("the key of its objects is the name".to_owned());
    };
    Ok(keys)
}

/// The texts around the calls of a section.
fn section(section: Option<&Template>) -> Result<(String, String), String> {
    let parts = section.map_or(&[][..], |section| &section.parts);
    let mut around = [String::new(), String::new()];
    let mut side = 0;
    for part in parts {
        match part {
            Part::Literal(text) => around[side].push_str(text),
            Part::Hole(Hole::Call | Hole::Calls { .. }) => side = 1,
            _ => return Err("its section has parts that may be missing".to_owned()),
        }
    }
    let [head, tail] = around;
    Ok((head, tail))
}

fn is_payload(part: &Part) -> bool {
    matches!(
        part,
        Part::Hole(
            Hole::Object(Dialect::Json) | Hole::Arguments(Dialect::Json) | Hole::Parameters { .. }
        )
    )
}

/// What stands before the arguments, which begin with `payload`, as an expression, and its groups.
fn header(parts: &[Part], payload: char) -> Result<(String, Vec<&'static str>), String> {
    let (mut pattern, mut groups) = (String::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let next = parts.get(number + 1).and_then(first).unwrap_or(payload);
        let mut group = |name: &'static str| {
            groups.push(name);
            format!(r"(?P<{name}>[^\s{}]+)", in_class(next))
        };
        pattern += &match part {
            Part::Literal(text) => literal(text),
            Part::Hole(Hole::Name) => group("name"),
            Part::Hole(Hole::Id(None)) => group("id"),
            Part::Group(inner) => match &inner[..] {
                [Part::Literal(text)] => format!("(?:{})?", literal(text)),
                _ => return Err("parts of its calls may be missing".to_owned()),
            },
            _ => return Err("its calls have more in front of their arguments".to_owned()),
        };
    }
    Ok((pattern, groups))
}

/// The first character of a part that is no white space.
fn first(part: &Part) -> Option<char> {
    match part {
        Part::Literal(text) => text.chars().find(|c| !c.is_whitespace()),
        Part::Group(inner) => inner.first().and_then(first),
        Part::Hole(_) => None,
    }
}

fn parameters(form: &Form) -> Result<Value, String> {
    let parts = form.parameters.first().map_or(&[][..], |template| &template.parts);
    let [
        Part::Literal(before),
        Part::Hole(Hole::Key),
        Part::Literal(between),
        Part::Hole(Hole::Value(trim)),
        Part::Literal(after),
    ] = parts
    else {
        return Err("its parameters are more than a key and a value".to_owned());
    };
    let key = in_class(first(&parts[2]).ok_or("its keys end without a marker")?);
    let edge = |shown: bool| match trim {
        Trim::All => r"\s*",
        Trim::Shown if shown => r"\n?",
        Trim::Shown => "",
    };
    let pattern = format!(
        r"{}(?P<key>[^{key}]+){}{}(?P<value>.*?){}{}",
        literal(before.trim()),
        literal(between.trim_end()),
        edge(between.ends_with('\n')),
        edge(after.starts_with('\n')),
        literal(after.trim()),
    );
    Ok(match form.undeclared {
        Some(Undeclared::Json) => json!({
            "tag_pattern": pattern,
            "value_parser": {"name": "json", "args": {"allow_non_json": true, "strip": false}},
        }),
        _ => json!({"tag_pattern": pattern}),
    })
}

/// A text as an expression: white space in it may be any, or none.
fn literal(text: &str) -> String {
    let words = text.split_whitespace().map(escaped);
    let mut pattern = words.collect::<Vec<_>>().join(r"\s*");
    if text.starts_with(char::is_whitespace) {
        pattern.insert_str(0, r"\s*");
    }
    if text.ends_with(char::is_whitespace) && !text.trim().is_empty() {
        pattern += r"\s*";
    }
    pattern
}

/// A text as an expression that matches it alone.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn in_class(c: char) -> String {
    if r"\]^-[".contains(c) { format!("\\{c}") } else { c.to_string() }
}
