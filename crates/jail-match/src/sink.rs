//! Where a driver writes: text, notices, and the account of every other byte.

use crate::channel::Channel;

/// Receives what a [`crate::Driver`] emits, in source order.
///
/// Text is borrowed from the caller's chunk or from what was held; copy it to keep it.
pub trait Sink {
    /// Text of a channel. Never empty; neighbouring pieces of one channel are one run.
    fn text(&mut self, channel: Channel, text: &str);

    /// A marker acted: the one of the edge at this position of the table. Comes behind the text
    /// before it and what it released, before the text behind it. Ignored unless overridden.
    fn crossed(&mut self, edge: usize) {
        let _ = edge;
    }

    /// Something worth knowing that is not an error. Ignored unless overridden.
    fn notice(&mut self, notice: Notice) {
        let _ = notice;
    }

    /// A range of the input that did not become text. Ignored unless overridden; without an
    /// override it costs nothing.
    fn account(&mut self, span: Span) {
        let _ = span;
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    #[inline]
    fn text(&mut self, channel: Channel, text: &str) {
        (**self).text(channel, text);
    }

    fn notice(&mut self, notice: Notice) {
        (**self).notice(notice);
    }

    #[inline]
    fn account(&mut self, span: Span) {
        (**self).account(span);
    }
}

/// A diagnostic: what happened, where, and how many bytes it concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub kind: NoticeKind,
    /// Offset in the stream, in bytes.
    pub at: u64,
    /// How many bytes of input it concerns.
    pub bytes: u64,
}

/// What a [`Notice`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoticeKind {
    /// A candidate outgrew [`crate::Limits::candidate`].
    CandidateLimit,
    /// A whitespace run outgrew [`crate::Limits::whitespace`] and became text.
    WhitespaceLimit,
    /// An opener was taken as text because [`crate::Limits::depth`] channels were open.
    DepthLimit,
    /// Text was released without another look because it had been looked at too often.
    RescanLimit,
    /// Reasoning outgrew [`crate::ReasoningLimit`]; told when the span of it ends, with how many
    /// bytes were over.
    ReasoningLimit,
    /// The model repeated an opener without end. The driver never looks: a stage in front of it
    /// may.
    Collapse,
    /// A delimiter of the wire lost a character and was passed on as text. Not the driver's: a
    /// decoder in front of it tells.
    DamagedMarker,
    /// The stream ended behind an opener, before anything made sure what it opens; the bytes
    /// count as markup and are dropped.
    CutOpener,
    /// A jailed block outgrew its limit of bytes.
    JailBytes,
    /// More blocks than a jail may open in one stream.
    JailCount,
    /// A block took more chunks than it may.
    JailChunks,
    /// A block took more time than it may.
    JailTime,
    /// The stream ended inside a block that must not be left open.
    JailUnclosed,
    /// A block was dropped.
    JailDropped,
    /// A body halted; what followed it was dropped.
    Halted,
}

impl NoticeKind {
    /// Whether a limit was hit.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::CandidateLimit
                | Self::WhitespaceLimit
                | Self::DepthLimit
                | Self::RescanLimit
                | Self::ReasoningLimit
                | Self::JailBytes
                | Self::JailCount
                | Self::JailChunks
                | Self::JailTime
        )
    }

    /// A short, stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CandidateLimit => "candidate_limit",
            Self::WhitespaceLimit => "whitespace_limit",
            Self::DepthLimit => "depth_limit",
            Self::RescanLimit => "rescan_limit",
            Self::ReasoningLimit => "reasoning_limit",
            Self::Collapse => "collapse",
            Self::DamagedMarker => "damaged_marker",
            Self::CutOpener => "cut_opener",
            Self::JailBytes => "jail_bytes",
            Self::JailCount => "jail_count",
            Self::JailChunks => "jail_chunks",
            Self::JailTime => "jail_time",
            Self::JailUnclosed => "jail_unclosed",
            Self::JailDropped => "jail_dropped",
            Self::Halted => "halted",
        }
    }
}

/// A range of the input that is not text, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Why it is not text.
    pub kind: SpanKind,
    /// Offset in the stream, in bytes.
    pub at: u64,
    /// Length in bytes; never 0.
    pub len: u64,
}

/// Why a range of the input is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// A recognised marker and the newlines bound to it.
    Markup,
    /// Whitespace that only framed markup.
    Framing,
    /// Input of a body that committed: markup and data of a call.
    Body,
    /// Dropped, with a notice.
    Dropped,
}
