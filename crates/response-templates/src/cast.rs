//! Casts of text arguments to the types of a tool's schema.

use alloc::string::{String, ToString};

use serde_json::Value as Schema;
use smallvec::SmallVec;
use toolcall_parsers::Tools;

use crate::{
    json::{self, JsonTree},
    text::strip,
};

/// Casts the arguments of the call in `value`, or of each call if `value` is a list.
pub(crate) fn cast_calls(value: &mut JsonTree, tools: &Tools) {
    match value {
        JsonTree::Array(items) => items.iter_mut().for_each(|item| cast_calls(item, tools)),
        JsonTree::Object(object) => {
            let Some(JsonTree::Object(function)) = object.get_mut("function") else { return };
            let Some(JsonTree::String(name)) = function.get("name").cloned() else { return };
            let Some(arguments) = function.get_mut("arguments") else { return };
            cast_arguments(arguments, &name, tools);
        }
        _ => {}
    }
}

/// Casts the arguments of a call. Returns whether a cast changed them.
pub(crate) fn cast_arguments(arguments: &mut JsonTree, name: &str, tools: &Tools) -> bool {
    let JsonTree::Object(arguments) = arguments else { return false };
    let cast = |(key, argument): (&str, &mut JsonTree)| cast(argument, &types(tools, name, key));
    arguments.values_mut().fold(false, |changed, argument| changed | cast(argument))
}

/// The types of an argument, in the order in which they are tried.
pub(crate) type Types = SmallVec<[Type; 4]>;

/// A type of JSON schema to which text can be cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    Number,
    Boolean,
    Null,
    Object,
    Array,
}

impl Type {
    /// Returns the type of this name; `None` for a string, which needs no cast, and for unknown
    /// names.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "object" => Self::Object,
            "array" => Self::Array,
            _ => return None,
        })
    }
}

/// Returns the types that a tool's schema gives an argument.
pub(crate) fn types(tools: &Tools, name: &str, key: &str) -> Types {
    // Of two tools with one name, the later counts.
    let tool = tools.iter().filter(|tool| tool.name == name).last();
    let schema = tool
        .and_then(|tool| tool.parameters.get("properties"))
        .and_then(Schema::as_object)
        .and_then(|properties| properties.get(key));
    let mut all = Types::new();
    if let Some(schema) = schema {
        collect(schema, &mut all);
    }
    all
}

fn collect(schema: &Schema, all: &mut Types) {
    let before = all.len();
    match schema.get("type") {
        Some(Schema::String(one)) => all.extend(Type::named(one)),
        Some(Schema::Array(many)) => {
            all.extend(many.iter().filter_map(Schema::as_str).filter_map(Type::named));
        }
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
    if nullable && !all.iter().skip(before).any(|one| *one == Type::Null) {
        all.push(Type::Null);
    }
}

/// Casts a string to the first of `types` that accepts it. In a list, casts each string, unless
/// `types` has a list. Returns whether a cast changed the value.
pub(crate) fn cast(value: &mut JsonTree, types: &[Type]) -> bool {
    match value {
        JsonTree::String(text) => match types.iter().find_map(|kind| accept(*kind, text)) {
            Some(better) => {
                *value = better;
                true
            }
            None => false,
        },
        JsonTree::Array(items) if !types.contains(&Type::Array) => {
            let strings = items.iter_mut().filter(|item| item.as_str().is_some());
            strings.fold(false, |changed, item| changed | cast(item, types))
        }
        _ => false,
    }
}

fn accept(kind: Type, text: &str) -> Option<JsonTree> {
    match kind {
        Type::Integer => match json::parse_int(text) {
            Some(number) => Some(JsonTree::Int(number)),
            None => json::whole(json::parse_float(text)?),
        },
        Type::Number => {
            let number = json::parse_float(text)?;
            let whole = json::whole(number).filter(|_| !text.contains('.'));
            whole.or_else(|| number.is_finite().then_some(JsonTree::Float(number)))
        }
        Type::Boolean => match strip(text).to_lowercase().as_str() {
            "true" | "1" => Some(JsonTree::Bool(true)),
            "false" | "0" => Some(JsonTree::Bool(false)),
            _ => None,
        },
        Type::Null => matches!(strip(text), "null" | "None").then_some(JsonTree::Null),
        Type::Object => JsonTree::from_json(text).ok().filter(|value| value.as_object().is_some()),
        Type::Array => JsonTree::from_json(text).ok().filter(|value| value.as_array().is_some()),
    }
}

/// Returns whether a cast may change an argument of these types.
pub(crate) fn may_change(types: &[Type], is_list: bool) -> bool {
    !(types.is_empty() || is_list && types.contains(&Type::Array))
}

/// Casts a JSON value. Returns the new JSON, or `None` if the value does not change.
pub(crate) fn recast(text: &str, types: &[Type]) -> Option<String> {
    let mut value = JsonTree::from_json(text).ok()?;
    cast(&mut value, types).then(|| value.to_string())
}
