//! Clocks that the caller provides. The crate reads no other clock.

use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

/// A moment on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stamp {
    /// Time of day, if the clock knows it. It may jump.
    pub wall: Option<SystemTime>,
    /// Time since an origin that the clock chose. It never decreases.
    pub monotonic: Duration,
}

impl Stamp {
    /// Returns the present moment of `clock`.
    #[must_use]
    pub fn now(clock: &(impl Clock + ?Sized)) -> Self {
        Self { wall: clock.wall(), monotonic: clock.now() }
    }
}

/// A source of the time.
///
/// Closures that return a [`Duration`] are clocks. [`SystemClock`] uses the clocks of the standard
/// library.
///
/// ```
/// use std::time::Duration;
/// use stream_lifecycle::{Clock, Stamp};
/// let clock = || Duration::from_secs(3);
/// assert_eq!(Stamp::now(&clock).monotonic, Duration::from_secs(3));
/// ```
pub trait Clock: Send + Sync {
    /// Returns the time since an origin that the clock chose. It never decreases.
    fn now(&self) -> Duration;

    /// Returns the time of day, if the clock knows it. `None` by default.
    fn wall(&self) -> Option<SystemTime> {
        None
    }
}

impl<F: Fn() -> Duration + Send + Sync> Clock for F {
    fn now(&self) -> Duration {
        self()
    }
}

/// The clocks of the standard library. Their origin is the moment of creation.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Creates a clock whose monotonic time is zero now.
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

/// Times of a stream. All are `None` without a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Times {
    /// Start of the stream, before its producer was created.
    pub start: Option<Stamp>,
    /// Arrival of the first item.
    pub first_item: Option<Stamp>,
    /// Arrival of the first item with text that is visible to the user.
    pub first_visible: Option<Stamp>,
    /// End of the stream, before finalizer, sanitizers and subscribers ran.
    pub end: Option<Stamp>,
}

impl Times {
    /// Returns the time from the start to the end.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        Some(self.end?.monotonic.saturating_sub(self.start?.monotonic))
    }

    /// Returns the time from the start to the first item.
    #[must_use]
    pub fn to_first_item(&self) -> Option<Duration> {
        Some(self.first_item?.monotonic.saturating_sub(self.start?.monotonic))
    }
}
