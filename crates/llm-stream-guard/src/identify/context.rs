//! Conversion of JSON values into values of the template engine.

use minijinja::Value;
use serde_json::Value as Json;

/// Converts a JSON value into the engine's value. A conversion by serde would turn numbers into
/// objects when `serde_json` keeps their spelling (`arbitrary_precision`).
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
