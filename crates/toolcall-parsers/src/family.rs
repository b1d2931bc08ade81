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
    /// The messages everything stands in, if the family has such.
    pub messages: Option<Messages>,
    /// Tokens that end a turn: removed in content, and a place to go on after a fault.
    pub end_of_turn: Vec<String>,
    /// Other markup around the answer that is removed in content.
    pub erase: Vec<Erase>,
    /// Whether the markers are special tokens, which servers strip by default.
    pub special_tokens: bool,
    /// Whether the tags may carry a suffix that only the checkpoint knows (`<tool_call:x>`).
    pub suffix: Suffix,
    /// What only the encoder needs.
    pub write: Write,
}

/// A way to write calls: templates that share their options.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// What stands around calls; `{call}` alone by default.
    pub sections: Vec<Template>,
    /// A call.
    pub calls: Vec<Template>,
    /// A parameter of `{parameters}`.
    pub parameters: Vec<Template>,
    /// An element of `{elements}`.
    pub elements: Vec<Template>,
    /// What stands between blocks: the first is written, all are read.
    pub between: Vec<String>,
    /// When a call is certain; `None`: on its marker, or on a declared name where it has none.
    pub commit_on: Option<CommitOn>,
    /// Where a call without a marker of its own may stand (in a form without such: all calls).
    pub at: At,
    /// When a call outside its section is certain; `None`: there it is text.
    pub call_alone: Option<CommitOn>,
    /// Texts inside literals that have other spellings.
    pub spellings: Vec<(String, Vec<String>)>,
    /// The keys of `{object}`.
    pub keys: Keys,
    /// What decides a value's type.
    pub types: Types,
    /// What a value is whose type nothing decides; `None`: text under [`Types::Schema`], JSON if
    /// it spells some under [`Types::Wire`].
    pub undeclared: Option<Undeclared>,
    /// What a repeated parameter does.
    pub repeated: Repeated,
    /// What encloses strings in the literal dialect; empty: `"`, `'` and backtick.
    pub quote: Vec<String>,
    /// Whether whitespace in literals and around header holes must stand as shown.
    pub whitespace: WhitespaceRule,
    /// Whether newlines around blocks are markup.
    pub newlines: NewlineRule,
    /// What an opener inside reasoning does.
    pub in_reasoning: InReasoning,
    /// Names that mean that no tool is called.
    pub no_call: Vec<String>,
}

/// What a tool opener inside reasoning does.
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
    /// Once its name is complete behind its marker.
    #[default]
    Marker,
    /// Once its name is known to be declared (if any tool is) and its arguments began.
    DeclaredName,
}

/// Where something may stand in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum At {
    /// Anywhere.
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
    /// They stand as written.
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
    /// The name.
    pub name: Vec<String>,
    /// The arguments; of several present the first counts.
    pub arguments: Vec<String>,
    /// The id.
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

/// What a key of a call object holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyRole {
    /// The name.
    Name,
    /// The arguments.
    Arguments,
    /// The id.
    Id,
}

/// What decides a value's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Types {
    /// The tool's schema, then the wire.
    #[default]
    Schema,
    /// The wire.
    Wire,
}

/// What a value is whose type nothing decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Undeclared {
    /// Text.
    Text,
    /// What JSON it spells, else text.
    Json,
}

/// What a repeated parameter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Repeated {
    /// It is written again; readers of JSON take the last.
    #[default]
    WriteAll,
    /// It is dropped and counted.
    KeepFirst,
}

/// Whether whitespace must stand as a template shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WhitespaceRule {
    /// It may stand or be missing between tags.
    #[default]
    Free,
    /// It must stand as shown.
    Exact,
}

/// Whether newlines around blocks are markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum NewlineRule {
    /// They are text.
    #[default]
    Text,
    /// They go with the blocks.
    All,
}

/// Markup that is removed in content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erase {
    /// The literal text; never empty.
    pub text: String,
    /// Where it may stand.
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

/// Messages with headers that say where their text goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    /// The header: tokens and words around `{role}`, `{channel}`, `{recipient}` and `{note}`.
    pub header: Template,
    /// Tokens that end a header and begin the text.
    pub body: Vec<String>,
    /// Tokens that end a message; removed elsewhere.
    pub end: Vec<String>,
    /// Channels that a header may begin with where the tokens before it are missing: at the lead
    /// and behind a call.
    pub channels: Vec<String>,
    /// What messages are; the first that fits counts, and what none fits is content.
    pub routes: Vec<Route>,
}

/// What a message is. All conditions that are given must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The recipient is one of these; a template may hold `{name}`. Empty: any or none.
    pub recipient: Vec<Template>,
    /// The channel's first word.
    pub channel: Option<String>,
    /// The token that ended the header.
    pub body: Option<String>,
    /// What the message is then.
    pub is: RouteTo,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RouteTo {
    /// Visible text.
    Content,
    /// Reasoning.
    Reasoning,
    /// A call.
    Call,
}

/// What only the encoder needs.
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
    /// What a call object has for an id that is not given.
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

/// What a call object has for an id that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum WrittenIds {
    /// No id.
    #[default]
    Given,
    /// The call's number, from 0, as a string.
    Counted,
}

/// The spacing of written JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Spacing {
    /// `{"a": 1, "b": 2}`
    #[default]
    Spaced,
    /// `{"a":1,"b":2}`
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
    /// So, and objects and arrays as Python spells those.
    Repr,
}

/// The order of argument keys on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum KeyOrder {
    /// As given.
    #[default]
    Given,
    /// Sorted by bytes.
    Sorted,
}
