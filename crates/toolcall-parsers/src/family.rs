//! A model family: how it writes tool calls, as a value.
//!
//! Everything here is plain data, read from a file of the family language. The machine and the
//! encoder interpret it; neither knows a family's name.

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
mod read;
mod tag;
#[cfg(all(test, feature = "toml"))]
mod tests;

use alloc::{string::String, vec::Vec};

#[cfg(feature = "toml")]
pub use self::file::FamilyFile;
pub use self::{
    edit::{OwnMarkers, Sequences},
    error::FamilyError,
    like::{merge, reasoning, resolve, with_variant},
    marks::ReasoningMarks,
    models::{ModelId, ModelPattern},
};

use crate::template::Template;

/// How a model family writes tool calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Family {
    /// The family's name: lower case, `_` between words.
    pub name: String,
    /// The models that write it, in words.
    pub about: String,
    /// Where it was learned.
    pub source: String,
    /// The ways to write a call; the first is written, all are read.
    pub forms: Vec<Form>,
    /// The messages that contain all text, if the family has any.
    pub messages: Option<Messages>,
    /// Tokens that end a turn: removed in content, and a place to go on after a fault.
    pub end_of_turn: Vec<String>,
    /// Other markup around the answer that is removed in content.
    pub erase: Vec<Erase>,
    /// Whether the markers are special tokens, which servers strip by default.
    pub special_tokens: bool,
    /// Whether the tags may carry a suffix that only the checkpoint knows (`<tool_call:x>`).
    pub suffix: Suffix,
    /// Options of the encoder alone.
    pub write: Write,
}

/// A way to write calls: templates that share their options.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Templates around calls; `{call}` alone by default.
    pub sections: Vec<Template>,
    /// Templates of a call.
    pub calls: Vec<Template>,
    /// A parameter of `{parameters}`.
    pub parameters: Vec<Template>,
    /// An element of `{elements}`.
    pub elements: Vec<Template>,
    /// Texts between blocks: the first one is written, all are read.
    pub between: Vec<String>,
    /// When a call is certain; `None`: on its marker, or on a declared name where it has none.
    pub commit_on: Option<CommitOn>,
    /// Where a call without its own marker may begin. In a form without markers this applies to all
    /// calls.
    pub at: At,
    /// When a call outside its section is certain; `None`: there it is text.
    pub call_alone: Option<CommitOn>,
    /// Texts inside literals that have other spellings.
    pub spellings: Vec<(String, Vec<String>)>,
    /// The keys of `{object}`.
    pub keys: Keys,
    /// The source of a value's type.
    pub types: Types,
    /// The type of a value without a declared one. `None` means text under [`Types::Schema`], and
    /// JSON if the text is JSON under [`Types::Wire`].
    pub undeclared: Option<Undeclared>,
    /// Policy for a repeated parameter.
    pub repeated: Repeated,
    /// Delimiters of strings in the literal dialect. Empty means `"`, `'` and backtick.
    pub quote: Vec<String>,
    /// Whether white space in literals and around header holes must be as shown.
    pub whitespace: WhitespaceRule,
    /// Whether newlines around blocks are markup.
    pub newlines: NewlineRule,
    /// Effect of an opener inside reasoning.
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
    /// Nothing: it is text of the reasoning.
    #[default]
    Literal,
    /// The call is emitted, and reasoning goes on after it.
    Suspend,
    /// The call is emitted, and ends the reasoning.
    End,
}

/// When a call is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum CommitOn {
    /// As soon as the name is complete after the marker.
    #[default]
    Marker,
    /// Once its name is known to be declared (if any tool is) and its arguments began.
    DeclaredName,
}

/// The places in the message where an item may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum At {
    /// At any place of the message.
    #[default]
    Anywhere,
    /// Only before anything visible.
    Lead,
    /// Only at the start of a line.
    Line,
    /// Only directly after a call, whitespace between allowed.
    AfterCall,
}

/// Whether tags may carry a suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Suffix {
    /// Ids are left unchanged.
    #[default]
    None,
    /// The first suffix seen is required of all later tags.
    Learnt,
}

/// How the value of an object's keys makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Keys by what they hold. Others are ignored.
    Named(NamedKeys),
    /// The key is the name, its value the arguments.
    NameIsKey,
}

