//! Putting fields nobody knows together: what deltas do to a message.

use serde_json::{Map, Value};

/// Names whose text is said again rather than continued.
const WHOLE: [&str; 6] = ["id", "type", "role", "index", "format", "signature_type"];

/// Adds the fields of a delta to those of a message: text and lists grow, objects merge, list
/// items with the same `index` are one item, all else is replaced.
pub(super) fn merge(into: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (name, value) in delta {
        match into.get_mut(name) {
            Some(old) => merge_value(name, old, value),
            None => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

fn merge_value(name: &str, old: &mut Value, new: &Value) {
    match (old, new) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(more)) if !WHOLE.contains(&name) => {
            text.push_str(more);
        }
        (Value::Object(old), Value::Object(new)) => merge(old, new),
        (Value::Array(old), Value::Array(new)) => new.iter().for_each(|item| add(old, item)),
        (old, new) => *old = new.clone(),
    }
}

/// Adds an item to a list, or to the item with the same `index`.
fn add(list: &mut Vec<Value>, item: &Value) {
    let index = item.get("index").and_then(Value::as_u64);
    // Deltas continue what came last: looking from the end finds it at once.
    let same = |old: &&mut Value| old.get("index").and_then(Value::as_u64) == index;
    match (index, list.iter_mut().rev().find(same), item) {
        (Some(_), Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
        _ => list.push(item.clone()),
    }
}
