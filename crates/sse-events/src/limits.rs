//! Bounds on lines and events.

use std::fmt;

/// The default bound: beyond every chunk a server was seen to send, images in base64 included.
const LONGEST: usize = 8 << 20;

/// Bounds on what a decoder holds, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// A line. Default 8 MiB.
    pub line: usize,
    /// An event, all its lines together. Default 8 MiB.
    pub event: usize,
    /// What becomes of an event that is longer. Default: it is dropped.
    pub policy: LimitPolicy,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: LONGEST, event: LONGEST, policy: LimitPolicy::Drop }
    }
}

impl Limits {
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
    pub const fn policy(self, policy: LimitPolicy) -> Self {
        Self { policy, ..self }
    }
}

/// What becomes of an event beyond the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LimitPolicy {
    /// It is dropped and counted ([`crate::Item::Dropped`]).
    #[default]
    Drop,
    /// Its bytes pass uninterpreted ([`crate::Item::Raw`]).
    Release,
    /// It ends the decoder.
    Error,
}

/// What an event is beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::line`].
    Line,
    /// [`Limits::event`].
    Event,
}

/// An event was beyond the limits under [`LimitPolicy::Error`].
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
