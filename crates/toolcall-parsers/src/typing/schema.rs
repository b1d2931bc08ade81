//! Lookup of the types that a schema admits for a parameter.
//!
//! ```text
//! {"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
//! n    INTEGER or NULL
//! m    not declared
//! ```

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Number, Value};

use super::{TypeSet, path::PathStep};
use crate::{
    limits::{MAX_SCHEMA_DEPTH, MAX_SCHEMAS},
    tools::Tools,
};

/// Returns the types that the schema `parameters` admits for the parameter `name`, or `None` if the
/// schema does not mention it. A parameter declared without a type is a string.
pub(crate) fn admitted(parameters: &Value, name: &str) -> Option<TypeSet> {
    let types = declared_at(parameters, core::iter::once(PathStep::Member(name)))?;
    Some(if types == TypeSet::ALL { TypeSet::STRING } else { types })
}

/// Returns whether `tool` may have a parameter `name`: the schema declares it, or describes no
/// parameters.
pub(crate) fn declares(tools: &Tools, tool: &str, name: &str) -> bool {
    let Some(tool) = tools.get(tool) else { return true };
    let telling = ["properties", "additionalProperties", "$ref", "allOf", "anyOf", "oneOf"];
    let silent = tool.parameters.as_object().is_none_or(|schema| !has_any(schema, &telling));
    silent || admitted(&tool.parameters, name).is_some()
}

/// Returns the types that the schema `parameters` admits at the end of `path`. All types if they
/// are not restricted, `None` if the schema does not describe that position.
pub(crate) fn declared_at<'p>(
    parameters: &Value,
    path: impl Iterator<Item = PathStep<'p>> + Clone,
) -> Option<TypeSet> {
    let mut walk = Walk { root: parameters, nodes: MAX_SCHEMAS };
    let types = walk.at(parameters, path, 0)?;
    // Contradicting types are treated as no restriction.
    Some(if types == TypeSet::NONE { TypeSet::ALL } else { types })
}

/// Returns whether the text of the schema mentions an array or object anywhere. References are not
/// followed.
pub(crate) fn has_containers(parameters: &Value) -> bool {
    let mut open: Vec<&Value> = Vec::new();
    open.extend(parameters.as_object().into_iter().flat_map(Map::values));
    while let Some(value) = open.pop() {
        match value {
            Value::Object(schema) => {
                let types = declared(schema);
                if types != TypeSet::ALL
                    && (types.has(TypeSet::ARRAY) || types.has(TypeSet::OBJECT))
                {
                    return true;
                }
                open.extend(schema.values());
            }
            Value::Array(parts) => open.extend(parts),
            _ => {}
        }
    }
    false
}

/// A walk through a schema, with a budget.
struct Walk<'s> {
    root: &'s Value,
    nodes: u32,
}

impl<'s> Walk<'s> {
    /// Counts a schema. Returns whether depth and budget allow it.
    fn enter(&mut self, depth: u8) -> bool {
        let fine = depth < MAX_SCHEMA_DEPTH && self.nodes > 0;
        self.nodes = self.nodes.saturating_sub(1);
        fine
    }

    /// Follows `path` from `schema`, through references and combinators.
    fn at<'p>(
        &mut self,
        schema: &'s Value,
        path: impl Iterator<Item = PathStep<'p>> + Clone,
        depth: u8,
    ) -> Option<TypeSet> {
        let mut rest = path.clone();
        let Some(step) = rest.next() else { return Some(self.types(schema, depth)) };
        if !self.enter(depth) {
            return None;
        }
        let schema = schema.as_object()?;
        if let Some(inner) = own(schema, step) {
            return self.at(inner, rest, 0);
        }
        if let Some(target) = self.target(schema)
            && let Some(types) = self.at(target, path.clone(), depth + 1)
        {
            return Some(types);
        }
        let mut all: Option<TypeSet> = None;
        for part in branches(schema, "allOf") {
            if let Some(types) = self.at(part, path.clone(), depth + 1) {
                all = Some(all.map_or(types, |all| all.and(types)));
            }
        }
        let mut any: Option<TypeSet> = None;
        for part in branches(schema, "anyOf").chain(branches(schema, "oneOf")) {
            if let Some(types) = self.at(part, path.clone(), depth + 1) {
                any = Some(any.map_or(types, |any| any.or(types)));
            }
        }
        match (all, any) {
            (Some(all), Some(any)) => return Some(all.and(any)),
            (Some(types), None) | (None, Some(types)) => return Some(types),
            (None, None) => {}
        }
        let others = match step {
            PathStep::Member(_) => "additionalProperties",
            PathStep::Element(_) => "items",
        };
        match schema.get(others) {
            Some(others @ Value::Object(_)) => self.at(others, rest, 0),
            _ => None,
        }
    }

    /// Returns the types that a schema admits. All types if they are not restricted.
    fn types(&mut self, schema: &'s Value, depth: u8) -> TypeSet {
        if !self.enter(depth) {
            return TypeSet::ALL;
        }
        let Some(schema) = schema.as_object() else { return TypeSet::ALL };
        let mut types = declared(schema);
        if let Some(target) = self.target(schema) {
            types = types.and(self.types(target, depth + 1));
        }
        for part in branches(schema, "allOf") {
            types = types.and(self.types(part, depth + 1));
        }
        for key in ["anyOf", "oneOf"] {
            let mut any = None;
            for part in branches(schema, key) {
                let part = self.types(part, depth + 1);
                any = Some(any.map_or(part, |any: TypeSet| any.or(part)));
            }
            types = types.and(any.unwrap_or(TypeSet::ALL));
        }
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            types = types.or(TypeSet::NULL);
        }
        types
    }

    /// Returns the target of a local `$ref`.
    fn target(&self, schema: &Map<String, Value>) -> Option<&'s Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(&percent_decoded(pointer)?)
    }
}

