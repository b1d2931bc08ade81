//! Stretches of the stream that the host knows more about than their bytes show.

use alloc::{collections::VecDeque, string::String};

/// A stretch of the stream in which markers are text, or which is shown differently. See
/// [`crate::Driver::mark`].
///
/// ```
/// use jail_match::{Channel, Driver, DriverSettings, Edge, End, Event, NoBodies, Stretch, Table, Then};
/// let edge = Edge::new("<x>", Channel::CONTENT.mask(), Then::Erase);
/// let mut driver = Driver::new(Table::new([edge])?, DriverSettings::default());
/// driver.mark(Stretch { from: 0, to: 3, literal: true, shown: None });
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The stream offset of the first byte.
    pub from: u64,
    /// The stream offset after the last byte.
    pub to: u64,
    /// Whether everything in the stretch is text, whatever it looks like.
    pub literal: bool,
    /// The text emitted in place of the stretch where the stretch is text; `None` for its own
    /// bytes.
    pub shown: Option<String>,
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

    /// Returns the stretches that share bytes with `from..to`.
    pub(crate) fn in_range_mut(
        &mut self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = &mut Stretch> {
        let first = self.queue.partition_point(|stretch| stretch.to <= from);
        self.queue.range_mut(first..).take_while(move |stretch| stretch.from < to)
    }

    /// Returns whether a literal stretch shares bytes with `from..to`.
    pub(crate) fn is_literal(&self, from: u64, to: u64) -> bool {
        let first = self.queue.partition_point(|stretch| stretch.to <= from);
        let mut near = self.queue.range(first..).take_while(|stretch| stretch.from < to);
        near.any(|stretch| stretch.literal)
    }
}
