//! The writer of values in the syntax of a family.

mod spelling;
mod strings;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toolcall_parsers::family::{Escapes, Spacing};

pub(super) use self::spelling::{is_identifier, json_text, python_word};
use super::{
    class::CharClass,
    integers::integer,
    ir::{Node, Rule},
    members::{Part, list, repeated, share},
    notes::Notes,
    shape::{Object, Shape},
};
use crate::limits::MAX_INDENT;

/// The number of blanks for each level of indented JSON.
const INDENT: usize = 4;
/// The syntax of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Syntax {
    Json,
    Python,
    /// Bare keys, and strings between quotes without escapes.
    Quoted,
    /// As [`Syntax::Quoted`], with all scalars between quotes. The schema decides their types.
    AllQuoted,
    /// Bare keys, and strings as in JSON.
    Script,
}

/// The way in which values are written at one place of a family.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) syntax: Syntax,
    pub(super) spacing: Spacing,
    pub(super) escapes: Escapes,
    pub(super) quote: String,
    /// Texts that no string may contain.
    pub(super) not: Arc<[String]>,
    /// Whether words are Python's (`True`) between quotes and tags.
    pub(super) python_words: bool,
}

/// The blanks before a line's text, if the place of the value is known.
pub(super) type Margin = Option<usize>;

/// A kind of container.
#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Object,
    Array,
}

/// The writer of values, with the rules that it made.
pub(super) struct Values<'n> {
    pub(super) rules: Vec<Rule>,
    pub(super) notes: &'n mut Notes,
    /// Definitions of the current tool.
    pub(super) definitions: Vec<Shape>,
    /// The number of the current tool.
    pub(super) tool: usize,
    known: BTreeMap<(Syntax, usize, usize, usize), usize>,
    any: BTreeMap<(Syntax, usize), usize>,
}

impl<'n> Values<'n> {
    pub(super) fn new(notes: &'n mut Notes) -> Self {
        let (rules, definitions) = (Vec::new(), Vec::new());
        Self { rules, notes, definitions, tool: 0, known: BTreeMap::new(), any: BTreeMap::new() }
    }

    /// Returns a value of this shape.
    pub(super) fn value(&mut self, shape: &Shape, style: &Style, margin: Margin) -> Node {
        match shape {
            Shape::Any => self.any(style),
            Shape::Object(object) => self.object(object, style, margin),
            Shape::Array(items, least, most) => {
                let inner = deeper(margin);
                let item = self.value(items, style, inner);
                let item = share(item, &mut self.rules);
                let items = repeated(item, &style.between(Bracket::Array, inner), (*least, *most));
                style.bracketed(Bracket::Array, (items, *least == 0, *most == Some(0)), margin)
            }
            Shape::OneOf(shapes) => {
                Node::choice(shapes.iter().map(|shape| self.value(shape, style, margin)))
            }
            Shape::Ref(number) => self.reference(*number, style),
            Shape::Const(value) => self.constant(value, style, margin),
            scalar => self.scalar(scalar, style),
        }
    }

    /// Returns the shape that a reference points to.
    pub(super) fn resolved(&self, shape: &Shape) -> Shape {
        let mut shape = shape.clone();
        for _ in 0..=self.definitions.len() {
            match shape {
                Shape::Ref(number) => {
                    shape = self.definitions.get(number).cloned().unwrap_or(Shape::Any);
                }
                shape => return shape,
            }
        }
        Shape::Any
    }

    fn reference(&mut self, number: usize, style: &Style) -> Node {
        let key = (style.syntax, style.not.len(), self.tool, number);
        if let Some(&rule) = self.known.get(&key) {
            return Node::Rule(rule);
        }
        let rule = self.reserve(&format!("definition-{}-{number}", self.tool));
        self.known.insert(key, rule);
        let shape = self.definitions.get(number).cloned().unwrap_or(Shape::Any);
        let node = self.value(&shape, style, None);
        self.fill(rule, node);
        Node::Rule(rule)
    }

    /// Adds a rule that is filled later.
    pub(super) fn reserve(&mut self, name: &str) -> usize {
        let number = self.rules.len();
        self.rules.push(Rule { name: format!("{name}-{number}"), node: Node::default() });
        number
    }

