//! The text of events and chunks that a check of passages reads.

use toolcall_parsers::OwnedEvent;

use crate::chat::{Chunk, Delta};

/// Reads the content of events, for a [`stream_lifecycle::Window`]: one text.
pub fn event_text(event: &OwnedEvent, on: &mut dyn FnMut(u64, &str)) {
    if let OwnedEvent::Content(text) = event {
        on(0, text);
    }
}

/// Reads the content of chunks, parts included, for a [`stream_lifecycle::Window`]: a text for
/// each choice, by its index.
pub fn chunk_text(chunk: &Chunk, on: &mut dyn FnMut(u64, &str)) {
    for choice in &chunk.choices {
        let id = u64::from(choice.index);
        choice.delta.deltas(|delta| {
            if let Delta::Content(text) = delta {
                on(id, text);
            }
        });
    }
}
