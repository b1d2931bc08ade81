//! Readers of the text of events and chunks, for checks of passages.

use toolcall_parsers::OwnedEvent;

use crate::chat::{Chunk, Delta};

/// Reads the content of events as one text, for a [`stream_lifecycle::Window`].
pub fn event_text(event: &OwnedEvent, on: &mut dyn FnMut(u64, &str)) {
    if let OwnedEvent::Content(text) = event {
        on(0, text);
    }
}

/// Reads the content of chunks, including parts, for a [`stream_lifecycle::Window`]. Each choice is
/// a separate text, numbered by its index.
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
