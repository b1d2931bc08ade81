//! Collector that joins chat-completion chunks into a response.

use std::collections::BTreeMap;

use serde_json::Value;

use stream_lifecycle::{ByteBudget, Collector, FinishInfo, ItemInfo, ResponseInfo};

use crate::chat::{Aggregator, Chunk, Delta};
use crate::limits::MAX_TRACKED_CHOICES;

/// A collector of chunks, guarded or not, with any number of choices. The aggregate is the response
/// as JSON.
///
/// The answer is whole when every choice so far has a known finish reason (`stop`, `length`,
/// `tool_calls`, `content_filter`, `function_call`) and the total usage has arrived.
#[derive(Debug, Clone)]
pub struct ChatCollector {
    response: Aggregator,
    /// Whether each choice has finished, for the first choices up to a limit.
    finished: BTreeMap<u32, bool>,
    counted: bool,
}

impl ChatCollector {
    /// Creates a collector that keeps at most `limit` bytes of text and other data; see
    /// [`Aggregator::with_limit`].
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let response = Aggregator::with_limit(limit);
        Self { response, finished: BTreeMap::new(), counted: false }
    }
}

impl Default for ChatCollector {
    /// Creates a collector that keeps at most 16 MiB.
    fn default() -> Self {
        Self::with_limit(ByteBudget::DEFAULT)
    }
}

impl<E> Collector<Chunk, E> for ChatCollector {
    fn observe(&mut self, item: &Chunk) -> Result<(), E> {
        self.response.push(item);
        for choice in &item.choices {
            let known = choice.finish_reason.value().is_some_and(|reason| is_known(reason));
            if self.finished.len() <= MAX_TRACKED_CHOICES {
                *self.finished.entry(choice.index).or_default() |= known;
            }
        }
        let total = item.usage.value().and_then(|usage| usage.get("total_tokens"));
        self.counted |= total.is_some_and(Value::is_u64);
        Ok(())
    }

    fn finish(self: Box<Self>, _: FinishInfo<'_>) -> Value {
        // Cannot fail, because the response was read from JSON.
        serde_json::to_value(self.response.finish()).unwrap_or_default()
    }

    fn is_whole(&self) -> bool {
        let count = self.finished.len();
        self.counted
            && (1..=MAX_TRACKED_CHOICES).contains(&count)
            && self.finished.values().all(|done| *done)
    }

    fn truncated(&self) -> bool {
        self.response.is_truncated()
    }

    fn response(&self) -> ResponseInfo {
        let response = self.response.so_far();
        let text = |name: &str| response.fields.get(name)?.as_str().map(str::to_owned);
        let mut info = ResponseInfo::default();
        (info.id, info.model) = (text("id"), text("model"));
        let reasons = response.choices.iter().filter_map(|choice| choice.finish_reason.value());
        info.finish_reasons = reasons.cloned().collect();
        info.usage = response.usage.value().cloned();
        info
    }

    fn describe(&self, item: &Chunk) -> ItemInfo {
        let mut info = ItemInfo::default();
        info.usage = item.usage.value().cloned();
        for choice in &item.choices {
            info.choices.push(choice.index);
            info.finish.extend(choice.finish_reason.value().cloned());
            choice.delta.deltas(|delta| {
                let (text, visible) = match delta {
                    Delta::Content(text) => (text, true),
                    Delta::Reasoning(text) | Delta::CallArguments { fragment: text, .. } => {
                        (text, false)
                    }
                    _ => return,
                };
                info.bytes = info.bytes.saturating_add(text.len() as u64);
                info.visible |= visible;
            });
        }
        info
    }
}

fn is_known(reason: &str) -> bool {
    matches!(reason, "stop" | "length" | "tool_calls" | "content_filter" | "function_call")
}
