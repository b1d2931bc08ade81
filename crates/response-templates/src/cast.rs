//! Casting: arguments that are text become what the tool's schema says.

use alloc::{string::ToString, vec::Vec};

use serde_json::Value as Schema;
use toolcall_parsers::Tools;

use crate::{
    json::{self, Value},
    text::strip,
};

/// Casts the arguments of every call that `value` is, or that is in a list that it is.
pub(crate) fn cast_calls(value: &mut Value, tools: &Tools) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| cast_calls(item, tools)),
        Value::Object(object) => {
            let Some(Value::Object(function)) = object.get_mut("function") else { return };
            let Some(Value::String(name)) = function.get("name").cloned() else { return };
            let Some(arguments) = function.get_mut("arguments") else { return };
            cast_arguments(arguments, &name, tools);
        }
        _ => {}
    }
}

/// Casts the arguments of a call; whether that changed them.
pub(crate) fn cast_arguments(arguments: &mut Value, name: &str, tools: &Tools) -> bool {
    let Value::Object(arguments) = arguments else { return false };
    let mut changed = false;
    for (key, argument) in arguments.values_mut() {
        let before = argument.clone();
        cast(argument, &types(tools, name, key));
        changed |= *argument != before;
    }
    changed
}

/// The types that the schema of a tool gives an argument: none if it gives none.
pub(crate) fn types<'t>(tools: &'t Tools, name: &str, key: &str) -> Vec<&'t str> {
    // Of two tools of one name the later counts.
    let tool = tools.iter().filter(|tool| tool.name == name).last();
    let schema = tool
        .and_then(|tool| tool.parameters.get("properties"))
        .and_then(Schema::as_object)
        .and_then(|properties| properties.get(key));
    let mut all = Vec::new();
    if let Some(schema) = schema {
        collect(schema, &mut all);
    }
    all
}

fn collect<'t>(schema: &'t Schema, all: &mut Vec<&'t str>) {
    let before = all.len();
    match schema.get("type") {
        Some(Schema::String(one)) => all.push(one),
        Some(Schema::Array(many)) => all.extend(many.iter().filter_map(Schema::as_str)),
        _ => {}
    }
    for union in ["anyOf", "oneOf"] {
        let choices = schema.get(union).and_then(Schema::as_array);
        choices.into_iter().flatten().for_each(|choice| collect(choice, all));
    }
    let nullable = match schema.get("nullable") {
        None | Some(Schema::Null | Schema::Bool(false)) => false,
        Some(Schema::String(text)) => !text.is_empty(),
        Some(Schema::Number(number)) => number.as_f64() != Some(0.0),
        Some(Schema::Array(items)) => !items.is_empty(),
        Some(Schema::Object(object)) => !object.is_empty(),
        Some(Schema::Bool(true)) => true,
    };
    if nullable && !all[before..].contains(&"null") {
        all.push("null");
    }
}

/// Casts a string to the first of `types` that accepts it, and so each string of a list, unless
/// a list is wanted.
pub(crate) fn cast(value: &mut Value, types: &[&str]) {
    match value {
        _ if types.is_empty() => {}
        Value::String(text) => {
            if let Some(better) = types.iter().find_map(|kind| accept(kind, text)) {
                *value = better;
            }
        }
        Value::Array(items) if !types.contains(&"array") => {
            for item in items.iter_mut().filter(|item| item.as_str().is_some()) {
                cast(item, types);
            }
        }
        _ => {}
    }
}

fn accept(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "integer" => match json::parse_int(text) {
            Some(number) => Some(Value::Int(number)),
            None => json::whole(json::parse_float(text)?),
        },
        "number" => {
            let number = json::parse_float(text)?;
            let whole = json::whole(number).filter(|_| !text.contains('.'));
            whole.or_else(|| number.is_finite().then_some(Value::Float(number)))
        }
        "boolean" => match strip(text).to_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        "null" => matches!(strip(text), "null" | "None").then_some(Value::Null),
        "object" => Value::from_json(text).ok().filter(|value| value.as_object().is_some()),
        "array" => Value::from_json(text).ok().filter(|value| value.as_array().is_some()),
        _ => None,
    }
}

/// Whether an argument with this value so far, as far as its kind goes, may be changed.
pub(crate) fn changes(types: &[&str], list: bool) -> bool {
    types.iter().any(|kind| *kind != "string") && !(list && types.contains(&"array"))
}

/// The text of a value that was cast, as JSON.
pub(crate) fn recast(text: &str, types: &[&str]) -> Option<alloc::string::String> {
    let mut value = Value::from_json(text).ok()?;
    let before = value.clone();
    cast(&mut value, types);
    (value != before).then(|| value.to_string())
}
