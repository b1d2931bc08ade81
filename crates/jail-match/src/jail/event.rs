//! What a jail reports.

use super::pair::OnFail;
use crate::diagnostic::DiagnosticKind;

/// What a [`crate::Jail`] reports, in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailEvent<'a> {
    /// Text outside, or released. Never empty.
    Text(&'a str),
    /// A block, withheld up to now.
    Jailed(Jailed<'a>),
    /// A copy of a block whose text has passed.
    Tapped(Jailed<'a>),
    /// What happened, without its text. Does not depend on the chunks.
    Signal(JailSignal),
}

/// A jailed block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jailed<'a> {
    /// Which pair: 0 for the first that was added, 1 for the next; the pool comes last.
    pub pair: usize,
    /// Stream offset of the start, in bytes.
    pub at: u64,
    /// The start, as it was written.
    pub start: &'a str,
    /// What stood after it.
    pub body: &'a str,
    /// The end; `None` if the stream ended or a limit was hit first.
    pub end: Option<&'a str>,
}

/// Something that happened to a block. No text in it; offsets and sizes are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JailSignal {
    /// A block opened.
    Opened {
        /// Its pair.
        pair: usize,
        /// Where its start begins.
        at: u64,
        /// How many blocks are open, this one included.
        depth: usize,
    },
    /// A block closed.
    Closed {
        /// Its pair.
        pair: usize,
        /// Where its start begins.
        at: u64,
        /// Its length with its start and end.
        bytes: u64,
        /// Why.
        why: Closed,
    },
    /// Bytes are neither text nor handed over.
    Dropped {
        /// Where they begin.
        at: u64,
        /// How many.
        bytes: u64,
        /// Why.
        why: Dropped,
    },
    /// A limit was hit, or the stream ended inside a block that must not be left open.
    Limit {
        /// Which.
        kind: DiagnosticKind,
        /// Where the block, or the start taken as text, begins.
        at: u64,
        /// How long it is up to now.
        bytes: u64,
        /// What becomes of it.
        then: OnFail,
    },
}

/// Why a block closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closed {
    /// Its end came.
    End,
    /// The stream ended.
    Stream,
    /// It hit this limit.
    Limit(DiagnosticKind),
    /// A block around it was closed by a limit.
    Outer,
}

impl Closed {
    /// A short, stable name.
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

/// Why bytes were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dropped {
    /// They are the start or end of a block that is released without them.
    Markup,
    /// They are a block that is to be dropped.
    Block,
    /// They are a block that hit a limit.
    Limit,
}

impl Dropped {
    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Markup => "jail_markup",
            Self::Block => "jail_dropped",
            Self::Limit => "jail_dropped_limit",
        }
    }
}

/// Plain counters of a jail, for hosts that publish metrics. No text in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct JailCounters {
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes looked at: a measure of work that no clock disturbs.
    pub examined: u64,
    /// Blocks opened, inner ones included.
    pub opened: u64,
    /// Blocks that their end closed.
    pub ended: u64,
    /// Limits hit.
    pub limits: u64,
    /// Bytes neither released nor handed over: of blocks that are dropped, and the starts and ends
    /// of those released without them. What an inner block loses is counted once, with the block
    /// around it if that is dropped itself.
    pub dropped: u64,
    /// How often a chunk ended in what might become a mark. Depends on the chunks.
    pub partial: u64,
    /// How many of those turned out to be text. Depends on the chunks.
    pub refuted: u64,
    /// The most bytes ever kept.
    pub held_max: usize,
    /// The most blocks ever open at once.
    pub depth_max: usize,
}
