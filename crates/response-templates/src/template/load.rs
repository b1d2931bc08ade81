//! The loading of templates. Every key is checked, and every pattern is compiled.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use jail_match::Channel;

use super::{
    Boundary, Content, ErrorKind, Field, Inner, ResponseTemplate, ResponseTemplateError, Role,
    Transform, args,
};
use crate::json::{JsonObject, JsonTree};

const TOP_KEYS: [&str; 5] =
    ["version", "defaults", "fields", "start_anchor", "start_anchor_pattern"];

const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];

/// Keys by which `tokenizer_config.json` is distinguished from a template.
const CONFIG_KEYS: [&str; 4] =
    ["tokenizer_class", "chat_template", "added_tokens_decoder", "model_max_length"];

fn error<T>(kind: ErrorKind, key: &str) -> Result<T, ResponseTemplateError> {
    Err(ResponseTemplateError::new(kind, key))
}

pub(super) fn from_json(text: &str) -> Result<ResponseTemplate, ResponseTemplateError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let value = JsonTree::from_json(text)
        .map_err(|error| ResponseTemplateError::new(ErrorKind::NotJson, "").at_offset(error.at))?;
    from_value(&value)
}

pub(super) fn from_value(value: &JsonTree) -> Result<ResponseTemplate, ResponseTemplateError> {
    unwrapped(value, 3)
}

/// Returns the template in `value`, which may be inside up to `layers` JSON strings.
fn unwrapped(value: &JsonTree, layers: u32) -> Result<ResponseTemplate, ResponseTemplateError> {
    let value = value.get("response_template").unwrap_or(value);
    match value {
        JsonTree::String(text) if layers > 0 => {
            let inner = JsonTree::from_json(text).map_err(|error| {
                ResponseTemplateError::new(ErrorKind::NotJson, "").at_offset(error.at)
            })?;
            unwrapped(&inner, layers.saturating_sub(1))
        }
        value => template(value),
    }
}

fn template(value: &JsonTree) -> Result<ResponseTemplate, ResponseTemplateError> {
    let Some(object) = value.as_object() else { return error(ErrorKind::NotAnObject, "") };
    if object.get("fields").is_none() {
        let schema =
            object.iter().any(|(key, _)| key == "response_schema" || key.starts_with("x-"));
        if schema || object.get("properties").is_some() {
            return error(ErrorKind::ResponseSchema, "response_schema");
        }
        if CONFIG_KEYS.iter().any(|key| object.get(key).is_some()) {
            return error(ErrorKind::NoTemplate, "");
        }
    }
    let first = match object.get("version") {
        None | Some(JsonTree::Bool(true)) => true,
        Some(JsonTree::Int(number)) => number.as_str() == "1",
        Some(JsonTree::Float(number)) => *number == 1.0,
        Some(_) => false,
    };
    if !first {
        return error(ErrorKind::Version, "version");
    }
    if let Some((key, _)) = object.iter().find(|(key, _)| !TOP_KEYS.contains(key)) {
        return error(ErrorKind::TopKey, key);
    }
    let defaults = match object.get("defaults") {
        None => JsonObject::default(),
        Some(JsonTree::Object(defaults)) => defaults.clone(),
        Some(_) => return error(ErrorKind::DefaultsType, "defaults"),
    };
    let fields = object.get("fields").and_then(JsonTree::as_object);
    let Some(entries) = fields.filter(|fields| !fields.is_empty()) else {
        return error(ErrorKind::Fields, "fields");
    };
    let mut extras = 0;
    let mut fields = Vec::new();
    for (name, entry) in entries.iter() {
        let read = field(name, entry, &mut extras).map_err(|error| error.in_field(name))?;
        addable(&read, defaults.get(name)).map_err(|error| error.in_field(name))?;
        fields.push(read);
    }
    let mut leftovers = fields.iter().enumerate().filter(|(_, field)| field.open.is_none());
    let leftover = leftovers.next().map(|(n, _)| n);
    if let Some((_, second)) = leftovers.next() {
        return Err(
            ResponseTemplateError::new(ErrorKind::TwoLeftovers, "open").in_field(&second.name)
        );
    }
    let anchor = Boundary::from_keys(object, "start_anchor", "start_anchor_pattern")?;
    let Some(anchor) = anchor else { return error(ErrorKind::NoAnchor, "start_anchor") };
    let text = value.to_string();
    Ok(ResponseTemplate { inner: Arc::new(Inner { defaults, fields, leftover, anchor, text }) })
}