    /// Sets the node of a reserved rule.
    pub(super) fn fill(&mut self, rule: usize, node: Node) {
        if let Some(rule) = self.rules.get_mut(rule) {
            rule.node = node;
        }
    }

    /// Returns any JSON value: one rule that refers to itself.
    fn any(&mut self, style: &Style) -> Node {
        let key = (style.syntax, style.not.len());
        if let Some(&rule) = self.any.get(&key) {
            return Node::Rule(rule);
        }
        let rule = self.reserve("any");
        self.any.insert(key, rule);
        let array = Shape::Array(Box::new(Shape::Any), 0, None);
        let object =
            Shape::Object(Object { members: Vec::new(), rest: Some(Box::new(Shape::Any)) });
        let all = match style.syntax {
            // Text between quotes is read as JSON if it is JSON, and otherwise as a string.
            Syntax::AllQuoted => vec![Shape::String(0, None), array, object],
            _ => {
                vec![Shape::String(0, None), Shape::Number, Shape::Bool, Shape::Null, array, object]
            }
        };
        let node = Node::choice(all.iter().map(|shape| self.value(shape, style, None)));
        self.fill(rule, node);
        Node::Rule(rule)
    }

    fn object(&mut self, object: &Object, style: &Style, margin: Margin) -> Node {
        let inner = deeper(margin);
        if let Some(rest) = &object.rest {
            let value = self.value(rest, style, inner);
            let key = match style.syntax {
                Syntax::Json | Syntax::Python => self.string((0, None), style),
                _ => style.bare_key(),
            };
            let member = Node::seq([key, style.colon(), value]);
            let member = share(member, &mut self.rules);
            let members = repeated(member, &style.between(Bracket::Object, inner), (0, None));
            return style.bracketed(Bracket::Object, (members, true, false), margin);
        }
        let parts = object.members.iter().map(|member| {
            let value = self.value(&member.shape, style, inner);
            (Node::seq([style.key(&member.key), style.colon(), value]), member.is_required)
        });
        let parts = parts.collect();
        self.bracketed_parts(parts, style, margin)
    }

    /// Returns an object of members that are written already.
    pub(super) fn bracketed_parts(
        &mut self,
        parts: Vec<Part>,
        style: &Style,
        margin: Margin,
    ) -> Node {
        let may_be_empty = !parts.iter().any(|(_, is_required)| *is_required);
        let is_empty = parts.is_empty();
        let between = style.between(Bracket::Object, deeper(margin));
        let members = list(parts, &between, &mut self.rules);
        style.bracketed(Bracket::Object, (members, may_be_empty, is_empty), margin)
    }

    /// Returns the keyword arguments of a call in Python.
    pub(super) fn keywords(&mut self, object: &Object, style: &Style) -> Node {
        if let Some(rest) = &object.rest {
            let value = self.value(rest, style, None);
            let member = Node::seq([identifier(), "=".into(), value]);
            let member = share(member, &mut self.rules);
            return repeated(member, &", ".into(), (0, None));
        }
        let parts = object.members.iter().map(|member| {
            let value = self.value(&member.shape, style, None);
            (Node::seq([Node::Text(format!("{}=", member.key)), value]), member.is_required)
        });
        let parts = parts.collect();
        list(parts, &", ".into(), &mut self.rules)
    }

    fn constant(&mut self, value: &Value, style: &Style, margin: Margin) -> Node {
        match value {
            Value::Array(items) => {
                let inner = deeper(margin);
                let items: Vec<Part> =
                    items.iter().map(|it| (self.constant(it, style, inner), true)).collect();
                let is_empty = items.is_empty();
                let between = style.between(Bracket::Array, inner);
                let items = list(items, &between, &mut self.rules);
                style.bracketed(Bracket::Array, (items, is_empty, is_empty), margin)
            }
            Value::Object(members) => {
                let inner = deeper(margin);
                let parts = members.iter().map(|(key, value)| {
                    let value = self.constant(value, style, inner);
                    (Node::seq([style.key(key), style.colon(), value]), true)
                });
                let parts = parts.collect();
                self.bracketed_parts(parts, style, margin)
            }
            scalar => style.constant(scalar),
        }
    }

