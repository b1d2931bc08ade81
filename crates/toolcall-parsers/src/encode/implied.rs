//! Declarations of tools that are derived from calls.

use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec::Vec};

use serde_json::{Map, Value, json};

use super::EncodeCall;
use crate::{tools::Tools, typing::is_fractional};

impl Tools {
    /// Creates declarations from calls: each argument is declared with the types of its values. For
    /// callers that have calls without their request. Arguments that are not JSON are ignored.
    ///
    /// ```
    /// use toolcall_parsers::{EncodeCall, Tools};
    /// let tools = Tools::implied_by(&[EncodeCall::new("tide", r#"{"port": "Brest", "day": 3}"#)]);
    /// let tool = tools.get("tide").unwrap();
    /// assert_eq!(tool.parameters["properties"]["day"]["type"][0], "integer");
    /// ```
    #[must_use]
    pub fn implied_by(calls: &[EncodeCall<'_>]) -> Self {
        let mut tools: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for call in calls {
            let arguments = serde_json::from_str(call.arguments).unwrap_or_default();
            tools.entry(call.name).or_default().push(arguments);
        }
        Self::new(
            tools
                .into_iter()
                .map(|(name, values)| (name, schema(&values.iter().collect::<Vec<_>>()))),
        )
    }
}

/// Returns a schema that describes `values`.
fn schema(values: &[&Value]) -> Value {
    let mut types: Vec<&str> = values.iter().map(|value| kind(value)).collect();
    types.sort_unstable();
    types.dedup();
    let mut members: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (key, value) in values.iter().filter_map(|value| value.as_object()).flatten() {
        members.entry(key).or_default().push(value);
    }
    let properties = members.into_iter().map(|(key, values)| (key.to_owned(), schema(&values)));
    let properties: Map<String, Value> = properties.collect();
    let items: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
    let mut described = json!({"type": types});
    if !properties.is_empty() {
        described["properties"] = properties.into();
    }
    if !items.is_empty() {
        described["items"] = schema(&items);
    }
    described
}

/// Returns the name of a value's type in schemas.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_fractional(number) => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
