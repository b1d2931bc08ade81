//! The jailed stream, which withholds blocks found by the caller's sequences, a parser, or both.

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
/// With [`JailedStreamBuilder::tool_call_parser`], the family's own markers begin and end a block.
/// Start and end sequences set by the caller replace those markers. If a family's calls are
/// messages (`harmony`), sequences cannot replace the headers. The text between the sequences is
/// then parsed, and stays text if it contains no call. Without a parser, and for
/// [`JailedStreamBuilder::rule`], a [`crate::Jailer`] finds the blocks.
///
/// Text outside of blocks passes unchanged, except for white space between calls and at the edges
/// of the message. A block that is not a call is emitted unchanged in its place, unless a rule
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
    /// Returns a builder without sequences and parser.
    #[must_use]
    pub fn builder() -> JailedStreamBuilder {
        JailedStreamBuilder::default()
    }

    /// Applies the jail to a stream of text. A jail may be applied any number of times.
    pub fn apply_text<S, T, E>(&self, inner: S) -> Guarded<S>
    where
        S: Stream<Item = Result<T, E>>,
        T: AsRef<str>,
    {
        Guarded::new(inner, self.guard.clone())
    }

    /// Returns the guard inside. A clone of the guard reads one stream and does no input or output.
    #[must_use]
    pub fn guard(&self) -> &Guard {
        &self.guard
    }
}

/// An error of building a jail, caused by the caller's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailedError {
    /// The parser is not registered.
    Parser(UnknownName),
    /// A sequence is invalid, or no sequence is given.
    Jail(JailError),
    /// The family cannot be read with the sequences in place of its markers.
    Sequences(String),
    /// The option asks for calls outside of the sequences, but the calls of this family are
    /// messages, which are read only between the sequences.
    BetweenSequences(&'static str),
    /// The option applies to blocks that no parser reads, but the parser reads every block of the
    /// sequences. Add such blocks with [`JailedStreamBuilder::rule`].
    NoBlocks(&'static str),
    /// The guard with these sequences cannot be built.
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
