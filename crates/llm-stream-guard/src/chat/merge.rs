//! Putting fields nobody knows together: what deltas do to a message.

use serde_json::{Map, Value};

use super::room::Room;

/// Names whose text is said again rather than continued.
const WHOLE: [&str; 6] = ["id", "type", "role", "index", "format", "signature_type"];

/// Policy for text under a name that has text already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// Appends it: the fields belong to a message.
    Grow,
    /// Keeps the first: the fields are next to a message.
    Stay,
}

/// Adds the fields of a delta to those of a message: lists grow, text may, objects merge, list
/// items with the same `index` are one item, all else is replaced. Nothing is added without room.
pub(super) fn merge(
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
        // Deltas continue what came last: looking from the end finds it at once.
        let same = |old: &&mut Value| old.get("index").and_then(Value::as_u64) == index;
        match (index, list.iter_mut().rev().find(same), item) {
            (Some(_), Some(Value::Object(old)), Value::Object(new)) => self.object(old, new),
            _ => self.room.push(list, item),
        }
    }
}
