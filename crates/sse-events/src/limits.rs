//! Bounds on lines and events.

use std::fmt;

/// The default bound: beyond every chunk a server was seen to send, images in base64 included.
const DEFAULT_LIMIT: usize = 8 << 20;

/// Bounds on what a decoder holds, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseLimits {
    /// A line. Default 8 MiB.
    pub line: usize,
    /// An event, all its lines together. Default 8 MiB.
    pub event: usize,
    /// What becomes of an event that is longer. Default: it is dropped.
    pub policy: SseLimitPolicy,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self { line: DEFAULT_LIMIT, event: DEFAULT_LIMIT, policy: SseLimitPolicy::Drop }
    }
}

impl SseLimits {
    /// The same with another bound on a line.
    #[must_use]
    pub const fn line(self, line: usize) -> Self {
        Self { line, ..self }
    }

    /// The same with another bound on an event.
    #[must_use]
    pub const fn event(self, event: usize) -> Self {
        Self { event, ..self }
    }

    /// The same with another policy.
    #[must_use]
    pub const fn policy(self, policy: SseLimitPolicy) -> Self {
        Self { policy, ..self }
    }
}

/// What becomes of an event beyond the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SseLimitPolicy {
    /// It is dropped and counted ([`crate::SseItem::Dropped`]).
    #[default]
    Drop,
    /// Its bytes pass uninterpreted ([`crate::SseItem::Raw`]).
    Release,
    /// It ends the decoder.
    Error,
}

/// What an event is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`SseLimits::line`].
    Line,
    /// [`SseLimits::event`].
    Event,
}

/// An event was beyond the limits under [`SseLimitPolicy::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLong {
    /// Which limit.
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
        write!(f, "byte {}: the event is beyond the {limit} limit; reading stops", self.at)
    }
}

impl std::error::Error for TooLong {}