/// The keys of a call object; the first of each list is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedKeys {
    /// Keys of the tool's name.
    pub name: Vec<String>,
    /// The arguments; of several present the first counts.
    pub arguments: Vec<String>,
    /// Keys of the call's id.
    pub id: Vec<String>,
    /// An object that holds keys of the call.
    pub wrapper: Vec<String>,
    /// An array of calls inside the outermost object.
    pub list: Vec<String>,
    /// An answer in the place of a call.
    pub answer: Vec<String>,
    /// The order in which the encoder writes them.
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
    /// The tool's schema, then the wire.
    #[default]
    Schema,
    /// The wire's own types.
    Wire,
}

/// The type of a value without a declared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Undeclared {
    /// The value is plain text.
    Text,
    /// The value is JSON if its text is JSON, and text otherwise.
    Json,
}

/// Policy for a repeated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Repeated {
    /// Every occurrence is written; readers of JSON take the last.
    #[default]
    WriteAll,
    /// Later occurrences are dropped and counted.
    KeepFirst,
}

/// Whether white space must be as a template shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WhitespaceRule {
    /// White space may be present or missing between tags.
    #[default]
    Free,
    /// White space must be as shown.
    Exact,
}

/// Whether newlines around blocks are markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum NewlineRule {
    /// Such texts stay text.
    #[default]
    Text,
    /// Such texts are removed with the blocks.
    All,
}

/// Markup that is removed in content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erase {
    /// The literal text; never empty.
    pub text: String,
    /// The place where the item may begin.
    pub at: At,
    /// Whether it is removed once a message only.
    pub once: bool,
    /// At most this many newlines before and after go with it.
    pub newlines: (u8, u8),
}

/// Whether only a tokenizer writes `tag`: `<|x|>`, with bars of either width.
pub(crate) fn is_token(tag: &str) -> bool {
    let inside = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
    let bar = ['|', '｜'];
    inside.starts_with(bar) && inside.ends_with(bar)
}

/// Messages with headers that decide where their text goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    /// The header: tokens and words around `{role}`, `{channel}`, `{recipient}` and `{note}`.
    pub header: Template,
    /// Tokens that end a header and begin the text.
    pub body: Vec<String>,
    /// Tokens that end a message; removed elsewhere.
    pub end: Vec<String>,
    /// Channels that a header may begin with where its first tokens are missing: at the start and
    /// after a call.
    pub channels: Vec<String>,
    /// Meanings of messages. The first match counts; a message without a match is content.
    pub routes: Vec<Route>,
}

/// One meaning of messages. All given conditions must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The recipient is one of these; a template may hold `{name}`. Empty: any or none.
    pub recipient: Vec<Template>,
    /// The channel's first word.
    pub channel: Option<String>,
    /// The token that ended the header.
    pub body: Option<String>,
    /// Meaning of a matching message.
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

/// Options of the encoder alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Write {
    /// The spacing of JSON.
    pub json: Spacing,
    /// How tagged values other than strings are spelled.
    pub words: Words,
    /// The order of argument keys.
    pub keys: KeyOrder,
    /// How strings in JSON are escaped.
    pub escapes: Escapes,
    /// Policy for the id of a call object without a given id.
    pub ids: WrittenIds,
    /// Which form is written first, from 0.
    pub form: usize,
}

/// How strings in JSON are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Escapes {
    /// Only what JSON demands.
    #[default]
    Needed,
    /// Everything that is not ASCII, too.
    Ascii,
}

/// Policy for the id of a call object without a given id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WrittenIds {
    /// A missing id is omitted.
    #[default]
    Given,
    /// The call's number, from 0, as a string.
    Counted,
}

/// The spacing of written JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Spacing {
    /// Blanks after colons and commas: `{"a": 1, "b": 2}`.
    #[default]
    Spaced,
    /// No blanks: `{"a":1,"b":2}`.
    Compact,
    /// A member a line, four blanks a level.
    Indented,
}

/// How values other than strings are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Words {
    /// As JSON spells them.
    #[default]
    Json,
    /// As Python spells them.
    Python,
    /// As above, with objects and arrays in Python's spelling.
    Repr,
}

/// The order of argument keys on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum KeyOrder {
    /// Keys in the given order.
    #[default]
    Given,
    /// Keys sorted by bytes.
    Sorted,
}
