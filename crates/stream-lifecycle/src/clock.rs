//! Time, as the caller gives it: nothing here reads a clock unless it was handed one.

use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

/// One moment on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stamp {
    /// The time of day, if the clock knows it. May jump.
    pub wall: Option<SystemTime>,
    /// Time since an origin the clock chose. Never goes back.
    pub monotonic: Duration,
}

impl Stamp {
    /// The present moment of `clock`.
    #[must_use]
    pub fn now(clock: &(impl Clock + ?Sized)) -> Self {
        Self { wall: clock.wall(), monotonic: clock.now() }
    }
}

/// Tells the time. Libraries read no clock: the host hands one in. Closures that return a
/// [`Duration`] are clocks.
pub trait Clock: Send + Sync {
    /// Time since an origin the clock chose. Never goes back.
    fn now(&self) -> Duration;

    /// The time of day. Not known unless overridden.
    fn wall(&self) -> Option<SystemTime> {
        None
    }
}

impl<F: Fn() -> Duration + Send + Sync> Clock for F {
    fn now(&self) -> Duration {
        self()
    }
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
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    fn wall(&self) -> Option<SystemTime> {
        Some(SystemTime::now())
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

impl Times {
    /// How long the stream took, from the start to its end.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        Some(self.end?.monotonic.saturating_sub(self.start?.monotonic))
    }

    /// How long the first item took, from the start.
    #[must_use]
    pub fn to_first_item(&self) -> Option<Duration> {
        Some(self.first_item?.monotonic.saturating_sub(self.start?.monotonic))
    }
}
