//! Visits of texts that all shapes share.

use alloc::string::String;

use serde_json::{Map, Value};

use super::shape::{BodyError, TextField};
use crate::{segment::Syntax, tally::Location};

pub(super) type Visit<'v> = dyn FnMut(TextField<'_>) + 'v;

/// Visits a value if it is a string.
pub(super) fn text(value: Option<&mut Value>, location: Location, visit: &mut Visit<'_>) {
    if let Some(Value::String(text)) = value {
        visit(TextField { location, syntax: Syntax::Text, text });
    }
}

/// Visits the arguments of a call, which are JSON text in a string or an object.
pub(super) fn arguments(value: Option<&mut Value>, visit: &mut Visit<'_>) {
    match value {
        Some(Value::String(text)) => {
            visit(TextField { location: Location::Arguments, syntax: Syntax::Json, text });
        }
        Some(value) => strings(value, Location::Arguments, visit),
        None => {}
    }
}

/// Visits every string at any depth, and the names of members.
pub(super) fn strings(value: &mut Value, location: Location, visit: &mut Visit<'_>) {
    match value {
        Value::String(text) => visit(TextField { location, syntax: Syntax::Text, text }),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| strings(item, location, visit));
        }
        Value::Object(members) => {
            names(members, location, visit);
            members.values_mut().for_each(|member| strings(member, location, visit));
        }
        _ => {}
    }
}

/// Visits the names of members in order. A name stays unchanged if its new form is already taken.
fn names(members: &mut Map<String, Value>, location: Location, visit: &mut Visit<'_>) {
    let mut all = Map::new();
    for (name, member) in core::mem::take(members) {
        let mut new = name.clone();
        visit(TextField { location, syntax: Syntax::Text, text: &mut new });
        let free = new == name || !all.contains_key(&new);
        all.insert(if free { new } else { name }, member);
    }
    *members = all;
}

/// The way to read a member.
#[derive(Clone, Copy)]
pub(super) enum Reading {
    /// The member is one text.
    Text,
    /// Every string in the member is a text.
    Strings,
    /// The member is JSON, as text in a string or as a value.
    Arguments,
}

/// The texts of objects of one type: each has a path, a location and a reading.
pub(super) type Members = (&'static str, &'static [(&'static str, Location, Reading)]);

/// Visits the members that `table` lists for values of this type.
pub(super) fn members(value: &mut Value, table: &[Members], visit: &mut Visit<'_>) {
    let Some(found) = kind(value).and_then(|kind| table.iter().find(|(name, _)| *name == kind))
    else {
        return;
    };
    for &(path, location, reading) in found.1 {
        let member = value.pointer_mut(path);
        match (reading, member) {
            (Reading::Text, member) => text(member, location, visit),
            (Reading::Arguments, member) => arguments(member, visit),
            (Reading::Strings, Some(member)) => strings(member, location, visit),
            (Reading::Strings, None) => {}
        }
    }
}

/// Visits a string, or the texts of a list of parts.
///
/// Parts without a type, and parts of a type in `types`, have texts. If the value is an object,
/// every string in it is visited.
pub(super) fn content(
    value: Option<&mut Value>,
    location: Location,
    types: &[&str],
    visit: &mut Visit<'_>,
) {
    match value {
        Some(Value::String(text)) => visit(TextField { location, syntax: Syntax::Text, text }),
        Some(Value::Array(parts)) => {
            for part in parts {
                if part.is_string() {
                    text(Some(part), location, visit);
                } else if kind(part)
                    .map_or(part.get("type").is_none(), |kind| types.contains(&kind))
                {
                    text(part.get_mut("text"), location, visit);
                } else if kind(part) == Some("refusal") {
                    text(part.get_mut("refusal"), location, visit);
                }
            }
        }
        Some(value @ Value::Object(_)) => strings(value, location, visit),
        _ => {}
    }
}

/// Returns the `type` of a value.
pub(super) fn kind(value: &Value) -> Option<&str> {
    value.get("type")?.as_str()
}

/// Iterates over an array member. Yields nothing if it is missing or not an array.
pub(super) fn items<'a>(
    value: &'a mut Value,
    name: &str,
) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Visits the description, parameter schema, result schema and examples of a tool.
pub(super) fn tool(tool: &mut Value, parameters: &str, visit: &mut Visit<'_>) {
    text(tool.get_mut("description"), Location::ToolDescription, visit);
    for name in [parameters, "returns"] {
        if let Some(parameters) = tool.get_mut(name) {
            schema(parameters, visit);
        }
    }
    if let Some(examples) = tool.get_mut("input_examples") {
        strings(examples, Location::ToolValue, visit);
    }
}

/// Visits the description and the schema of an answer format.
pub(super) fn format(format: Option<&mut Value>, visit: &mut Visit<'_>) {
    if let Some(format) = format {
        tool(format, "schema", visit);
    }
}

/// Visits the texts of a JSON schema: descriptions, names of properties, and named values.
pub(super) fn schema(value: &mut Value, visit: &mut Visit<'_>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| schema(item, visit)),
        Value::Object(members) => schema_members(members, visit),
        _ => {}
    }
}

fn schema_members(members: &mut Map<String, Value>, visit: &mut Visit<'_>) {
    for (name, member) in members {
        match (name.as_str(), member) {
            // The names of these objects' members are the user's, and not keywords of JSON Schema.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                names(named, Location::ToolValue, visit);
                named.values_mut().for_each(|member| schema(member, visit));
            }
            ("description" | "title" | "$comment", member) if member.is_string() => {
                text(Some(member), Location::ToolDescription, visit);
            }
            (
                "enum" | "const" | "default" | "examples" | "example" | "required"
                | "dependentRequired" | "propertyOrdering" | "pattern" | "$ref",
                member,
            ) => {
                strings(member, Location::ToolValue, visit);
            }
            (_, member) => schema(member, visit),
        }
    }
}

/// Returns the body as an object.
pub(super) fn object(body: &Value) -> Result<&Map<String, Value>, BodyError> {
    body.as_object().ok_or_else(|| BodyError::new("body", "an object", Some(body)))
}

/// Checks that a member is an array of objects.
pub(super) fn check_objects(value: &Value, path: &'static str) -> Result<(), BodyError> {
    let Value::Array(items) = value else {
        return Err(BodyError::new(path, "an array", Some(value)));
    };
    match items.iter().find(|item| !item.is_object()) {
        Some(item) => Err(BodyError::new(path, "an array of objects", Some(item))),
        None => Ok(()),
    }
}
