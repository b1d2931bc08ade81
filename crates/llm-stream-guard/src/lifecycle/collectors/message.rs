//! Our own events, joined to the message they make.

use serde_json::{Value, json};
use toolcall_parsers::{Call, Diagnostic, Event, Message, OwnedEvent};

use super::{
    super::{
        collector::{Collector, Finish},
        event::ItemInfo,
    },
    Room,
};

/// Joins a guard's events. The aggregate is that of [`message_json`]: the same as parsing the
/// whole text at once.
#[derive(Debug, Clone)]
pub struct MessageCollector {
    message: Message,
    room: Room,
}

impl MessageCollector {
    /// What a call or a diagnostic costs beside its text.
    const ENTRY: usize = if size_of::<Call>() > size_of::<Diagnostic>() {
        size_of::<Call>()
    } else {
        size_of::<Diagnostic>()
    };

    /// A collector that keeps at most `limit` bytes: what comes later is not in the aggregate.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { message: Message::default(), room: Room::new(limit) }
    }

    fn add(&mut self, event: Event<'_>) {
        let fits = match event {
            Event::Content(text) => Event::Content(self.room.cut(text)),
            Event::Reasoning(text) => Event::Reasoning(self.room.cut(text)),
            Event::CallArguments { index, fragment } => {
                Event::CallArguments { index, fragment: self.room.cut(fragment) }
            }
            Event::CallStart { id, name, .. } => {
                if !self.room.take(Self::ENTRY + id.len() + name.len()) {
                    return;
                }
                event
            }
            Event::Diagnostic(_) if !self.room.take(Self::ENTRY) => return,
            // A call that was cut has not ended as far as is known.
            Event::CallEnd { .. } if self.room.truncated => return,
            _ => event,
        };
        self.message.collect(fits);
    }
}

impl Default for MessageCollector {
    /// Keeps at most 16 MiB.
    fn default() -> Self {
        Self::with_limit(Room::DEFAULT)
    }
}

impl<E> Collector<OwnedEvent, E> for MessageCollector {
    fn observe(&mut self, item: &OwnedEvent) -> Result<(), E> {
        self.add(item.as_event());
        Ok(())
    }

    fn finish(self: Box<Self>, _: Finish<'_>) -> Value {
        message_json(&self.message)
    }

    fn truncated(&self) -> bool {
        self.room.truncated
    }

    fn describe(&self, item: &OwnedEvent) -> ItemInfo {
        let (text, visible) = match item {
            OwnedEvent::Content(text) => (text.as_str(), !text.is_empty()),
            OwnedEvent::Reasoning(text) | OwnedEvent::CallArguments { fragment: text, .. } => {
                (text.as_str(), false)
            }
            _ => ("", false),
        };
        ItemInfo { bytes: text.len() as u64, visible, ..ItemInfo::default() }
    }
}

/// A message as JSON: `content`, `reasoning`, `calls` (`id`, `name`, `arguments` as text,
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
