//! Options of a parser: policies that are the caller's, not the family's.

use alloc::sync::Arc;

use crate::ids::Ids;

/// How calls are treated, whatever the family.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Where ids come from when the wire has none.
    pub ids: Ids,
    /// What becomes of an id that comes when its call has begun.
    pub late_ids: LateIds,
    /// What becomes of a call that the end of the stream cuts.
    pub repair: Repair,
    /// Whether more than one call may come out.
    pub parallel: Parallel,
    /// Which calls may come out.
    pub wanted: Wanted,
    /// Whether the message is read to its end.
    pub stop: StopAfter,
    /// What becomes of names that are not declared.
    pub unknown_tools: UnknownTools,
    /// How far from JSON the JSON of calls may be.
    pub tolerance: Tolerance,
    /// Bounds inside a call.
    pub limits: CallLimits,
}

/// What becomes of an id on the wire that comes when its call has begun with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LateIds {
    /// It is not used, and reported as [`crate::DiagnosticKind::LateId`].
    #[default]
    Report,
    /// It comes as an event, [`crate::Event::CallId`]: for those who keep a call until it ends.
    Tell,
}

/// What becomes of a call that the end of the stream cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Repair {
    /// It is incomplete.
    #[default]
    Off,
    /// Open strings, lists and objects are closed, if that makes JSON of it; the outcome says
    /// so. Values are never completed by guessing.
    Close,
}

/// Whether more than one call may come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Parallel {
    /// Any number.
    #[default]
    Any,
    /// The first; later ones are parsed, dropped and reported.
    One,
}

/// Which calls may come out. Others are parsed, dropped and reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Wanted {
    /// Any.
    #[default]
    Any,
    /// None: only the markup is removed.
    None,
    /// Those of this tool.
    Only(Arc<str>),
}

impl Wanted {
    /// Whether a call of `name` may come out.
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
    /// It is.
    #[default]
    AtEnd,
    /// Only through the first complete call: later ones in its block are dropped and reported,
    /// and behind the block nothing is read; the bytes are counted at the end of the stream.
    FirstCall,
}

/// What becomes of names that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UnknownTools {
    /// Nothing special.
    #[default]
    Pass,
    /// The call comes out with a diagnostic.
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
    /// It must be JSON, but for raw control characters in strings and lone surrogates.
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
