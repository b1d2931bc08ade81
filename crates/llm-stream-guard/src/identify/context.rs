//! Values of JSON as templates see them.

use minijinja::Value;
use serde_json::Value as Json;

/// The template's value of a JSON value. serde would hand numbers over as objects if the program
/// keeps their spelling (serde_json's `arbitrary_precision`).
pub(super) fn value_of(json: Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(truth) => Value::from(truth),
        Json::Number(number) => {
            let integer = number.as_i64().map(Value::from).or(number.as_u64().map(Value::from));
            integer.or(number.as_f64().map(Value::from)).unwrap_or_default()
        }
        Json::String(text) => Value::from(text),
        Json::Array(items) => Value::from_iter(items.into_iter().map(value_of)),
        Json::Object(members) => {
            Value::from_pairs(members.into_iter().map(|(name, member)| (name, value_of(member))))
        }
    }
}
