//! What the driver keeps of where it stands: its mode, its open channels, a window of text.

use crate::{body::End, channel::Channel, edge::OnCommit, limits::LimitError};

#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    Text,
    Candidate(Candidate),
    Committed,
    /// What comes since this stream offset is dropped.
    Halted(u64),
    /// A limit with the error policy was hit.
    Failed(LimitError),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Length of the opener.
    pub(super) opener: usize,
    /// Bytes since the opener's first that the body has consumed, the opener with them.
    pub(super) fed: usize,
    /// How many of the opener's bytes are newlines bound to it.
    pub(super) bound: usize,
    /// The edge of the opener.
    pub(super) edge: usize,
    pub(super) on_commit: OnCommit,
}

/// An open channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) channel: Channel,
    /// The pair of the marker that opened it; 0 if none did, or it is of none.
    pub(super) pair: u8,
}

/// The text being processed: the caller's chunk, or what was held with its head after it.
#[derive(Clone, Copy)]
pub(super) struct Window<'t> {
    pub(super) text: &'t str,
    /// Stream offset of its first byte.
    pub(super) base: u64,
    pub(super) ended: Option<End>,
    /// No marker goes on after this window, though the stream may.
    pub(super) settled: bool,
}

impl Window<'_> {
    /// Whether markers end here at the latest.
    pub(super) fn is_last(&self) -> bool {
        self.settled || self.ended.is_some()
    }
}

/// Indices into a window.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    /// Text before this was emitted or accounted for.
    pub(super) out: usize,
    /// Markers were looked for up to here.
    pub(super) pos: usize,
    /// Lines and code were tracked up to here.
    pub(super) seen: usize,
    /// Text from `out` to here is known to be blank.
    pub(super) blank: usize,
}

impl Cursor {
    pub(super) fn at(index: usize) -> Self {
        Self { out: index, pos: index, seen: index, blank: index }
    }
}