    fn scalar(&mut self, shape: &Shape, style: &Style) -> Node {
        let node = match shape {
            Shape::Integer(least, most) => integer(*least, *most),
            Shape::Number => number(),
            Shape::Null => style.constant(&Value::Null),
            Shape::Bool => {
                return Node::choice([true, false].map(|it| style.constant(&Value::Bool(it))));
            }
            Shape::String(least, most) => return self.string((*least, *most), style),
            _ => return Node::default(),
        };
        match (style.syntax, shape) {
            (Syntax::AllQuoted, Shape::Integer(..) | Shape::Number) => {
                let quote = Node::Text(style.quote.clone());
                Node::seq([quote.clone(), node, quote])
            }
            _ => node,
        }
    }
}

/// Returns a number as JSON spells it.
pub(super) fn number() -> Node {
    let digits = || Node::Char(CharClass::from_ranges(&[('0', '9')]));
    let some = || Node::Repeat(Box::new(digits()), 1, None);
    let first = Node::Char(CharClass::from_ranges(&[('1', '9')]));
    Node::seq([
        Node::optional("-".into()),
        Node::choice(["0".into(), first.then(Node::many(digits()))]),
        Node::optional(Node::seq([".".into(), some()])),
        Node::optional(Node::seq([Node::one_of("eE"), Node::optional(Node::one_of("+-")), some()])),
    ])
}

/// Returns a name of letters, digits and underscores that does not begin with a digit.
fn identifier() -> Node {
    let first = Node::Char(CharClass::from_ranges(&[('a', 'z'), ('A', 'Z'), ('_', '_')]));
    let rest = CharClass::from_ranges(&[('a', 'z'), ('A', 'Z'), ('_', '_'), ('0', '9')]);
    first.then(Node::many(Node::Char(rest)))
}

fn deeper(margin: Margin) -> Margin {
    margin.map(|margin| margin.saturating_add(INDENT))
}

impl Style {
    /// Returns a member of an object.
    pub(super) fn member(&self, key: &str, value: Node) -> Node {
        Node::seq([self.key(key), self.colon(), value])
    }

    fn is_indented(&self) -> bool {
        self.syntax == Syntax::Json && self.spacing == Spacing::Indented
    }

    /// Returns the beginning of a line at this margin.
    fn line(margin: Margin) -> Node {
        match margin {
            Some(margin) => Node::Text(format!("\n{}", " ".repeat(margin))),
            None => {
                Node::seq(["\n".into(), Node::Repeat(Box::new(" ".into()), 0, Some(MAX_INDENT))])
            }
        }
    }

    fn colon(&self) -> Node {
        let compact = self.syntax == Syntax::Json && self.spacing == Spacing::Compact
            || matches!(self.syntax, Syntax::Quoted | Syntax::AllQuoted);
        if compact { ":".into() } else { ": ".into() }
    }

    fn between(&self, _: Bracket, margin: Margin) -> Node {
        match (self.syntax, self.spacing) {
            (Syntax::Quoted | Syntax::AllQuoted, _) | (Syntax::Json, Spacing::Compact) => {
                ",".into()
            }
            (Syntax::Json, Spacing::Indented) => Node::seq([",".into(), Self::line(margin)]),
            _ => ", ".into(),
        }
    }

    /// Returns a container around its members or elements. An empty container has no white space.
    fn bracketed(
        &self,
        bracket: Bracket,
        (inside, may_be_empty, is_empty): (Node, bool, bool),
        margin: Margin,
    ) -> Node {
        let (open, close) = if bracket == Bracket::Object { ("{", "}") } else { ("[", "]") };
        if is_empty {
            return Node::Text(format!("{open}{close}"));
        }
        let spaced = self.syntax == Syntax::Script && bracket == Bracket::Object;
        let (before, after) = match (self.is_indented(), spaced) {
            (true, _) => (Self::line(deeper(margin)), Self::line(margin)),
            (false, true) => (" ".into(), " ".into()),
            (false, false) => {
                return Node::seq([open.into(), inside, close.into()]);
            }
        };
        // Only a container with members or elements has the white space.
        let inside = match inside {
            Node::Repeat(inside, 0, Some(1)) if may_be_empty => *inside,
            inside => inside,
        };
        let inside = Node::seq([before, inside, after]);
        let inside = if may_be_empty { Node::optional(inside) } else { inside };
        Node::seq([open.into(), inside, close.into()])
    }
}
