//! The metadata of the END event, merged from attributes, the caller's metadata, and the ending.

use serde_json::{Map, Value, map::Entry};

use crate::ending::Ending;

/// Merges metadata over the attributes of the call, and adds the ending.
///
/// Objects merge at every depth. The keys `status`, `ending`, `error_class` and `error_message`
/// always describe the ending.
pub(crate) fn at_end(
    attributes: &Map<String, Value>,
    own: Map<String, Value>,
    ending: &Ending,
) -> Map<String, Value> {
    let mut all = attributes.clone();
    merge(&mut all, own);
    all.insert("status".into(), ending.status().into());
    all.insert("ending".into(), ending.name().into());
    if let Ending::Failed { error, .. } = ending {
        all.insert("error_class".into(), error.class.as_ref().into());
        if let Some(message) = &error.message {
            all.insert("error_message".into(), message.as_str().into());
        }
    }
    all
}

/// Returns the members of an object, or another value as its only member `name`.
pub(crate) fn members(name: &str, value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        other => Map::from_iter([(name.to_owned(), other)]),
    }
}

/// Merges `over` into `under` at every depth.
fn merge(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.entry(key), value) {
            (Entry::Occupied(mut entry), Value::Object(more)) => match entry.get_mut() {
                Value::Object(inner) => merge(inner, more),
                other => *other = Value::Object(more),
            },
            (Entry::Occupied(mut entry), value) => {
                entry.insert(value);
            }
            (Entry::Vacant(entry), value) => {
                entry.insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::json;

    #[test]
    fn objects_merge_at_every_depth() {
        let mut all = json!({"a": {"b": {"c": 1}, "d": 2}, "e": 3});
        let over = json!({"a": {"b": {"f": 4}}, "e": {"g": 5}});
        merge(all.as_object_mut().unwrap(), over.as_object().unwrap().clone());
        assert_eq!(all, json!({"a": {"b": {"c": 1, "f": 4}, "d": 2}, "e": {"g": 5}}));
    }
}
