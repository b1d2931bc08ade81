//! The state of a driver, its open channels, and the text it is reading.

use core::ops::Range;

use crate::{
    body::End,
    channel::Channel,
    edge::OnCommit,
    limits::LimitError,
    sink::{Sink, Span, SpanKind},
};

/// The state of a driver, which decides how the next text is read.
///
/// For `"hi <call>go</call> bye"`, where `<call>` opens a body that ends at `</call>`:
///
/// | text | state |
/// |---|---|
/// | `hi ` | `Text` |
/// | `<call>g` | `Candidate`, until the body commits at `g` |
/// | `o</call>` | `Committed` |
/// | ` bye` | `Text`, or `Halted` if the body asked for it |
#[derive(Debug, Clone, Copy)]
pub(super) enum DriverState {
    /// Markers are searched for.
    Text,
    /// Text is fed to a body that has not committed yet.
    Candidate(Candidate),
    /// Text is fed to a committed body.
    Committed,
    /// Text from this stream offset on is dropped.
    Halted(u64),
    /// A limit was hit under the error policy: every push returns this error.
    Failed(LimitError),
}

/// An opener whose body has not committed yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Length of the opener.
    pub(super) opener: usize,
    /// Bytes consumed by the body, counted from the first byte of the opener.
    pub(super) fed: usize,
    /// The number of newlines bound to the opener, which are its first bytes.
    pub(super) bound: usize,
    /// The edge of the opener.
    pub(super) edge: usize,
    /// The effect of the commit on the channel.
    pub(super) on_commit: OnCommit,
}

/// A channel that is open in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenChannel {
    pub(super) channel: Channel,
    /// The pair of the marker that opened it, or 0.
    pub(super) pair: u8,
}

/// The continuation of the stream after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// More of the stream follows.
    More,
    /// More of the stream follows, but no marker continues in it.
    NoMarker,
    /// The stream ends with the window.
    End(End),
}

/// The text being read: the caller's chunk, or pending text with the head of the chunk after it.
#[derive(Clone, Copy)]
pub(super) struct Window<'t> {
    pub(super) text: &'t str,
    /// Stream offset of its first byte.
    pub(super) base: u64,
    pub(super) follows: Follows,
}

impl<'t> Window<'t> {
    /// Returns whether no marker continues after the window.
    pub(super) fn is_last(&self) -> bool {
        self.follows != Follows::More
    }

    /// Returns how the stream ended, if it ends with the window.
    pub(super) fn ended(&self) -> Option<End> {
        match self.follows {
            Follows::End(end) => Some(end),
            Follows::More | Follows::NoMarker => None,
        }
    }

    pub(super) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// Returns the stream offset of an index.
    pub(super) fn offset(&self, index: usize) -> u64 {
        self.base + index as u64
    }
}

/// Indices into a window's text that record how far each task has come.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    /// Text before this index was emitted or accounted for.
    pub(super) out: usize,
    /// Markers were searched for up to this index.
    pub(super) pos: usize,
    /// Lines and code were tracked up to this index.
    pub(super) seen: usize,
    /// Text from `out` to this index is known to be blank.
    pub(super) blank: usize,
}

impl Cursor {
    pub(super) fn at(index: usize) -> Self {
        Self { out: index, pos: index, seen: index, blank: index }
    }
}

/// The context of a walk through a window.
pub(super) struct Scan<'a, B: ?Sized> {
    pub(super) window: Window<'a>,
    pub(super) cursor: Cursor,
    pub(super) bodies: &'a mut B,
    pub(super) sink: &'a mut dyn Sink,
}

impl<B: ?Sized> Scan<'_, B> {
    /// Accounts for a range of the window, unless it is empty.
    pub(super) fn account(&mut self, kind: SpanKind, range: Range<usize>) {
        if !range.is_empty() {
            let (at, len) = (self.window.offset(range.start), range.len() as u64);
            self.sink.account(Span { kind, at, len });
        }
    }

    /// Returns the stream offset and the length of the text from `out` to `pos`.
    pub(super) fn unread(&self) -> (u64, u64) {
        let Cursor { out, pos, .. } = self.cursor;
        (self.window.offset(out), (pos - out) as u64)
    }
}
