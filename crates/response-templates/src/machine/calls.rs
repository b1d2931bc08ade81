//! Calls of values that are known.

use alloc::string::{String, ToString};

use jail_match::Outcome;
use toolcall_parsers::Calls;

use super::out::Out;
use crate::json::Value;

/// Begins a call of a region that began at `at`.
pub(super) fn start(calls: &mut Calls, name: &str, id: Option<&str>, at: u64, out: &mut Out<'_>) {
    calls.begin(out.place(at));
    calls.start(name, id, 0, out.sink);
}

/// Emits the calls that `value`, of a region that began at `at`, is or has; how many.
pub(super) fn emit(calls: &mut Calls, value: &Value, at: u64, out: &mut Out<'_>) -> usize {
    if let Value::Array(items) = value {
        return items.iter().map(|item| emit(calls, item, at, out)).sum();
    }
    let Some((function, name)) = function(value) else { return 0 };
    let id = [value, function].into_iter().find_map(|at| at.get("id")?.as_str());
    start(calls, name, id, at, out);
    finish(calls, arguments(function).as_deref(), out);
    1
}

/// Ends a call whose arguments are this object, as JSON; `None`: they are none.
pub(super) fn finish(calls: &mut Calls, arguments: Option<&str>, out: &mut Out<'_>) {
    calls.arguments(arguments.unwrap_or_default(), out.sink);
    let outcome = if arguments.is_some() { Outcome::Complete } else { Outcome::Malformed };
    calls.end(outcome, out.sink);
}

/// The function and the name of the call that `value` is, wrapped or bare. An empty name is none.
pub(super) fn function(value: &Value) -> Option<(&Value, &str)> {
    let function = value.get("function").unwrap_or(value);
    let name = function.get("name")?.as_str().filter(|name| !name.is_empty())?;
    Some((function, name))
}

/// The arguments of a function as the text of a JSON object. None at all are an empty one, and
/// a string is read once.
pub(super) fn arguments(function: &Value) -> Option<String> {
    match function.get("arguments") {
        None | Some(Value::Null) => Some("{}".to_string()),
        Some(arguments @ Value::Object(_)) => Some(arguments.to_string()),
        Some(Value::String(text)) => object_in(text),
        Some(_) => None,
    }
}

/// The JSON object that `text` is.
pub(super) fn object_in(text: &str) -> Option<String> {
    let value = Value::from_json(text).ok()?;
    value.as_object().is_some().then(|| value.to_string())
}
