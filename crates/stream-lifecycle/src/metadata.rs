//! What becomes of metadata on its way into the END event.

use serde_json::{Map, Value, map::Entry};

use crate::ending::Ending;

/// How a layer of metadata goes over the one below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Merge {
    /// Objects merge at every depth; anything else is replaced.
    #[default]
    Deep,
    /// Each top-level value is replaced.
    Shallow,
}

/// Who has the last word on `status`, `ending`, `error_class` and `error_message`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StatusKeys {
    /// The wrapper: they always say how the stream ended.
    #[default]
    Protected,
    /// The caller's metadata.
    Overridable,
}

/// The caller's metadata, and how it is merged.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) own: Map<String, Value>,
    pub(crate) merge: Merge,
    pub(crate) keys: StatusKeys,
}

impl Metadata {
    /// Attributes, then the caller's own, then the ending.
    pub(crate) fn at_end(
        self,
        attributes: &Map<String, Value>,
        how: &Ending,
    ) -> Map<String, Value> {
        let mut all = attributes.clone();
        match self.keys {
            StatusKeys::Protected => {
                merge(&mut all, self.own, self.merge);
                merge(&mut all, status(how), Merge::Shallow);
            }
            StatusKeys::Overridable => {
                merge(&mut all, status(how), Merge::Shallow);
                merge(&mut all, self.own, self.merge);
            }
        }
        all
    }
}

/// The members of an object, or any other value as the member `name`.
pub(crate) fn members(name: &str, value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null => Map::new(),
        other => Map::from_iter([(name.to_owned(), other)]),
    }
}

fn status(how: &Ending) -> Map<String, Value> {
    let mut keys = Map::new();
    keys.insert("status".into(), how.status().into());
    keys.insert("ending".into(), how.name().into());
    if let Ending::Failed { error, .. } = how {
        keys.insert("error_class".into(), error.class.as_ref().into());
        if let Some(message) = &error.message {
            keys.insert("error_message".into(), message.as_str().into());
        }
    }
    keys
}

/// Puts `over` over `under`.
fn merge(under: &mut Map<String, Value>, over: Map<String, Value>, how: Merge) {
    for (key, value) in over {
        match (how, under.entry(key), value) {
            (Merge::Deep, Entry::Occupied(mut entry), Value::Object(more)) => {
                match entry.get_mut() {
                    Value::Object(inner) => merge(inner, more, how),
                    other => *other = Value::Object(more),
                }
            }
            (_, Entry::Occupied(mut entry), value) => {
                entry.insert(value);
            }
            (_, Entry::Vacant(entry), value) => {
                entry.insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Merge, merge};
    use serde_json::{Value, json};

    fn merged(under: &Value, over: &Value, how: Merge) -> Value {
        let mut all = under.as_object().unwrap().clone();
        merge(&mut all, over.as_object().unwrap().clone(), how);
        Value::Object(all)
    }

    #[test]
    fn objects_merge_at_every_depth_or_not_at_all() {
        let under = json!({"a": {"b": {"c": 1}, "d": 2}, "e": 3});
        let over = json!({"a": {"b": {"f": 4}}, "e": {"g": 5}});
        assert_eq!(
            merged(&under, &over, Merge::Deep),
            json!({"a": {"b": {"c": 1, "f": 4}, "d": 2}, "e": {"g": 5}})
        );
        assert_eq!(
            merged(&under, &over, Merge::Shallow),
            json!({"a": {"b": {"f": 4}}, "e": {"g": 5}})
        );
    }
}
