//! The merging of schemas that all apply to a value.

use crate::limits::MAX_HOPS;
use serde_json::{Map, Value};

/// A schema made of several.
pub(super) struct Merged {
    pub(super) schema: Map<String, Value>,
    /// Whether keywords of one part displaced those of another.
    pub(super) is_lossy: bool,
}

/// Returns the keywords of `schema` (without `allOf`) and of all `parts` as one schema. Members are
/// collected. Of other keywords that differ, the first is kept.
pub(super) fn merged(root: &Value, schema: &Map<String, Value>, parts: &[Value]) -> Merged {
    let mut own = schema.clone();
    own.retain(|key, _| key != "allOf");
    let mut whole = Merged { schema: own, is_lossy: false };
    for part in parts {
        let mut part = part;
        for _ in 0..MAX_HOPS {
            let pointer = part.get("$ref").and_then(Value::as_str);
            match pointer.and_then(|it| root.pointer(it.strip_prefix('#')?)) {
                Some(target) => part = target,
                None => break,
            }
        }
        for (key, value) in part.as_object().into_iter().flatten() {
            whole.add(key, value);
        }
    }
    whole
}

impl Merged {
    fn add(&mut self, key: &str, value: &Value) {
        match (key, self.schema.get_mut(key), value) {
            (_, None, _) => {
                self.schema.insert(key.to_owned(), value.clone());
            }
            ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                for (name, schema) in more {
                    match known.get(name) {
                        None => drop(known.insert(name.clone(), schema.clone())),
                        Some(same) if same == schema => {}
                        Some(_) => self.is_lossy = true,
                    }
                }
            }
            ("required" | "allOf", Some(Value::Array(known)), Value::Array(more)) => {
                known.extend(more.iter().cloned());
            }
            (_, Some(known), value) if known == value => {}
            ("title" | "description" | "default" | "examples" | "$defs" | "definitions", ..) => {}
            _ => self.is_lossy = true,
        }
    }
}
