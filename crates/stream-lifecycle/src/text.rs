//! A collector of plain text.

use serde_json::Value;

use crate::{
    budget::ByteBudget,
    collector::{Collector, FinishInfo},
    event::ItemInfo,
};

/// A collector that joins streamed text. The aggregate is a string.
///
/// [`crate::Lifecycle`] has an example.
#[derive(Debug, Clone)]
pub struct TextCollector {
    text: String,
    budget: ByteBudget,
}

impl TextCollector {
    /// Creates a collector that keeps at most `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { text: String::new(), budget: ByteBudget::new(limit) }
    }
}

impl Default for TextCollector {
    /// Creates a collector that keeps at most 16 MiB.
    fn default() -> Self {
        Self::with_limit(ByteBudget::DEFAULT)
    }
}

impl<T: AsRef<str>, E> Collector<T, E> for TextCollector {
    fn observe(&mut self, item: &T) -> Result<(), E> {
        self.text.push_str(self.budget.take_text(item.as_ref()));
        Ok(())
    }

    fn finish(self: Box<Self>, _: FinishInfo<'_>) -> Value {
        self.text.into()
    }

    fn truncated(&self) -> bool {
        self.budget.is_exceeded()
    }

    fn describe(&self, item: &T) -> ItemInfo {
        let bytes = item.as_ref().len();
        ItemInfo { bytes: bytes as u64, visible: bytes > 0, ..ItemInfo::default() }
    }
}
