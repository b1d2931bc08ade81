//! Wire templates: text as a model writes it, with holes.
//!
//! ```text
//! <tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>
//! ```
//!
//! One template serves both directions: the encoder writes it unchanged, and the reader is
//! compiled from it.

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
    /// Parts of the template, in order. Two literals are never adjacent.
    pub parts: Vec<Part>,
}

impl Template {
    /// Whether it begins with one of `tokens`, blanks before it allowed.
    pub(crate) fn begins_with(&self, tokens: &MarkerTokens) -> bool {
        let first = match self.parts.first() {
            Some(Part::Group(parts)) => parts.first(),
            first => first,
        };
        matches!(first, Some(Part::Literal(text)) if tokens.leads(text.trim_start()))
    }

    /// Its holes in the order of the wire, those in groups too; what an id's own template holds
    /// is not among them.
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
    /// A hole to be filled.
    Hole(Hole),
    /// `{?...}`: parts that may be missing together; never empty, nested at most two deep.
    Group(Vec<Self>),
}

/// The content of a hole in a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hole {
    /// `{calls:SEP}`: all calls of a section, the separator between them.
    Calls {
        /// Written between two calls; empty by default.
        separator: String,
    },
    /// `{call}`: one call of a section; the encoder writes a section for each call.
    Call,
    /// `{name}`: the tool's name.
    Name,
    /// `{name:WORD}`: the name is this word, and the word is on the wire.
    NameIs(String),
    /// `{name=WORD}`: the name is this word, and the word is not on the wire.
    NameMeant(String),
    /// `{name:declared}`: the longest declared name in any text up to what follows.
    NameDeclared,
    /// `{id}`, or `{id:TEMPLATE}`: the call's id, all the text that the template matches.
    Id(Option<Box<Template>>),
    /// `{index}` or `{index:1}`: counts the message's calls from this number.
    Index(u32),
    /// `{label}`: any text; dropped.
    Label,
    /// `{object}`: a call as an object whose keys hold name and arguments.
    Object(Dialect),
    /// `{arguments}`: the arguments as an object.
    Arguments(Dialect),
    /// `{raw:KEY}`: text up to what follows, the value of the one argument `KEY`.
    Raw(String),
    /// `{parameters:SEP}`: the form's `parameter` template, repeated.
    Parameters {
        /// Written between two parameters; empty by default.
        separator: String,
    },
    /// `{elements}`: the form's `element` template, repeated and nested.
    Elements,
    /// `{key}`: a parameter's name.
    Key,
    /// `{value}`, or `{value:trim}`: a parameter's value.
    Value(Trim),
    /// `{type}`: the JSON type of a value, as a word.
    Type,
    /// `{string}`: `true` if the value is a string, else `false`.
    StringFlag,
    /// `{text}`: the reasoning's text.
    Text,
    /// `{role}` of a message header.
    Role,
    /// `{channel}` of a message header.
    Channel,
    /// `{recipient}` of a message header.
    Recipient,
    /// `{note}` of a message header: words that decide nothing.
    Note,
}

/// The text that a value loses at its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trim {
    /// One newline at an edge where the template shows one.
    #[default]
    Shown,
    /// All ASCII whitespace at both edges.
    All,
}

/// How a value inside a hole is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Dialect {
    /// Strict syntax of JSON.
    #[default]
    Json,
    /// Python literals; after `name(`, keyword arguments.
    Python,
    /// Bare keys, strings in the form's own quotes, bare scalars.
    Literal,
}
