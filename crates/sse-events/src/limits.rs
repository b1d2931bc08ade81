//! Limits of lines and events.

use std::fmt;

/// The default limit in bytes. It is larger than every known chunk of a server, including images.
const DEFAULT_LIMIT: usize = 8 << 20;

/// Limits of a decoder, in bytes.
///
/// ```
/// use sse_events::{Decoder, SseItem, SseLimits};
/// let mut decoder = Decoder::new().limits(SseLimits::default().event(16));
/// let mut dropped = 0;
/// decoder.push(b"data: longer than sixteen bytes\n\n", |item| {
///     if let SseItem::Dropped { bytes } = item {
///         dropped += bytes;
///     }
/// })?;
/// assert_eq!(dropped, 33);
/// # Ok::<(), sse_events::TooLong>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseLimits {
    /// Maximum length of a line. The default is 8 MiB.
    pub line: usize,
    /// Maximum length of an event with all its lines. The default is 8 MiB.
    pub event: usize,
    /// Treatment of a longer event. By default it is dropped.
    pub policy: SseLimitPolicy,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line: DEFAULT_LIMIT, event: DEFAULT_LIMIT, policy: SseLimitPolicy::Drop }
    }
}

impl SseLimits {
    /// Sets the maximum length of a line.
    #[must_use]
    pub const fn line(self, line: usize) -> Self {
        Self { line, ..self }
    }

    /// Sets the maximum length of an event.
    #[must_use]
    pub const fn event(self, event: usize) -> Self {
        Self { event, ..self }
    }

    /// Sets the treatment of longer events.
    #[must_use]
    pub const fn policy(self, policy: SseLimitPolicy) -> Self {
        Self { policy, ..self }
    }
}

/// Treatment of an event beyond the limits.
///
/// ```
/// use sse_events::{Decoder, Limit, SseLimitPolicy, SseLimits};
/// let limits = SseLimits::default().line(8).policy(SseLimitPolicy::Error);
/// let mut decoder = Decoder::new().limits(limits);
/// let error = decoder.push(b"data: too long", |_| {}).expect_err("the line is too long");
/// assert_eq!((error.limit, error.at), (Limit::Line, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SseLimitPolicy {
    /// The event is dropped and counted ([`crate::SseItem::Dropped`]).
    #[default]
    Drop,
    /// The bytes of the event pass uninterpreted ([`crate::SseItem::Raw`]).
    Release,
    /// The decoder returns an error and stops.
    Error,
}

/// The limit that an event exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The event has a line longer than [`SseLimits::line`].
    Line,
    /// The event is longer than [`SseLimits::event`].
    Event,
}

/// An error: an event exceeds the limits under [`SseLimitPolicy::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong {
    /// The limit that the event exceeds.
    pub limit: Limit,
    /// Stream offset of the event's first byte.
    pub at: u64,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = match self.limit {
            Limit::Line => "line",
            Limit::Event => "event",
        };
        write!(f, "byte {}: the event exceeds the {limit} limit; the decoder stops", self.at)
    }
}

impl std::error::Error for TooLong {}
