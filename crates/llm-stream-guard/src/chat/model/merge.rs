//! Merging unknown fields of deltas into a message.
//!
//! ```text
//! {"audio": {"data": "aa"}}  then  {"audio": {"data": "bb"}}   make {"audio": {"data": "aabb"}}
//! {"audio": {"id": "x"}}     then  {"audio": {"id": "x"}}      make {"audio": {"id": "x"}}
//! ```

use serde_json::{Map, Value};

use crate::chat::aggregate::room::Room;

/// Fields whose text is repeated in each delta, and not continued.
const WHOLE: [&str; 6] = ["id", "type", "role", "index", "format", "signature_type"];

/// Policy for text of a field that already has text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum Texts {
    /// Appends the text, because the fields belong to a message.
    Grow,
    /// Replaces the text, because the fields are next to a message.
    Stay,
}

/// Adds the fields of a delta to those of a message. Lists are appended, and items with the same
/// `index` are merged. Objects are merged, `texts` decides about text, and other values are
/// replaced. A value that does not fit into `room` is left out.
pub(in crate::chat) fn merge(
    into: &mut Map<String, Value>,
    delta: &Map<String, Value>,
    texts: Texts,
    room: &mut Room,
) {
    Merger { texts, room }.object(into, delta);
}

struct Merger<'r> {
    texts: Texts,
    room: &'r mut Room,
}

impl Merger<'_> {
    fn object(&mut self, into: &mut Map<String, Value>, delta: &Map<String, Value>) {
        for (name, value) in delta {
            match into.get_mut(name) {
                Some(old) => self.value(name, old, value),
                None => self.room.insert(into, name, value),
            }
        }
    }

    fn value(&mut self, name: &str, old: &mut Value, new: &Value) {
        let grows = self.texts == Texts::Grow && !WHOLE.contains(&name);
        match (old, new) {
            (_, Value::Null) => {}
            (Value::String(text), Value::String(more)) if grows => {
                self.room.append(text, more);
            }
            (Value::Object(old), Value::Object(new)) => self.object(old, new),
            (Value::Array(old), Value::Array(new)) => {
                new.iter().for_each(|item| self.item(old, item));
            }
            (old, new) => self.room.replace(old, new),
        }
    }

    /// Adds an item to a list, or to the item with the same `index`.
    fn item(&mut self, list: &mut Vec<Value>, item: &Value) {
        let index = item.get("index").and_then(Value::as_u64);
        // Deltas usually continue the last item, so that the search begins at the end.
        let same = |old: &&mut Value| old.get("index").and_then(Value::as_u64) == index;
        match (index, list.iter_mut().rev().find(same), item) {
            (Some(_), Some(Value::Object(old)), Value::Object(new)) => self.object(old, new),
            _ => self.room.push(list, item),
        }
    }
}
