//! Collector that joins a guard's events into a message.

use serde_json::{Value, json};
use stream_lifecycle::{ByteBudget, Collector, FinishInfo, ItemInfo};
use toolcall_parsers::{Call, Diagnostic, Event, Message, OwnedEvent};

/// A collector of a guard's events. The aggregate has the form of [`message_json`], and equals the
/// result of parsing the whole text at once.
#[derive(Debug, Clone)]
pub struct MessageCollector {
    message: Message,
    budget: ByteBudget,
}

impl MessageCollector {
    /// Memory of a call or a diagnostic without its text, and of its object in the aggregate.
    const ENTRY: usize = {
        let node = 12 * (size_of::<String>() + size_of::<Value>());
        let (call, diagnostic) = (size_of::<Call>(), size_of::<Diagnostic>());
        node + if call > diagnostic { call } else { diagnostic }
    };

    /// Creates a collector that keeps at most `limit` bytes. Later events are not in the aggregate.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { message: Message::default(), budget: ByteBudget::new(limit) }
    }

    fn add(&mut self, event: Event<'_>) {
        let fits = match event {
            Event::Content(text) => Event::Content(self.budget.take_text(text)),
            Event::Reasoning(text) => Event::Reasoning(self.budget.take_text(text)),
            Event::CallArguments { index, fragment } => {
                Event::CallArguments { index, fragment: self.budget.take_text(fragment) }
            }
            Event::CallStart { id, name, .. } => {
                let bytes = id.len().saturating_add(name.len());
                if !self.budget.take(bytes.saturating_add(Self::ENTRY)) {
                    return;
                }
                event
            }
            Event::Diagnostic(_) if !self.budget.take(Self::ENTRY) => return,
            // The end of a cut call is not recorded.
            Event::CallEnd { .. } if self.budget.is_exceeded() => return,
            _ => event,
        };
        self.message.collect(fits);
    }
}

impl Default for MessageCollector {
    /// Creates a collector that keeps at most 16 MiB.
    fn default() -> Self {
        Self::with_limit(ByteBudget::DEFAULT)
    }
}

impl<E> Collector<OwnedEvent, E> for MessageCollector {
    fn observe(&mut self, item: &OwnedEvent) -> Result<(), E> {
        self.add(item.as_event());
        Ok(())
    }

    fn finish(self: Box<Self>, _: FinishInfo<'_>) -> Value {
        message_json(&self.message)
    }

    fn truncated(&self) -> bool {
        self.budget.is_exceeded()
    }

    fn describe(&self, item: &OwnedEvent) -> ItemInfo {
        let (text, visible) = match item {
            OwnedEvent::Content(text) => (text.as_str(), !text.is_empty()),
            OwnedEvent::Reasoning(text) | OwnedEvent::CallArguments { fragment: text, .. } => {
                (text.as_str(), false)
            }
            _ => ("", false),
        };
        let mut info = ItemInfo::default();
        (info.bytes, info.visible) = (text.len() as u64, visible);
        info
    }
}

/// Converts a message to JSON: `content`, `reasoning`, `calls` (`id`, `name`, `arguments` as text,
/// `outcome`), `diagnostics` (`kind`, `at`, `bytes`, `call`).
#[must_use]
pub fn message_json(message: &Message) -> Value {
    let call = |call: &Call| {
        json!({
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "outcome": call.outcome.map(|outcome| outcome.name()),
        })
    };
    let diagnostic = |Diagnostic { kind, at, bytes, call, .. }: &Diagnostic| json!({"kind": kind.name(), "at": at, "bytes": bytes, "call": call});
    json!({
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": message.calls.iter().map(call).collect::<Vec<_>>(),
        "diagnostics": message.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    })
}
