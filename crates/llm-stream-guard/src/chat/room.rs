//! How much an aggregate may keep, and the weight of each thing it keeps.

use serde_json::{Map, Value};

use super::{
    chunk::{Content, FunctionDelta, ToolCallDelta},
    completion::CompletionChoice,
    field::Field,
};

/// Bytes an aggregate may still keep.
///
/// A weight is the heap that a thing takes in the aggregate and in the JSON made of it, lists and
/// text counted without spare capacity.
#[derive(Debug, Clone, Default)]
pub(super) struct Room {
    /// Bytes left, or `None` without a limit.
    left: Option<usize>,
    exceeded: bool,
}

/// A place in a map that keeps its order, with its hash and its share of the index.
const PLACE: usize = size_of::<String>() + size_of::<Value>() + 3 * size_of::<usize>();
/// The places of a map that was empty.
const NODE: usize = 4 * PLACE;
/// The places that a member takes at most, half of them being empty.
const MEMBER: usize = 2 * PLACE;
/// The spare places of a list that was empty.
const LIST: usize = 4 * size_of::<Value>();
/// A choice, as two objects.
pub(super) const CHOICE: usize = size_of::<CompletionChoice>() + 2 * NODE + FINISH;
/// A finish reason of this length is part of its choice.
pub(super) const FINISH: usize = 64;
/// A call, as two objects.
const CALL: usize = size_of::<ToolCallDelta>() + 2 * NODE;
/// Text as a part of content.
pub(super) const TEXT_PART: usize = LIST + NODE + 2 * MEMBER;

impl Room {
    pub(super) const fn new(limit: usize) -> Self {
        Self { left: Some(limit), exceeded: false }
    }

    /// Whether something did not fit.
    pub(super) const fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    /// Takes `bytes` more, all or none. After the first refusal nothing fits.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        self.swap(0, bytes)
    }

    /// Takes `new` bytes in place of `old`, or leaves the old ones there.
    pub(super) fn swap(&mut self, old: usize, new: usize) -> bool {
        if let Some(left) = self.left {
            match left.saturating_add(old).checked_sub(new).filter(|_| !self.exceeded) {
                Some(left) => self.left = Some(left),
                None => self.exceeded = true,
            }
        }
        !self.exceeded
    }

    /// Puts `new` in the place of `old`, if there is room.
    pub(super) fn replace(&mut self, old: &mut Value, new: &Value) {
        if old != new && (self.left.is_none() || self.swap(weight(old), weight(new))) {
            old.clone_from(new);
        }
    }

    /// Adds a member to an object that does not have it.
    pub(super) fn insert(&mut self, into: &mut Map<String, Value>, name: &str, value: &Value) {
        let node = if into.is_empty() { NODE } else { 0 };
        if self.left.is_none() || self.take(node.saturating_add(member(name, value))) {
            into.insert(name.to_owned(), value.clone());
        }
    }

    /// Adds an item to a list.
    pub(super) fn push(&mut self, list: &mut Vec<Value>, item: &Value) {
        let first = if list.is_empty() { LIST } else { 0 };
        if self.left.is_none() || self.take(first.saturating_add(weight(item))) {
            list.push(item.clone());
        }
    }

    /// Appends text within the limit.
    pub(super) fn append(&mut self, text: &mut String, more: &str) {
        if self.take(more.len()) {
            text.push_str(more);
        }
    }
}

/// The weight of a value in its place.
pub(super) fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        // A number may be kept as it was written.
        Value::Number(number) => number.to_string().len(),
        Value::Array(list) if !list.is_empty() => {
            list.iter().map(weight).fold(LIST, usize::saturating_add)
        }
        Value::Object(members) => object(members),
        _ => 0,
    };
    inside.saturating_add(size_of::<Value>())
}

/// The weight of an object's members.
pub(super) fn object(members: &Map<String, Value>) -> usize {
    let node = if members.is_empty() { 0 } else { NODE };
    members.iter().map(|(name, value)| member(name, value)).fold(node, usize::saturating_add)
}

fn member(name: &str, value: &Value) -> usize {
    MEMBER.saturating_add(name.len()).saturating_add(weight(value))
}

/// The weight of content.
pub(super) fn content(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().map(weight).fold(LIST, usize::saturating_add),
    }
}

/// The weight of a call.
pub(super) fn call(call: &ToolCallDelta) -> usize {
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

/// The weight of a field, in its place.
pub(super) fn field(field: &Field<Value>) -> usize {
    field.value().map_or(0, weight)
}
