//! Options of a parser: policies that are the caller's, not the family's.

use alloc::sync::Arc;

use crate::ids::Ids;

/// Policies for calls of every family.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Where ids come from when the wire has none.
    pub ids: Ids,
    /// Policy for an id that arrives after its call has begun.
    pub late_ids: LateIds,
    /// Policy for a call that the end of the stream cuts.
    pub repair: Repair,
    /// Whether more than one call may be emitted.
    pub parallel: Parallel,
    /// Calls that may be emitted.
    pub wanted: Wanted,
    /// Whether the message is read to its end.
    pub stop: StopAfter,
    /// Policy for names that are not declared.
    pub unknown_tools: UnknownTools,
    /// How far from JSON the JSON of calls may be.
    pub tolerance: Tolerance,
    /// Bounds inside a call.
    pub limits: CallLimits,
}

/// Policy for an id on the wire that arrives after its call has begun with another id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LateIds {
    /// The id is not used, and is reported as [`crate::DiagnosticKind::LateId`].
    #[default]
    Report,
    /// The id is an event, [`crate::Event::CallId`], for callers that keep a call until it ends.
    Tell,
}

/// Policy for a call that the end of the stream cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Repair {
    /// The call is incomplete.
    #[default]
    Off,
    /// Open strings, lists and objects are closed if that makes JSON of the arguments; the outcome
    /// reports it. Values are never completed by guessing.
    Close,
}

/// Whether more than one call may be emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Parallel {
    /// Any number of calls.
    #[default]
    Any,
    /// The first; later ones are parsed, dropped and reported.
    One,
}

/// Calls that may be emitted. Others are parsed, dropped and reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Wanted {
    /// Calls of any declared tool.
    #[default]
    Any,
    /// None: only the markup is removed.
    None,
    /// Calls of this tool alone.
    Only(Arc<str>),
}

impl Wanted {
    /// Whether a call of `name` may be emitted.
    #[must_use]
    pub fn admits(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::None => false,
            Self::Only(only) => **only == *name,
        }
    }
}

/// Whether the message is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StopAfter {
    /// At the end of the stream.
    #[default]
    AtEnd,
    /// After the first complete call: later calls in its block are dropped and reported, and text
    /// after the block is not read; its bytes are counted at the end of the stream.
    FirstCall,
}

/// Policy for names that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UnknownTools {
    /// The call is emitted like others.
    #[default]
    Pass,
    /// The call is emitted with a diagnostic.
    Report,
    /// The call is parsed, dropped and reported.
    Drop,
}

/// How far from JSON may be what a family writes as JSON.
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
    /// Single quotes, bare keys, `True`, `False` and `None`, commas before a closing bracket,
    /// comments, and other spellings of escapes and numbers are read as what they mean. Each kind
    /// is reported once a value, as [`crate::DiagnosticKind::Tolerated`].
    Lenient,
}

/// Bounds inside a call, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// A tool's name, an id, a key, or a number that must be respelled. Default 1 KiB; a longer
    /// one is malformed.
    pub name: usize,
    /// Arguments that came before the name. Default 16 KiB.
    pub early_arguments: usize,
    /// A value that must be whole before its type is certain. Default 1 MiB; a longer one is a
    /// string.
    pub value: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { name: 1024, early_arguments: 16 * 1024, value: 1024 * 1024 }
    }
}
