//! Options of a parser: the caller's policies, which apply to every family.

use alloc::sync::Arc;
use core::str::FromStr;

use jail_match::{Edge, InCode, Then, UnknownName, named};

use crate::ids::Ids;

/// The caller's policies for calls.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Generator of ids for calls that have none on the wire.
    pub ids: Ids,
    /// Policy for an id that arrives after its call has begun.
    pub late_ids: LateIds,
    /// Policy for a call that is cut by the end of the stream.
    pub repair: Repair,
    /// Whether more than one call may be emitted.
    pub parallel: Parallel,
    /// Restriction to calls of some tools.
    pub wanted: Wanted,
    /// Where the parser stops reading.
    pub stop: StopAfter,
    /// Policy for calls of undeclared tools.
    pub unknown_tools: UnknownTools,
    /// Which deviations from JSON are accepted in calls.
    pub tolerance: Tolerance,
    /// Policy for a payload of a [guided](crate::guided) grammar that is not calls.
    pub bad_payload: BadPayload,
    /// Policy for a block of calls whose first call is malformed or cut.
    pub broken_block: BrokenBlock,
    /// Policy for a block of calls inside code of the answer.
    pub in_code: CallsInCode,
    /// Policy for strings in arguments of calls whose schema declares another type.
    pub argument_types: ArgumentTypes,
    /// Limits inside a call.
    pub limits: CallLimits,
}

/// Policy for an id on the wire that arrives after its call has started with a generated id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LateIds {
    /// The id is dropped and reported as [`crate::DiagnosticKind::LateId`].
    #[default]
    Report,
    /// The id is emitted as [`crate::Event::CallId`], for callers that buffer calls until they end.
    Tell,
}

/// Policy for a call that is cut by the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Repair {
    /// The call is incomplete.
    #[default]
    Off,
    /// Open strings, lists and objects are closed, if the arguments are valid JSON then. The
    /// outcome is [`crate::Outcome::Repaired`]. Values are never guessed.
    Close,
}

/// Whether more than one call may be emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Parallel {
    /// Any number of calls.
    #[default]
    Any,
    /// Only the first call. Later ones are parsed, dropped and reported.
    One,
}

/// Which calls may be emitted. Others are parsed, dropped and reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Wanted {
    /// Calls of any declared tool.
    #[default]
    Any,
    /// No calls. Their markup is still removed from the text.
    None,
    /// Only calls of this tool.
    Only(Arc<str>),
}

impl Wanted {
    /// Returns whether a call of the tool `name` may be emitted.
    #[must_use]
    pub fn admits(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::None => false,
            Self::Only(only) => **only == *name,
        }
    }
}

/// Where the parser stops reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StopAfter {
    /// At the end of the stream.
    #[default]
    AtEnd,
    /// After the first complete call. Later calls of its block are dropped and reported. Text after
    /// the block is not read; its bytes are reported at the end of the stream.
    FirstCall,
}

/// Policy for calls of undeclared tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UnknownTools {
    /// The call is emitted like any other.
    #[default]
    Pass,
    /// The call is emitted with a diagnostic.
    Report,
    /// The call is parsed, dropped and reported.
    Drop,
}

/// Which deviations from JSON are accepted where a family writes JSON.
///
/// ```
/// use toolcall_parsers::{End, Options, Parser, Tolerance, grammar, parse};
/// let mut options = Options::default();
/// options.tolerance = Tolerance::Lenient;
/// let parser = Parser::builder(grammar("hermes")?).options(options).build()?;
/// let wire = "<tool_call>{'name': 'ring', arguments: {'loud': True,}}</tool_call>";
/// let message = parse(&parser, wire, End::Stop)?;
/// assert_eq!(message.calls[0].arguments, r#"{"loud": true}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Tolerance {
    /// Strict JSON, except for raw control characters in strings and lone surrogates.
    #[default]
    Strict,
    /// Also accepts single quotes, bare keys, `True`, `False` and `None`, commas before a closing
    /// bracket, comments, and other spellings of escapes and numbers. Each kind is reported once
    /// per value, as [`crate::DiagnosticKind::Tolerated`].
    ///
    /// A tagged value that never ends is ended by the next call or parameter inside it. A call that
    /// the value only quotes may then run: use this only where quoted calls do no harm.
    Lenient,
}

