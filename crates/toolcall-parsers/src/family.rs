//! A model family: a description of how it writes tool calls.
//!
//! Everything here is plain data, read from a file in the family language
//! (`docs/family-language.md`). The call machine and the encoder interpret it. Neither depends on a
//! family's name.
//!
//! A file becomes a [`Family`], which a [`Grammar`](crate::Grammar) compiles:
//!
//! ```
//! # #[cfg(feature = "toml")] {
//! use toolcall_parsers::{End, Grammar, Parser, family::Family, parse};
//!
//! let file = r#"
//!     about = "an example"
//!     source = "this page"
//!     [calls]
//!     call = '<call>{name}<args>{arguments}</call>'
//! "#;
//! let parser = Parser::new(Grammar::new(Family::from_toml("example", file)?)?)?;
//! let message = parse(&parser, "<call>ping<args>{\"n\": 1}</call>", End::Stop)?;
//! assert_eq!(message.calls[0].arguments, "{\"n\": 1}");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Types by task
//!
//! | part of a family | types |
//! |---|---|
//! | the file and its lines, for error messages | [`Family`], `FamilyFile` (feature `toml`), [`FamilyError`], [`ModelId`] |
//! | calls, and the keys of call objects | [`Form`]: [`CommitOn`], [`At`], [`Suffix`], [`WhitespaceRule`], [`NewlineRule`], [`Keys`], [`NamedKeys`], [`KeyRole`], [`KeyOrder`] |
//! | types of tagged values | [`Types`], [`Undeclared`] |
//! | reasoning, and messages with headers | [`InReasoning`], [`Messages`]: [`Route`]s to [`RouteTo`] |
//! | markup to remove | [`Erase`] |
//! | what only the encoder needs | [`Write`]: [`Escapes`], [`WrittenIds`], [`Spacing`], [`Words`] |
//! | what only prompts need | [`ToolPrompt`], [`DeclareAs`] |
//! | other sequences in place of the family's markers | [`Sequences`], [`OwnMarkers`] |

mod check;
mod edit;
mod error;
mod fields;
#[cfg(feature = "toml")]
mod file;
mod form;
mod like;
mod marks;
mod messages;
mod models;
mod prompt;
mod read;
mod tag;
#[cfg(all(test, feature = "toml"))]
mod tests;
mod write;

use alloc::{string::String, vec::Vec};

#[cfg(feature = "toml")]
pub use self::file::FamilyFile;
pub use self::{
    edit::{OwnMarkers, Sequences},
    error::FamilyError,
    like::{merge, reasoning, resolve, with_variant},
    marks::ReasoningMarks,
    models::{ModelId, ModelPattern},
    prompt::{DeclareAs, ToolPrompt},
    write::{Escapes, KeyOrder, Spacing, Words, Write, WrittenIds},
};

use crate::template::Template;

/// The syntax of a model family's tool calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Family {
    /// The family's name, in lower case with `_` between words.
    pub name: String,
    /// The models that use it, in words.
    pub about: String,
    /// Where the syntax is documented.
    pub source: String,
    /// The forms of calls. All are read. [`Write::form`] is the one the encoder tries first.
    pub forms: Vec<Form>,
    /// Forms of other families that the models write in long conversations, or whose tokens the
    /// server stripped. They are read for declared tools only, and never written.
    pub foreign: Vec<Form>,
    /// The messages around all text, if the family writes message headers.
    pub messages: Option<Messages>,
    /// Tokens that end a turn. They are removed from content, and reading continues there after a
    /// fault.
    pub end_of_turn: Vec<String>,
    /// Other markup that is removed from content.
    pub erase: Vec<Erase>,
    /// Whether the markers are special tokens, which servers strip by default.
    pub special_tokens: bool,
    /// Whether tags may have a suffix that depends on the checkpoint (`<tool_call:x>`).
    pub suffix: Suffix,
    /// The options of the encoder.
    pub write: Write,
    /// How prompts declare tools and show results.
    pub prompt: ToolPrompt,
}

/// A form of calls: templates with common options.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Templates around calls. The default is `{call}` alone.
    pub sections: Vec<Template>,
    /// Templates of one call.
    pub calls: Vec<Template>,
    /// Templates of one parameter in `{parameters}`.
    pub parameters: Vec<Template>,
    /// Templates of one element in `{elements}`.
    pub elements: Vec<Template>,
    /// Texts between blocks. All are read, and the first one is written.
    pub between: Vec<String>,
    /// The evidence that makes a call certain. `None` means its marker, or a declared name if it
    /// has no marker.
    pub commit_on: Option<CommitOn>,
    /// The position of calls without a marker. In a form without markers, the position of all
    /// calls.
    pub at: At,
    /// The evidence that makes a call outside its section certain. `None` means that it is text
    /// there.
    pub call_alone: Option<CommitOn>,
    /// Texts in literals, with their other spellings.
    pub spellings: Vec<(String, Vec<String>)>,
    /// The keys of `{object}`.
    pub keys: Keys,
    /// The source of a value's type.
    pub types: Types,
    /// The type of a value without a declared type. `None` means text for [`Types::Schema`], and
    /// [`Undeclared::Json`] for [`Types::Wire`].
    pub undeclared: Option<Undeclared>,
    /// The family's own quotes in the literal dialect. Empty means `"`, `'` and backtick.
    pub quote: Vec<String>,
    /// Whether white space in literals and around header holes must be as in the template.
    pub whitespace: WhitespaceRule,
    /// Whether newlines around blocks are markup.
    pub newlines: NewlineRule,
    /// The effect of an opener inside reasoning.
    pub in_reasoning: InReasoning,
    /// Names that mean that no tool is called.
    pub no_call: Vec<String>,
}

