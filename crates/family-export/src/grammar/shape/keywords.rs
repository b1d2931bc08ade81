//! The keywords of JSON schemas and the names of types.

use serde_json::{Map, Value};

/// Keywords that restrict values and that the grammars of this crate do not express.
const UNSUPPORTED: [&str; 17] = [
    "pattern",
    "format",
    "multipleOf",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "prefixItems",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "not",
    "if",
    "unevaluatedProperties",
];

/// Keywords that restrict values and are read.
const SUPPORTED: [&str; 21] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "nullable",
    "then",
];

/// Returns whether a keyword restricts values, and is not expressed.
pub(super) fn is_unsupported(key: &str) -> bool {
    UNSUPPORTED.contains(&key)
}

/// Returns whether a keyword restricts values.
pub(super) fn restricts(key: &str) -> bool {
    SUPPORTED.contains(&key) || is_unsupported(key)
}

/// The types that a schema names or implies.
pub(super) struct Types(Vec<&'static str>);

impl Types {
    /// Returns the types of a schema, or `None` without any restriction.
    pub(super) fn declared_by(schema: &Map<String, Value>) -> Option<Self> {
        let names: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => {
                let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
                let implied = match () {
                    () if has(&["enum", "const"]) => return None,
                    () if has(&["properties", "additionalProperties", "required"]) => "object",
                    () if has(&["items", "prefixItems"]) => "array",
                    () => return None,
                };
                vec![implied]
            }
        };
        let mut all: Vec<&'static str> = Vec::new();
        for name in names {
            let name = canonical(name)?;
            if !all.contains(&name) {
                all.push(name);
            }
        }
        (!all.is_empty()).then_some(Self(all))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.clone().into_iter()
    }

    /// Returns whether a value has one of the types.
    pub(super) fn admit(&self, value: &Value) -> bool {
        let name = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.0.contains(&name) || name == "integer" && self.0.contains(&"number")
    }
}

/// Returns JSON schema's name of a type, or `None` if the name is unknown or means any type. Names
/// of other languages (`int64`, `dict`) are known.
fn canonical(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let begins = |heads: &[&str]| heads.iter().any(|head| name.starts_with(head));
    Some(match name.as_str() {
        "null" | "none" | "nil" => "null",
        "decimal" => "number",
        "sequence" | "tuple" | "set" => "array",
        "object" | "map" => "object",
        "str" | "string" | "text" | "varchar" | "char" => "string",
        _ if begins(&["bool", "binary"]) => "boolean",
        _ if begins(&["int", "uint", "long", "short", "unsigned"]) => "integer",
        _ if begins(&["num", "float", "double"]) => "number",
        _ if begins(&["dict"]) => "object",
        _ if begins(&["list", "arr"]) => "array",
        _ => return None,
    })
}
