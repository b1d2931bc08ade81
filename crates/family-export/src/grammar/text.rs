//! Values between tags: the text of a value, and the tag that ends it.

use serde_json::Value;

use super::{
    dfa::until,
    ir::Node,
    markup::contained,
    shape::{Object, Shape},
    values::{Style, Syntax, Values, json_text, python_word},
};

/// The opener of a section of character data, in which only the closer is markup.
pub(super) const CDATA: &str = "<![CDATA[";
/// The closer of a section of character data.
pub(super) const CDATA_END: &str = "]]>";

/// The kind of a value, as the wire names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    const ALL: [Self; 6] =
        [Self::String, Self::Number, Self::Boolean, Self::Null, Self::Array, Self::Object];

    /// Returns JSON's name of the kind.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Returns the kind of a shape that is neither a choice nor any value.
    fn of_shape(shape: &Shape) -> Self {
        match shape {
            Shape::Null | Shape::Const(Value::Null) => Self::Null,
            Shape::Bool | Shape::Const(Value::Bool(_)) => Self::Boolean,
            Shape::Integer(..) | Shape::Number | Shape::Const(Value::Number(_)) => Self::Number,
            Shape::Array(..) | Shape::Const(Value::Array(_)) => Self::Array,
            Shape::Object(_) | Shape::Const(Value::Object(_)) => Self::Object,
            _ => Self::String,
        }
    }
}

/// The way in which the wire states the kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// The wire does not state the kind, so that the schema decides.
    No,
    /// A word before the value states that it is a string.
    String,
    /// A word before the value states that it is not a string.
    Other,
}

/// A value between tags.
pub(super) struct Between<'b> {
    pub(super) style: &'b Style,
    pub(super) marked: Marked,
    /// The text that ends the value.
    pub(super) end: &'b str,
    /// The text before the value opens character data.
    pub(super) in_cdata: bool,
}

impl Values<'_> {
    /// Returns the alternatives of a shape, references resolved.
    pub(super) fn leaves(&self, shape: &Shape) -> Vec<Shape> {
        let mut leaves = Vec::new();
        self.add_leaves(shape, 0, &mut leaves);
        leaves
    }

    fn add_leaves(&self, shape: &Shape, depth: usize, leaves: &mut Vec<Shape>) {
        match self.resolved(shape) {
            Shape::OneOf(shapes) if depth <= self.definitions.len() => {
                shapes.iter().for_each(|shape| self.add_leaves(shape, depth + 1, leaves));
            }
            Shape::OneOf(_) => leaves.push(Shape::Any),
            shape => leaves.push(shape),
        }
    }

    /// Returns the alternatives of a shape by their kinds.
    pub(super) fn kinds(&self, shape: &Shape) -> Vec<(Kind, Vec<Shape>)> {
        let any = |kind| match kind {
            Kind::Null => Shape::Null,
            Kind::Boolean => Shape::Bool,
            Kind::Number => Shape::Number,
            Kind::String => Shape::String(0, None),
            Kind::Array => Shape::Array(Box::new(Shape::Any), 0, None),
            Kind::Object => {
                Shape::Object(Object { members: Vec::new(), rest: Some(Box::new(Shape::Any)) })
            }
        };
        let leaves = self.leaves(shape);
        if leaves.contains(&Shape::Any) {
            return Kind::ALL.into_iter().map(|kind| (kind, vec![any(kind)])).collect();
        }
        let of =
            |kind| leaves.iter().filter(|leaf| Kind::of_shape(leaf) == kind).cloned().collect();
        let kinds = Kind::ALL.into_iter().map(|kind| (kind, of(kind)));
        kinds.filter(|(_, leaves): &(Kind, Vec<Shape>)| !leaves.is_empty()).collect()
    }

    /// Returns a value with one of these shapes, and the text that ends it.
    pub(super) fn between(&mut self, leaves: &[Shape], how: &Between<'_>) -> Node {
        let free = |leaf: &Shape| matches!(leaf, Shape::Any | Shape::String(..));
        if leaves
            .iter()
            .any(|leaf| matches!(leaf, Shape::String(least, most) if (*least, *most) != (0, None)))
        {
            self.notes.family_widened("lengths of strings between tags");
        }
        if leaves.iter().any(free) {
            if leaves.iter().any(|leaf| !free(leaf)) {
                self.notes.family_widened("alternatives to a string between tags");
            }
            return match how.in_cdata {
                true => {
                    let part = until(&[], CDATA_END);
                    let again = Node::seq([CDATA.into(), part.clone()]);
                    part.then(Node::many(again))
                }
                false => until(&how.style.not, how.end),
            };
        }
        let ways: Vec<Node> =
            leaves.iter().filter_map(|leaf| self.spelled(leaf, leaves, how)).collect();
        Node::choice(ways).then(how.end.into())
    }

    /// Returns the text of a value that is not an arbitrary string, or `None` if tags cannot
    /// enclose it.
    fn spelled(&mut self, leaf: &Shape, all: &[Shape], how: &Between<'_>) -> Option<Node> {
        let style = how.style;
        match leaf {
            Shape::Const(Value::String(text)) => {
                let is_mixed = how.marked == Marked::No
                    && all.iter().any(|leaf| Kind::of_shape(leaf) != Kind::String)
                    && serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_string());
                let ends = contained(text, &style.not).is_some() || text.contains(how.end);
                if is_mixed || ends || text.trim() != text {
                    self.notes.refused(&format!("the value `{}`", text.escape_debug()));
                    return None;
                }
                Some(Node::Text(text.clone()))
            }
            Shape::Const(value @ (Value::Array(_) | Value::Object(_))) => {
                let text = json_text(value);
                if contained(&text, &style.not).is_some() {
                    self.notes.refused("a value with markup of the family");
                    return None;
                }
                Some(self.value(&Shape::Const(value.clone()), style, None))
            }
            Shape::Const(value) => Some(Node::Text(self.word(value, how))),
            Shape::Bool => Some(Node::choice(
                [true, false].map(|it| Node::Text(self.word(&Value::Bool(it), how))),
            )),
            Shape::Null => Some(Node::Text(self.word(&Value::Null, how))),
            shape => Some(self.value(shape, style, (style.syntax == Syntax::Json).then_some(0))),
        }
    }

    fn word(&self, value: &Value, how: &Between<'_>) -> String {
        match how.style.python_words {
            true => python_word(value),
            false => json_text(value),
        }
    }
}
