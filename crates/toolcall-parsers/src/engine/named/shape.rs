//! The data of named calls.

use serde::{Deserialize, Serialize};

use crate::{
    engine::frame::Closing,
    grammar::{List, Text},
};

/// Calls with a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedShape {
    /// The section calls stand in, if the family has one.
    #[serde(default)]
    pub section: Option<Section>,
    /// What begins a call.
    pub open: Text,
    /// The name of every call, where no field of the header holds it.
    #[serde(default)]
    pub name: Option<Text>,
    /// The header's fields, in order.
    pub header: List<Field>,
    /// How to read arguments that do not begin with `{`; without it they are malformed.
    #[serde(default)]
    pub raw: Option<Raw>,
    /// What ends a call: literals in order, whitespace allowed before each; all of them may be
    /// missing.
    #[serde(default)]
    pub close: List<Text>,
}

/// Arguments that are plain text: the value of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The key.
    pub key: Text,
    /// What ends the text, any of these; a newline before it goes with it. It is not consumed.
    #[serde(default)]
    pub ends: List<Text>,
    /// Whether the end of the stream ends the text, too.
    #[serde(default)]
    pub closing: Closing,
}

/// Markers around a section of calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Any of these opens it.
    pub open: List<Text>,
    /// Any of these closes it.
    pub close: List<Text>,
}

/// A field of a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// What it holds.
    pub kind: FieldKind,
    /// What ends it, and what comes then.
    pub stops: List<Stop>,
}

/// What a header field holds. All are trimmed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// The tool's name.
    Name,
    /// The call's id.
    Id,
    /// Anything; it is ignored.
    Label,
    /// An id that contains the name: a prefix to cut off, then the name, then the separator and
    /// a number.
    IdWithName {
        /// The prefix; may be absent on the wire.
        prefix: Text,
        /// Stands between name and number; both may be absent.
        separator: Text,
    },
    /// Exactly this word.
    Word(Text),
    /// Any text around the name of a declared tool: the longest at the first place where one
    /// stands as a word. Without declared tools, the name alone.
    Declared,
}

/// What ends a header field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The literal text.
    pub text: Text,
    /// What comes then.
    pub next: Next,
}

/// What comes after a header field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The header field with this number, from 0.
    Field(u8),
    /// The arguments.
    Arguments,
    /// The arguments, of which the stop is the beginning.
    ArgumentsHere,
}