/// Policy for a payload that is not, or not entirely, made of calls: an answer under a
/// [guided](crate::guided) grammar that begins with `{` or `[`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadPayload {
    /// Emits each call as soon as it is certain. A call that breaks later is malformed. A payload
    /// without a call is text.
    #[default]
    BestEffort,
    /// Emits nothing before the payload is whole. If one of its calls is broken, the whole payload
    /// is text. At most [`Limits::candidate`](crate::Limits::candidate) bytes are held.
    RecoverAsText,
    /// Emits nothing before the payload is whole. If one of its calls is broken, or the payload is
    /// longer than [`Limits::candidate`](crate::Limits::candidate), it is dropped with all text
    /// after it: see [`Rejected`](crate::Rejected).
    Reject,
}

/// Policy for a block of calls whose first call is malformed or cut.
///
/// Under the policies that make text of it, nothing of a block is emitted before its first call is
/// whole. A block longer than [`Limits::candidate`](crate::Limits::candidate) is emitted as under
/// [`BrokenBlock::Emit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum BrokenBlock {
    /// Emits the part of the call that was read.
    #[default]
    Emit,
    /// Emits the text of the block in place of a malformed call. Of a call that was cut, the part
    /// that was read is emitted.
    TextIfMalformed,
    /// Emits the text of the block in place of the call.
    Text,
}

/// Policy for a block of calls inside code of the answer: inline code, or a fenced block. A fence
/// that the family writes around its own calls does not count.
///
/// ```
/// use toolcall_parsers::{CallsInCode, End, Options, Parser, grammar, parse};
/// let mut options = Options::default();
/// options.in_code = CallsInCode::Text;
/// let parser = Parser::builder(grammar("hermes")?).options(options).build()?;
/// let quoted = "Write `<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>` here.";
/// let message = parse(&parser, quoted, End::Stop)?;
/// assert_eq!((message.content.as_str(), message.calls.len()), (quoted, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum CallsInCode {
    /// The calls run. Code does not matter.
    #[default]
    Run,
    /// The block is text if the code is closed after it, or if the message was cut before. It runs
    /// if the model ended its message without closing the code, and after a lone backtick.
    ///
    /// The events of the block wait for that. A block that is longer than
    /// [`Limits::candidate`](crate::Limits::candidate), with the text up to the end of the code, is
    /// text.
    Text,
}

impl CallsInCode {
    /// Makes the openers among `edges` ask for the code around them, if calls in code are text.
    pub fn apply(self, edges: &mut [Edge]) {
        for edge in edges.iter_mut().filter(|_| self == Self::Text) {
            if matches!(edge.then, Then::Body(..)) && edge.in_code == InCode::Live {
                edge.in_code = InCode::Told;
            }
        }
    }
}

impl FromStr for CallsInCode {
    type Err = UnknownName;

    /// Reads `run` or `text`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("policy", name, &[("run", Self::Run), ("text", Self::Text)])
    }
}

/// Policy for strings in arguments that are JSON, where the tool's schema admits a number, a boolean or
/// `null`, but no string. Values between tags always have their declared type.
///
/// ```
/// use serde_json::json;
/// use toolcall_parsers::{ArgumentTypes, End, Options, Outcome, Parser, Tools, grammar, parse};
/// let mut options = Options::default();
/// options.argument_types = ArgumentTypes::Declared;
/// let tools = Tools::new([("ring", json!({"properties": {"times": {"type": "integer"}}}))]);
/// let parser = Parser::builder(grammar("hermes")?).options(options).tools(tools).build()?;
/// let wire = r#"<tool_call>{"name": "ring", "arguments": {"times": "2"}}</tool_call>"#;
/// let call = &parse(&parser, wire, End::Stop)?.calls[0];
/// assert_eq!((&*call.arguments, call.outcome), (r#"{"times": 2}"#, Some(Outcome::Repaired)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum ArgumentTypes {
    /// The arguments are as the model wrote them.
    #[default]
    Written,
    /// A string becomes the declared number, boolean or `null` if its text is exactly one, of at most
    /// 64 bytes: `"2"`, `"-1.5"`, `"true"`, `"null"`. All others are unchanged. The call is then
    /// [`crate::Outcome::Repaired`], and [`crate::DiagnosticKind::Tolerated`] is reported.
    Declared,
}

impl FromStr for ArgumentTypes {
    type Err = UnknownName;

    /// Reads `written` or `declared`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("policy", name, &[("written", Self::Written), ("declared", Self::Declared)])
    }
}

/// Limits inside a call, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Maximum length of a tool's name, an id, a key, or a number that must be respelled. Default 1
    /// KiB. A longer one makes the call malformed.
    pub name: usize,
    /// Maximum length of arguments that precede the tool's name. Default 16 KiB.
    pub early_arguments: usize,
    /// Maximum length of a value that is held until its type is certain. Default 1 MiB. A longer
    /// one is a string.
    pub value: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { name: 1024, early_arguments: 16 * 1024, value: 1024 * 1024 }
    }
}
