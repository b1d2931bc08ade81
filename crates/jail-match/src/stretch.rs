//! Stretches of the stream in which the host knows that nothing is a marker.

use alloc::collections::VecDeque;

/// A stretch of the stream in which nothing is a marker. See [`crate::Driver::mark`].
///
/// ```
/// use jail_match::{Channel, Driver, DriverSettings, Edge, End, Event, NoBodies, Stretch, Table, Then};
/// let edge = Edge::new("<x>", Channel::CONTENT.mask(), Then::Erase);
/// let mut driver = Driver::new(Table::new([edge])?, DriverSettings::default());
/// driver.mark(Stretch { from: 0, to: 3 });
/// let mut text = String::new();
/// let mut sink = |event: Event<'_>| {
///     if let Event::Content(piece) = event {
///         text.push_str(piece);
///     }
/// };
/// driver.push("<x>a<x>b", &mut NoBodies, &mut sink)?;
/// driver.finish(End::Stop, &mut NoBodies, &mut sink)?;
/// assert_eq!(text, "<x>ab");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The stream offset of the first byte.
    pub from: u64,
    /// The stream offset after the last byte.
    pub to: u64,
}

/// The announced stretches of the pending text and of the text to come, in order and disjoint.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stretches {
    queue: VecDeque<Stretch>,
}

impl Stretches {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    pub(crate) fn push(&mut self, stretch: Stretch) {
        self.queue.push_back(stretch);
    }

    /// Forgets stretches that end at or before `base`.
    pub(crate) fn forget_until(&mut self, base: u64) {
        while self.queue.front().is_some_and(|stretch| stretch.to <= base) {
            self.queue.pop_front();
        }
    }

    /// Returns whether a stretch shares bytes with `from..to`.
    pub(crate) fn is_literal(&self, from: u64, to: u64) -> bool {
        let first = self.queue.partition_point(|stretch| stretch.to <= from);
        self.queue.get(first).is_some_and(|stretch| stretch.from < to)
    }
}
