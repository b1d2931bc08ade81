//! Time, as the caller gives it: nothing here reads a clock unless it was handed one.

use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

/// One moment on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stamp {
    /// The time of day. May jump.
    pub wall: SystemTime,
    /// Time since an origin the clock chose. Never goes back.
    pub monotonic: Duration,
}

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Stamp;
}

/// The standard library's clocks; the origin is the moment it was made.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time is zero now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Stamp {
        Stamp { wall: SystemTime::now(), monotonic: self.origin.elapsed() }
    }
}

/// When what happened. All `None` without a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Times {
    /// The stream was started, before its producer was created.
    pub start: Option<Stamp>,
    /// The first item arrived.
    pub first_item: Option<Stamp>,
    /// The first item with text for the user's eyes arrived.
    pub first_visible: Option<Stamp>,
    /// The stream ended; finalizer, sanitizers and subscribers ran later.
    pub end: Option<Stamp>,
}
