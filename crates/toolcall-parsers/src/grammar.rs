//! The grammar of a family: a value, not code.
//!
//! Everything here is plain data, built by a function or loaded at run time
//! ([`Grammar::from_json`]). The engines interpret it; none of them knows a family's name.

mod check;
mod read;

use alloc::{borrow::Cow, format, vec::Vec};

use serde::{Deserialize, Serialize};

pub use crate::encode::{Arrangement, Closer, Layout, Naming, Spacing};
pub use crate::engine::{
    brace::{BraceShape, BraceTypes},
    envelope::{
        CallBody, Envelope, FieldMark, HeaderField, HeaderStart, MessageMark, Recipient, Route,
        Target,
    },
    frame::Closing,
    json::{Container, Item, JsonShape, Keys},
    named::{Field, FieldKind, NamedShape, Next, Raw, Section, Stop},
    python::{PythonCall, PythonContainer, PythonShape, Quotes as PythonQuotes},
    tagged::{
        Attributes, Duplicates, Head, HeadEnd, Implicit, OtherCalls, Quotes, Quoting, TaggedShape,
        Then, Trim, TypeTags, Undeclared,
    },
    tree::TreeShape,
};

pub use self::read::GrammarError;

/// Literal text of a grammar.
pub type Text = Cow<'static, str>;
/// A list of a grammar.
pub type List<T> = Vec<T>;

/// A family's tool-call grammar. The default has no name and recognises nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grammar {
    /// The family's name: lower case, `_` between words.
    pub name: Text,
    /// Models that write it, and where it was learned.
    #[serde(default)]
    pub about: Text,
    /// What begins a call, or a section of calls.
    #[serde(default)]
    pub openers: List<Opener>,
    /// The messages everything stands in, if the family has such.
    #[serde(default)]
    pub envelope: Option<Envelope>,
    /// Markup around calls and answers that is removed: end-of-turn tokens, envelopes.
    #[serde(default)]
    pub erase: List<Erase>,
    /// Closers that are removed when they stand directly after a call though none is open.
    #[serde(default)]
    pub orphans: List<Text>,
    /// Whether the markers are special tokens, which servers strip by default.
    #[serde(default)]
    pub special_tokens: bool,
    /// How calls are written, best first; absent, as the openers and shapes allow.
    #[serde(default)]
    pub layouts: List<Layout>,
}

impl Grammar {
    /// The grammar with `suffix` written into the tags of its tagged calls, before their closing
    /// bracket: some checkpoints have their own (`<tool_call:opensource>`).
    #[must_use]
    pub fn with_token_suffix(mut self, suffix: &str) -> Self {
        let suffixed = |tag: &mut Text| {
            if tag.starts_with('<')
                && let Some(head) = tag.strip_suffix('>')
            {
                *tag = format!("{head}{suffix}>").into();
            }
        };
        self.orphans.iter_mut().for_each(suffixed);
        for opener in &mut self.openers {
            suffixed(&mut opener.marker);
            for shape in &mut opener.shapes {
                if let Shape::Tagged(shape) = shape {
                    shape.each_tag(suffixed);
                }
            }
        }
        self
    }
}

/// What begins a call or a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opener {
    /// The literal text.
    pub marker: Text,
    /// Where it may stand.
    #[serde(default)]
    pub at: At,
    /// Whether the marker alone says "call".
    #[serde(default)]
    pub certainty: Certainty,
    /// Whether the marker is the first part of what the shapes describe.
    #[serde(default)]
    pub role: Role,
    /// Newlines before it that go with it, whatever whitespace policy (`255`: all).
    #[serde(default)]
    pub newlines_before: u8,
    /// How to read what follows; tried in order until one does not refuse.
    pub shapes: List<Shape>,
}

/// Where an opener may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Anywhere.
    #[default]
    Anywhere,
    /// Only before anything visible.
    Lead,
    /// Only before anything else, visible or not.
    Start,
    /// Only at the start of a line.
    LineStart,
    /// Only directly after a call, whitespace between allowed.
    AfterCall,
}

/// Whether a marker alone says "call".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Explicit markup: a call commits when its name is complete, and an opener cut by the end
    /// of the stream is markup.
    #[default]
    Marked,
    /// Ordinary text that may be a call: it commits only for declared names (if any are
    /// declared) and once the arguments opened, and is text again if cut.
    Unmarked,
}

/// Whether a marker is the first part of what the shapes describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It stands before it.
    #[default]
    Before,
    /// It is its beginning, as `{` is of a bare object.
    Part,
    /// There is none (it is empty): the first letter of a name begins what the shapes describe.
    /// At most one opener of a grammar, and only at the lead or at the start of lines.
    Name,
}

/// A way to write calls behind an opener.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// JSON values that hold name and arguments.
    Json(JsonShape),
    /// A header with the name, then the arguments as JSON.
    Named(NamedShape),
    /// Calls in Python syntax.
    Python(PythonShape),
    /// A header with the name, then tagged parameters.
    Tagged(TaggedShape),
    /// A name, then an object with bare keys and quoted strings.
    Brace(BraceShape),
    /// Elements in elements, every tag behind a name space token.
    Tree(TreeShape),
}

impl Shape {
    /// Replaces the end markers, where the shape has any of its own.
    pub fn set_closers(&mut self, closers: &[Text]) {
        match self {
            Self::Json(shape) => shape.closers = closers.to_vec(),
            Self::Python(shape) => shape.closers = closers.to_vec(),
            Self::Brace(shape) => shape.closers = closers.to_vec(),
            Self::Named(_) | Self::Tagged(_) | Self::Tree(_) => {}
        }
    }
}

/// Markup that is removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erase {
    /// The literal text.
    pub marker: Text,
    /// Where it may stand.
    #[serde(default)]
    pub at: At,
    /// Newlines before and after that go with it, whatever the whitespace policy.
    #[serde(default)]
    pub newlines: (u8, u8),
    /// Whether it is removed once a message only.
    #[serde(default)]
    pub once: bool,
}
