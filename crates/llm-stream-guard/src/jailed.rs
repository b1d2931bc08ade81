//! The jailed stream: sequences given by hand, a parser, or both.

mod builder;
mod chat;
mod sequences;

pub use builder::JailedStreamBuilder;

use std::fmt;

use futures_core::Stream;
use jail_match::JailError;
use toolcall_parsers::UnknownName;

use crate::{
    chat::{Annotations, ChatOptions},
    guard::{BuildError, Guard},
    stream::Guarded,
};

/// A stream adapter that withholds tool calls until they are whole and releases each as one piece.
///
/// With [`JailedStreamBuilder::tool_call_parser`] the family's own markers begin and end a jail.
/// Sequences given by hand replace those markers. Where a family's calls are messages (`harmony`),
/// no sequence can replace a header: the text between the sequences is read, and stays text if it
/// contains no call. Without a parser, and for the rules of [`JailedStreamBuilder::rule`], a
/// [`crate::Jailer`] does the work.
///
/// Text outside of jails passes unchanged, except for white space alone between calls and the edges
/// of the message. Jailed text that is not a call is emitted verbatim, in its place, unless a rule
/// changes that.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{JailedStream, OwnedEvent};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let jail = JailedStream::builder()
///     .jail_start_sequence("<TOOLCALL>")
///     .jail_end_sequence("</TOOLCALL>")
///     .tool_call_parser("hermes")
///     .build()?;
/// let chunks = ["Hi. <TOOL", "CALL>{\"name\": \"f\", ", "\"arguments\": {}}</TOOLCALL>"];
/// let chunks = tokio_stream::iter(chunks.map(Ok::<_, std::io::Error>));
/// let events: Vec<_> = jail.apply_text(chunks).collect().await;
/// assert!(matches!(&events[0], Ok(OwnedEvent::Content(text)) if text == "Hi. "));
/// assert!(matches!(&events[1], Ok(OwnedEvent::CallStart { name, .. }) if name == "f"));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct JailedStream {
    guard: Guard,
    chat: ChatOptions,
    annotations: Annotations,
}

impl JailedStream {
    /// A jail without sequences and parser.
    #[must_use]
    pub fn builder() -> JailedStreamBuilder {
        JailedStreamBuilder::default()
    }

    /// Puts the jail around a stream of text. A jail may be applied any number of times.
    pub fn apply_text<S, T, E>(&self, inner: S) -> Guarded<S>
    where
        S: Stream<Item = Result<T, E>>,
        T: AsRef<str>,
    {
        Guarded::new(inner, self.guard.clone())
    }

    /// Returns the guard inside. A clone of it guards one stream, without input or output.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

/// Why a jail could not be built. The fault is the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailedError {
    /// The parser is not registered.
    Parser(UnknownName),
    /// A sequence is faulty, or there is none.
    Jail(JailError),
    /// The family could not be read with the sequences in the place of its markers.
    Sequences(String),
    /// The option asks for calls outside of the sequences, but the calls of this family are
    /// messages, which are read only between the sequences.
    BetweenSequences(&'static str),
    /// This option is about blocks that no parser reads, and there are none: the parser reads what
    /// the sequences begin. A rule makes blocks of their own
    /// ([`JailedStreamBuilder::rule`]).
    NoBlocks(&'static str),
    /// The sequences do not make a table.
    Build(BuildError),
}

impl fmt::Display for JailedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parser(error) => error.fmt(f),
            Self::Jail(error) => error.fmt(f),
            Self::Sequences(family) => write!(
                f,
                "sequences cannot replace the markers of `{family}`: leave them out, or use a \
                 family whose calls have markers of their own"
            ),
            Self::BetweenSequences(option) => write!(
                f,
                "`{option}` asks for calls outside of the sequences: expected a parser of a family \
                 whose calls are not messages, or no sequences"
            ),
            Self::NoBlocks(option) => write!(
                f,
                "`{option}` is about blocks that no parser reads: expected a rule beside the parser"
            ),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for JailedError {}

impl From<JailError> for JailedError {
    fn from(error: JailError) -> Self {
        Self::Jail(error)
    }
}

impl From<BuildError> for JailedError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}