fn field(name: &str, entry: &JsonTree, extras: &mut u8) -> Result<Field, ResponseTemplateError> {
    let Some(entry) = entry.as_object() else { return error(ErrorKind::FieldType, "") };
    if let Some((key, _)) = entry.iter().find(|(key, _)| !FIELD_KEYS.contains(key)) {
        return error(ErrorKind::FieldKey, key);
    }
    let (text, none) = (JsonTree::from("text"), JsonTree::Object(JsonObject::default()));
    let parser = entry.get("content").unwrap_or(&text);
    let arguments = entry.get("content_args").unwrap_or(&none);
    let open = Boundary::from_keys(entry, "open", "open_pattern")?;
    let close = Boundary::from_keys(entry, "close", "close_pattern")?;
    let repeats = entry.get("repeats").is_some_and(JsonTree::truthy);
    let join = match entry.get("join") {
        None | Some(JsonTree::Null) => None,
        Some(JsonTree::String(_)) if !repeats => {
            return error(ErrorKind::JoinWithoutRepeats, "join");
        }
        Some(JsonTree::String(join)) => Some(join.clone()),
        Some(_) => return error(ErrorKind::JoinType, "join"),
    };
    let each = match entry.get("transform_each") {
        None => false,
        Some(JsonTree::Bool(each)) => *each,
        Some(_) => return error(ErrorKind::EachType, "transform_each"),
    };
    let content = args::content(parser, arguments, "content_args")?;
    let transform = match entry.get("transform") {
        None | Some(JsonTree::Null) if each => {
            return error(ErrorKind::EachWithoutTransform, "transform_each");
        }
        None | Some(JsonTree::Null) => {
            groups_unused([("open_pattern", &open), ("close_pattern", &close)])?;
            None
        }
        Some(transform) => {
            let check = |root: &str, path: &[String]| {
                if each {
                    // The items of the list may have members of any name.
                    return None;
                }
                misplaced(root, !path.is_empty(), (&content, &open, &close))
            };
            Some(Transform::from_json(transform, "transform", &check)?)
        }
    };
    let role = role(name, extras);
    let optional = entry.get("optional").is_none_or(JsonTree::truthy);
    let name = name.to_owned();
    let field =
        Field { name, role, open, close, content, repeats, join, optional, transform, each };
    joinable(&field)?;
    Ok(field)
}

fn role(name: &str, extras: &mut u8) -> Role {
    match name {
        "content" => Role::Content,
        "thinking" | "reasoning_content" | "reasoning" => Role::Reasoning,
        "tool_calls" => Role::Calls,
        _ => {
            // Fields share the last channel if there are more fields than channels.
            let first = Channel::HIDDEN.index() as u8 + 1;
            let number = (first + *extras).min(Channel::COUNT - 1);
            *extras += u8::from(number < Channel::COUNT - 1);
            Role::Extra(Channel::new(number).unwrap_or(Channel::CONTENT))
        }
    }
}

/// Returns an error if boundaries have groups, which need a transform.
fn groups_unused(boundaries: [(&str, &Option<Boundary>); 2]) -> Result<(), ResponseTemplateError> {
    for (key, boundary) in boundaries {
        if let Some((name, at)) = boundary.as_ref().and_then(Boundary::named) {
            let error = ResponseTemplateError::new(ErrorKind::GroupsNoTransform, key).detail(name);
            return Err(ResponseTemplateError { at, ..error });
        }
    }
    Ok(())
}

/// The content of a field, its opener and its closer.
type FieldParts<'f> = (&'f Content, &'f Option<Boundary>, &'f Option<Boundary>);

/// Returns the fault of a placeholder for `root`, or for a member of it if `member` is set.
fn misplaced(root: &str, member: bool, parts: FieldParts<'_>) -> Option<ErrorKind> {
    let (content, open, close) = parts;
    let has = |boundary: &Option<Boundary>| {
        boundary.iter().any(|boundary| boundary.program.names.iter().any(|name| name == root))
    };
    let scalar = matches!(
        content,
        Content::Text { .. } | Content::Int | Content::Float | Content::Bool { .. }
    );
    if root == "content" {
        (scalar && member).then_some(ErrorKind::PlaceholderPath)
    } else if has(open) {
        member.then_some(ErrorKind::PlaceholderPath)
    } else {
        (!has(close)).then_some(ErrorKind::UndefinedPlaceholder)
    }
}

/// Returns an error if `join` is set and values are never strings.
fn joinable(field: &Field) -> Result<(), ResponseTemplateError> {
    let never = match &field.transform {
        _ if field.join.is_none() => false,
        _ if field.each => true,
        None => !matches!(field.content, Content::Text { .. } | Content::Json(_)),
        Some(Transform::Place { .. } | Transform::Plain(JsonTree::String(_))) => false,
        Some(_) => true,
    };
    if never { error(ErrorKind::JoinNotText, "join") } else { Ok(()) }
}

/// Returns an error if regions cannot be added to the default.
fn addable(field: &Field, default: Option<&JsonTree>) -> Result<(), ResponseTemplateError> {
    let good = match default {
        None => true,
        Some(JsonTree::Null | JsonTree::String(_)) if field.join.is_some() => true,
        Some(JsonTree::Array(_)) if field.join.is_none() => true,
        Some(_) => !field.repeats,
    };
    if good { Ok(()) } else { error(ErrorKind::DefaultNotAddable, "defaults") }
}
