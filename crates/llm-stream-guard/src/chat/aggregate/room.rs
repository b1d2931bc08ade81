//! The memory limit of an aggregate, and the weights of values.

use serde_json::{Map, Value};

use crate::chat::model::{
    chunk::{Content, FunctionDelta, ToolCallDelta},
    completion::CompletionChoice,
    field::Field,
};

/// Bytes an aggregate may still keep.
///
/// A weight is the heap memory that a value takes in the aggregate and in the JSON made of it. The
/// spare capacity of lists and text is not counted.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct Room {
    /// Bytes left, or `None` without a limit.
    left: Option<usize>,
    exceeded: bool,
}

/// The bytes of an entry of an ordered map, with its hash and its share of the index.
const PLACE: usize = size_of::<String>() + size_of::<Value>() + 3 * size_of::<usize>();
/// The bytes that an empty map allocates for its first member.
const NODE: usize = 4 * PLACE;
/// Maximum bytes that a member takes, because half of a map's places may be empty.
const MEMBER: usize = 2 * PLACE;
/// The bytes that an empty list allocates for its first item.
const LIST: usize = 4 * size_of::<Value>();
/// The weight of a choice, which takes two objects.
pub(in crate::chat) const CHOICE: usize = size_of::<CompletionChoice>() + 2 * NODE + FINISH;
/// Length of a finish reason that is included in the weight of its choice.
pub(in crate::chat) const FINISH: usize = 64;
/// The weight of a call, which takes two objects.
const CALL: usize = size_of::<ToolCallDelta>() + 2 * NODE;
/// The weight of a text part of content, without its text.
pub(in crate::chat) const TEXT_PART: usize = LIST + NODE + 2 * MEMBER;

impl Room {
    pub(in crate::chat) const fn new(limit: usize) -> Self {
        Self { left: Some(limit), exceeded: false }
    }

    /// Whether something did not fit.
    pub(in crate::chat) const fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    /// Reserves `bytes`, all or none. After the first failure, every further request fails.
    pub(in crate::chat) fn take(&mut self, bytes: usize) -> bool {
        self.swap(0, bytes)
    }

    /// Reserves `new` bytes in place of `old`, or keeps the old reservation if they do not fit.
    pub(in crate::chat) fn swap(&mut self, old: usize, new: usize) -> bool {
        if let Some(left) = self.left {
            match left.saturating_add(old).checked_sub(new).filter(|_| !self.exceeded) {
                Some(left) => self.left = Some(left),
                None => self.exceeded = true,
            }
        }
        !self.exceeded
    }

    /// Replaces `old` by `new`, if there is room.
    pub(in crate::chat) fn replace(&mut self, old: &mut Value, new: &Value) {
        if old != new && (self.left.is_none() || self.swap(weight(old), weight(new))) {
            old.clone_from(new);
        }
    }

    /// Adds a member to an object that does not have it.
    pub(in crate::chat) fn insert(
        &mut self,
        into: &mut Map<String, Value>,
        name: &str,
        value: &Value,
    ) {
        let node = if into.is_empty() { NODE } else { 0 };
        if self.left.is_none() || self.take(node.saturating_add(member(name, value))) {
            into.insert(name.to_owned(), value.clone());
        }
    }

    /// Adds an item to a list.
    pub(in crate::chat) fn push(&mut self, list: &mut Vec<Value>, item: &Value) {
        let first = if list.is_empty() { LIST } else { 0 };
        if self.left.is_none() || self.take(first.saturating_add(weight(item))) {
            list.push(item.clone());
        }
    }

    /// Appends text within the limit.
    pub(in crate::chat) fn append(&mut self, text: &mut String, more: &str) {
        if self.take(more.len()) {
            text.push_str(more);
        }
    }
}

/// Returns the weight of a value, including its place in a list or map.
pub(in crate::chat) fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        // A number may be kept in its original spelling.
        Value::Number(number) => number.to_string().len(),
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(weight).fold(LIST, usize::saturating_add)
        }
        Value::Object(members) => object(members),
        _ => 0,
    };
    inside.saturating_add(size_of::<Value>())
}

/// Returns the weight of an object's members.
pub(in crate::chat) fn object(members: &Map<String, Value>) -> usize {
    let node = if members.is_empty() { 0 } else { NODE };
    members.iter().map(|(name, value)| member(name, value)).fold(node, usize::saturating_add)
}

fn member(name: &str, value: &Value) -> usize {
    MEMBER.saturating_add(name.len()).saturating_add(weight(value))
}

/// Returns the weight of content.
pub(in crate::chat) fn content(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().map(weight).fold(LIST, usize::saturating_add),
    }
}

/// Returns the weight of a call.
pub(in crate::chat) fn call(call: &ToolCallDelta) -> usize {
    let texts = [&call.id, &call.kind].map(text);
    let function = call.function.as_ref().map_or(0, |function| {
        let FunctionDelta { name, arguments, extra } = function;
        text(name).saturating_add(text(arguments)).saturating_add(object(extra))
    });
    let all = texts.into_iter().chain([function, object(&call.extra)]);
    all.fold(CALL, usize::saturating_add)
}

fn text(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

/// Returns the weight of a field's value, including its place.
pub(in crate::chat) fn field(field: &Field<Value>) -> usize {
    field.value().map_or(0, weight)
}