/// Returns the schema that `schema` itself gives for this member or element.
fn own<'s>(schema: &'s Map<String, Value>, step: PathStep<'_>) -> Option<&'s Value> {
    match step {
        PathStep::Member(name) => schema.get("properties")?.get(name),
        PathStep::Element(index) => {
            let tuple = schema.get("prefixItems").or_else(|| schema.get("items"))?;
            tuple.as_array()?.get(index)
        }
    }
}

/// Returns the schemas in the list at `key`, such as `anyOf`.
fn branches<'s>(
    schema: &'s Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'s Value> + use<'s> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the types that the schema's own keywords admit: `type`, `const` and `enum`. Without
/// them, keywords that imply a type, such as `properties`.
fn declared(schema: &Map<String, Value>) -> TypeSet {
    let members = || match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
        (Some(only), _) => Some(type_of(only)),
        (None, Some(members)) if !members.is_empty() => {
            Some(members.iter().fold(TypeSet::NONE, |all, member| all.or(type_of(member))))
        }
        _ => None,
    };
    let named = match schema.get("type") {
        Some(Value::String(name)) => Some(by_name(name)),
        Some(Value::Array(names)) if !names.is_empty() => {
            let names = names.iter().filter_map(Value::as_str);
            Some(names.fold(TypeSet::NONE, |all, name| all.or(by_name(name))))
        }
        _ => None,
    };
    match (named, members()) {
        (Some(named), Some(members)) => match named.and(members) {
            // The keywords contradict each other: use `type`.
            TypeSet::NONE => named,
            both => both,
        },
        (Some(types), None) | (None, Some(types)) => types,
        (None, None) if has_any(schema, &["properties", "additionalProperties", "required"]) => {
            TypeSet::OBJECT
        }
        (None, None) if has_any(schema, &["items", "prefixItems"]) => TypeSet::ARRAY,
        (None, None) => TypeSet::ALL,
    }
}

fn has_any(schema: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().any(|key| schema.contains_key(*key))
}

/// Returns the type of `value`.
fn type_of(value: &Value) -> TypeSet {
    match value {
        Value::Null => TypeSet::NULL,
        Value::Bool(_) => TypeSet::BOOLEAN,
        Value::Number(number) if is_fractional(number) => TypeSet::NUMBER,
        Value::Number(_) => TypeSet::INTEGER,
        Value::String(_) => TypeSet::STRING,
        Value::Array(_) => TypeSet::ARRAY,
        Value::Object(_) => TypeSet::OBJECT,
    }
}

/// Returns whether a number is not written as an integer. Works for numbers of any size (`1e400`).
pub(crate) fn is_fractional(number: &Number) -> bool {
    number.is_f64() || !number.is_i64() && number.to_string().contains(['.', 'e', 'E'])
}

/// Type names of JSON Schema, SQL, Python and others.
const NAMES: &[(TypeSet, &[&str])] = &[
    (TypeSet::NULL, &["null", "none", "nil"]),
    (TypeSet::BOOLEAN, &["boolean", "bool", "binary"]),
    (TypeSet::INTEGER, &["integer"]),
    (TypeSet::NUMBER, &["number", "decimal", "double"]),
    (TypeSet::ARRAY, &["array", "list", "sequence", "tuple", "set"]),
    (TypeSet::OBJECT, &["object", "dict", "map", "dictionary"]),
    (TypeSet::STRING, &["string", "str", "text", "varchar", "char", "enum"]),
    (TypeSet::ALL, &["any"]),
];

/// Prefixes of longer type names, such as `int64` and `List[str]`.
const PREFIXES: &[(TypeSet, &[&str])] = &[
    (TypeSet::INTEGER, &["int", "uint", "long", "short", "unsigned"]),
    (TypeSet::NUMBER, &["num", "float", "double"]),
    (TypeSet::BOOLEAN, &["bool"]),
    (TypeSet::OBJECT, &["dict"]),
    (TypeSet::ARRAY, &["list", "arr"]),
];

/// Returns the type called `name`. An unknown name is a string.
pub(crate) fn by_name(name: &str) -> TypeSet {
    let name = name.trim_ascii().as_bytes();
    let find = |table: &[(TypeSet, &[&str])], fits: &dyn Fn(&[u8]) -> bool| {
        let row = table.iter().find(|(_, names)| names.iter().any(|name| fits(name.as_bytes())));
        row.map(|&(types, _)| types)
    };
    let whole = |known: &[u8]| name.eq_ignore_ascii_case(known);
    let head =
        |known: &[u8]| name.get(..known.len()).is_some_and(|n| n.eq_ignore_ascii_case(known));
    find(NAMES, &whole).or_else(|| find(PREFIXES, &head)).unwrap_or(TypeSet::STRING)
}

/// Returns `pointer` with each `%XX` decoded, or `None` if the result is not UTF-8.
fn percent_decoded(pointer: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|&b| char::from(b).to_digit(16));
        rest = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                &tail[2..]
            }
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8(bytes).ok()
}