/// The effect of a tool opener inside reasoning.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum InReasoning {
    /// The opener is text of the reasoning.
    #[default]
    Literal,
    /// The call is emitted, and reasoning continues after it.
    Suspend,
    /// The call is emitted, and ends the reasoning.
    End,
}

/// The evidence that makes a call certain, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum CommitOn {
    /// A complete name after the marker.
    #[default]
    Marker,
    /// A declared name and the start of the arguments. Without declared tools, every name counts.
    DeclaredName,
    /// The same for the syntax of another family (`foreign`). Without declared tools, nothing is a
    /// call. A call is at most [`Repaired`](crate::Outcome::Repaired).
    Foreign,
}

impl CommitOn {
    /// Returns whether a call needs a declared name.
    pub(crate) fn is_by_name(self) -> bool {
        self != Self::Marker
    }
}

/// The positions in a message at which a text may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum At {
    /// Anywhere in the message.
    #[default]
    Anywhere,
    /// Only before all visible text.
    Lead,
    /// Only at the start of a line.
    Line,
    /// Only directly after a call and optional white space.
    AfterCall,
}

/// Whether tags may have a suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Suffix {
    /// Tags have no suffix.
    #[default]
    None,
    /// Tags may have a suffix. It is learnt from the stream.
    Learnt,
}

/// The meaning of the keys of a call object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Each part of a call has its own keys. Other keys are ignored.
    Named(NamedKeys),
    /// The key is the tool's name, and its value the arguments.
    NameIsKey,
}

/// The keys of a call object. All of a list are read, and the first one is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedKeys {
    /// Keys of the tool's name.
    pub name: Vec<String>,
    /// Keys of the arguments. If an object has several, the first one counts.
    pub arguments: Vec<String>,
    /// Keys of the call's id.
    pub id: Vec<String>,
    /// Keys of an inner object that contains the call's keys.
    pub wrapper: Vec<String>,
    /// Keys of a list of calls in the outermost object.
    pub list: Vec<String>,
    /// Keys of an answer in place of a call.
    pub answer: Vec<String>,
    /// The order in which the encoder writes the keys.
    pub order: [KeyRole; 3],
}

/// The role of a key in a call object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyRole {
    /// The name of the tool.
    Name,
    /// The arguments of the call.
    Arguments,
    /// The id of the tool call.
    Id,
}

/// The source of a value's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Types {
    /// The tool's schema decides. If it does not declare the parameter, the wire does.
    #[default]
    Schema,
    /// The wire decides the type.
    Wire,
}

/// The type of a value without a declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Undeclared {
    /// The value is plain text.
    Text,
    /// The value is JSON if its text is JSON, and text otherwise.
    Json,
}

/// Whether white space must be as in the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WhitespaceRule {
    /// White space may be present or missing between tags.
    #[default]
    Free,
    /// White space must be as in the template.
    Exact,
}

/// Whether newlines around blocks are markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum NewlineRule {
    /// Newlines around blocks are text.
    #[default]
    Text,
    /// Newlines around blocks are removed with them.
    All,
}

/// Markup that is removed from content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erase {
    /// The literal text, never empty.
    pub text: String,
    /// The position of the text.
    pub at: At,
    /// Whether the text is removed only once per message.
    pub once: bool,
    /// The maximum number of newlines before and after the text that are removed with it.
    pub newlines: (u8, u8),
}

/// Returns whether `tag` is a special token: `<|x|>`, also with full-width bars.
pub(crate) fn is_token(tag: &str) -> bool {
    let inside = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
    let bar = ['|', '｜'];
    inside.starts_with(bar) && inside.ends_with(bar)
}

/// Returns whether `tag` has a shape that only special tokens have: `<|x|>`, `[UPPER]` or `]<]x[>[`.
pub(crate) fn has_token_shape(tag: &str) -> bool {
    let between = |open, close| tag.strip_prefix(open).and_then(|tag| tag.strip_suffix(close));
    let letter = |byte| matches!(byte, b'A'..=b'Z' | b'_');
    let upper = |word: &str| !word.is_empty() && word.bytes().all(letter);
    is_token(tag) || between("[", "]").is_some_and(upper) || between("]<]", "[>[").is_some()
}

/// Messages with headers, which decide the channel of their text.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    /// The header: tokens and words with the holes `{role}`, `{channel}`, `{recipient}` and
    /// `{note}`.
    pub header: Template,
    /// Tokens that end a header and begin the text.
    pub body: Vec<String>,
    /// Tokens that end a message. They are removed elsewhere.
    pub end: Vec<String>,
    /// Channels with which a header may begin if its first tokens are missing. Only at the start
    /// and after a call.
    pub channels: Vec<String>,
    /// Rules for the meaning of messages. The first match counts. A message without a match is
    /// content.
    pub routes: Vec<Route>,
}

/// A rule for the meaning of messages. All given conditions must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The possible recipients. A template may contain `{name}`. Empty means any recipient or none.
    pub recipient: Vec<Template>,
    /// The first word of the channel.
    pub channel: Option<String>,
    /// The token that ends the header.
    pub body: Option<String>,
    /// The meaning of a matching message.
    pub is: RouteTo,
}

/// The meaning of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteTo {
    /// Visible text of the answer.
    Content,
    /// Text of the reasoning.
    Reasoning,
    /// A call of one of the tools.
    Call,
}
