//! Wire templates: text of a model, with holes.
//!
//! ```text
//! <tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>
//! ```
//!
//! The encoder fills the holes. The call machine is compiled from the same templates.
//!
//! ```
//! use toolcall_parsers::template::{Hole, Part, Template};
//!
//! let template = Template::parse("<call>{name}</call>").unwrap();
//! assert_eq!(template.parts[0], Part::Literal("<call>".into()));
//! assert!(matches!(template.holes().next(), Some(Hole::Name)));
//! ```
//!
//! A [`Dialect`] names the notation of a value in a [`Hole`], and [`Trim`] names what it loses at its
//! edges. A text that is not a template is a [`TemplateError`].

mod display;
mod parse;
#[cfg(test)]
mod tests;
mod touch;

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::MarkerTokens;

pub use self::parse::TemplateError;

/// A parsed wire template: literals, holes and optional groups, in the order of the wire.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// The parts of the template, in order. Two literals are never adjacent.
    pub parts: Vec<Part>,
}

impl Template {
    /// Returns whether a template of a call has the name before the arguments and again after them.
    pub(crate) fn repeats_name(&self) -> bool {
        let is = |part: &Part, hole: &Hole| matches!(part, Part::Hole(found) if found == hole);
        let holds = |part: &Part| matches!(part, Part::Hole(hole) if hole.holds_arguments());
        let mut parts = self.parts.iter();
        parts.any(|part| is(part, &Hole::Name))
            && parts.any(holds)
            && parts.any(|part| is(part, &Hole::Name))
    }

    /// Returns whether a template of a parameter has the key before the value and again after it.
    pub(crate) fn repeats_key(&self) -> bool {
        let is_key = |part: &Part| matches!(part, Part::Hole(Hole::Key));
        let mut parts = self.parts.iter();
        parts.any(is_key)
            && parts.any(|part| matches!(part, Part::Hole(Hole::Value(_))))
            && parts.any(is_key)
    }

    /// Returns the template with `word` for each hole `hole`, and with `meant` after the first text:
    /// a hole that tells the word.
    pub(crate) fn naming(&self, hole: &Hole, word: &str, meant: Hole) -> Self {
        let mut named = self.with_word(hole, word);
        if let Some(at) = named.parts.iter().position(|part| !matches!(part, Part::Literal(_))) {
            named.parts.insert(at, Part::Hole(meant));
        }
        named
    }

    /// Returns the template with `word` as text in place of each hole `hole`.
    #[must_use]
    pub fn with_word(&self, hole: &Hole, word: &str) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for part in &self.parts {
            let text = match part {
                Part::Hole(found) if found == hole => word,
                Part::Literal(text) => text,
                other => {
                    parts.push(other.clone());
                    continue;
                }
            };
            match parts.last_mut() {
                Some(Part::Literal(last)) => last.push_str(text),
                _ => parts.push(Part::Literal(text.into())),
            }
        }
        Self { parts }
    }

    /// Returns whether the template begins with one of `tokens`, after optional blanks.
    pub(crate) fn begins_with(&self, tokens: &MarkerTokens) -> bool {
        let first = match self.parts.first() {
            Some(Part::Group(parts)) => parts.first(),
            first => first,
        };
        matches!(first, Some(Part::Literal(text)) if tokens.leads(text.trim_start()))
    }

    /// Returns the holes in order, including those in groups. The holes of an id's own template are
    /// not included.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        let mut open = Vec::from([self.parts.iter()]);
        core::iter::from_fn(move || {
            while let Some(parts) = open.last_mut() {
                match parts.next() {
                    Some(Part::Hole(hole)) => return Some(hole),
                    Some(Part::Group(inner)) => open.push(inner.iter()),
                    Some(Part::Literal(_)) => {}
                    None => drop(open.pop()),
                }
            }
            None
        })
    }
}

/// A part of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Literal text of the wire, never empty.
    Literal(String),
    /// A hole, which is filled with a part of a call.
    Hole(Hole),
    /// `{?...}`: parts that may be absent together. Never empty. Groups are nested at most two
    /// deep.
    Group(Vec<Self>),
}

/// The content of a hole in a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hole {
    /// `{calls:SEP}`: all calls of a section, with a separator between them.
    Calls {
        /// The text between two calls. Empty by default.
        separator: String,
    },
    /// `{call}`: one call of a section. The encoder writes a section for each call.
    Call,
    /// `{name}`: the tool's name.
    Name,
    /// `{name:WORD}`: a fixed name that is on the wire.
    NameIs(String),
    /// `{name=WORD}`: a fixed name that is not on the wire.
    NameMeant(String),
    /// `{name:declared}`: text that contains a declared name.
    NameDeclared,
    /// `{id}` or `{id:TEMPLATE}`: the call's id, which is all the text that the template matches.
    Id(Option<Box<Template>>),
    /// `{index}` or `{index:1}`: the call's number, counted from this one.
    Index(u32),
    /// `{label}`: any text, which is ignored.
    Label,
    /// `{object}`: an object with the name and the arguments.
    Object(Dialect),
    /// `{arguments}`: an object with the arguments.
    Arguments(Dialect),
    /// `{raw:KEY}`: text that is the value of the single argument `KEY`.
    Raw(String),
    /// `{parameters:SEP}`: the form's `parameter` template, repeated.
    Parameters {
        /// The text between two parameters. Empty by default.
        separator: String,
    },
    /// `{elements}`: the form's `element` template, repeated and nested.
    Elements,
    /// `{key}`: a parameter's name.
    Key,
    /// `{key=WORD}`: the parameter's name is this word, which is not on the wire as a hole.
    KeyMeant(String),
    /// `{value}`, or `{value:trim}`: a parameter's value.
    Value(Trim),
    /// `{type}`: the name of the value's JSON type.
    Type,
    /// `{string}`: `true` if the value is a string, otherwise `false`.
    StringFlag,
    /// `{text}`: the text of the reasoning.
    Text,
    /// `{role}`: the role in a message header.
    Role,
    /// `{channel}`: the channel in a message header.
    Channel,
    /// `{recipient}`: the recipient in a message header.
    Recipient,
    /// `{note}`: words in a message header without a meaning for its route.
    Note,
}

impl Hole {
    /// Returns whether the hole contains the arguments of a call.
    pub(crate) fn holds_arguments(&self) -> bool {
        use Hole::{Arguments, Elements, Object, Parameters, Raw};
        matches!(self, Object(_) | Arguments(_) | Raw(_) | Parameters { .. } | Elements)
    }
}

/// The white space that is removed at a value's start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trim {
    /// One newline at an edge where the template has one.
    #[default]
    Shown,
    /// All ASCII white space at both edges.
    All,
}

/// The syntax of a value inside a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Dialect {
    /// The syntax of strict JSON.
    #[default]
    Json,
    /// Python literals. After `name(`, keyword arguments.
    Python,
    /// Objects with bare keys, strings in the family's own quotes, and bare scalars.
    Literal,
}
