//! The events, signals and counters of a jail.
//!
//! The text `a<s>b</s>c` with the pair `<s>`, `</s>` gives `Text("a")`, `Signal(Opened)`, `Jailed`
//! with the body `b`, `Signal(Closed)` and `Text("c")`.

use super::pair::OnFail;
use crate::diagnostic::DiagnosticKind;

/// An event of a [`crate::Jail`], in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailEvent<'a> {
    /// Text outside of blocks, or released text. Never empty.
    Text(&'a str),
    /// A block that was withheld up to now.
    Jailed(Jailed<'a>),
    /// A copy of a block whose text has passed.
    Tapped(Jailed<'a>),
    /// A signal about a block, without text. Does not depend on chunks.
    Signal(JailSignal),
}

/// A block with its start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jailed<'a> {
    /// The number of the pair: 0 for the first one added, 1 for the next. The pool is last.
    pub pair: usize,
    /// The stream offset of the start, in bytes.
    pub at: u64,
    /// The start, as it was written.
    pub start: &'a str,
    /// The text after the start.
    pub body: &'a str,
    /// The end; `None` if the stream ended or a limit was hit first.
    pub end: Option<&'a str>,
}

/// A signal about a block. It contains no text; offsets and sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailSignal {
    /// A start opened a block.
    Opened {
        /// The number of the block's pair.
        pair: usize,
        /// The offset of the block's start.
        at: u64,
        /// The number of open blocks, this one included.
        depth: usize,
    },
    /// An open block was closed.
    Closed {
        /// The number of the block's pair.
        pair: usize,
        /// The offset of the block's start.
        at: u64,
        /// The length of the block with its start and end.
        bytes: u64,
        /// The reason for the signal.
        why: Closed,
    },
    /// Bytes were dropped: they are neither text nor handed over.
    Dropped {
        /// The offset of the first dropped byte.
        at: u64,
        /// The number of dropped bytes.
        bytes: u64,
        /// The reason for the signal.
        why: Dropped,
    },
    /// A limit was hit, or the stream ended inside a block that must not be left open.
    Limit {
        /// The limit that was hit.
        kind: DiagnosticKind,
        /// The offset of the block, or of the start taken as text.
        at: u64,
        /// The length of the block up to the limit.
        bytes: u64,
        /// The policy applied to the block.
        then: OnFail,
    },
}

/// The reason why a block closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closed {
    /// The block's end came.
    End,
    /// The stream ended inside the block.
    Stream,
    /// The block hit this limit.
    Limit(DiagnosticKind),
    /// A limit closed a block around it.
    Outer,
}

impl Closed {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Stream => "stream",
            Self::Limit(kind) => kind.name(),
            Self::Outer => "outer",
        }
    }
}

/// The reason why bytes were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dropped {
    /// The bytes are the start or end of a block that is released without them.
    Markup,
    /// The bytes are a block whose pair drops it.
    Block,
    /// The bytes are a block that hit a limit.
    Limit,
}

impl Dropped {
    /// Returns a short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Markup => "jail_markup",
            Self::Block => "jail_dropped",
            Self::Limit => "jail_dropped_limit",
        }
    }
}

/// Counters of a jail, for hosts that publish metrics. They contain no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JailCounters {
    /// The number of bytes received.
    pub bytes_in: u64,
    /// The number of bytes looked at: a measure of work that does not depend on a clock.
    pub examined: u64,
    /// The number of blocks opened, inner ones included.
    pub opened: u64,
    /// The number of blocks closed by their end.
    pub ended: u64,
    /// The number of limits that were hit.
    pub limits: u64,
    /// The number of bytes neither released nor handed over: dropped blocks, and the starts and
    /// ends of blocks released without them. Bytes of an inner block count once.
    pub dropped: u64,
    /// The number of chunks whose last bytes might begin a mark. Depends on chunks.
    pub partial: u64,
    /// The number of such chunks whose last bytes turned out to be text. Depends on chunks.
    pub refuted: u64,
    /// The maximum number of bytes kept at any time.
    pub held_max: usize,
    /// The maximum number of blocks open at any time.
    pub depth_max: usize,
}
