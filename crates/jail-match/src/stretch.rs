//! What a caller knows about stretches of the stream before they are read.

use alloc::{collections::VecDeque, string::String};

/// A stretch of the stream that is read in a way of its own; see [`crate::Driver::mark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Offset of its first byte.
    pub from: u64,
    /// Offset behind its last.
    pub to: u64,
    /// Whether markers may stand in it.
    pub literal: bool,
    /// What is emitted in its place if it turns out to be text; `None` for itself.
    pub shown: Option<String>,
}

/// The stretches that lie in the text held, or ahead; in order, disjoint.
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

    /// Everything before `base` is done with.
    pub(crate) fn forget_until(&mut self, base: u64) {
        while self.queue.front().is_some_and(|stretch| stretch.to <= base) {
            self.queue.pop_front();
        }
    }

    /// The stretches that share bytes with `from..to`.
    pub(crate) fn in_range_mut(
        &mut self,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = &mut Stretch> {
        let first = self.queue.partition_point(|stretch| stretch.to <= from);
        self.queue.range_mut(first..).take_while(move |stretch| stretch.from < to)
    }

    /// Whether literal text stands in `from..to`.
    pub(crate) fn is_literal(&self, from: u64, to: u64) -> bool {
        let first = self.queue.partition_point(|stretch| stretch.to <= from);
        let mut near = self.queue.range(first..).take_while(|stretch| stretch.from < to);
        near.any(|stretch| stretch.literal)
    }
}
