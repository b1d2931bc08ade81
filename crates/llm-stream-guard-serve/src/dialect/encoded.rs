//! Streams whose events are not upstream's: chunks are read, guarded, and written anew.

use llm_stream_guard::{
    End, Outcome,
    chat::{
        ChatChunk as _, ChatError, ChatGuard, ChatNote, ChatSink, ChatSseError, Chunk, Note,
        from_json,
    },
    sse::{Decoder, SseEvent, SseItem, SseLimitPolicy, SseLimits, TooLong},
};
use serde_json::Value;

use super::Machine;
use crate::error::Fault;

/// Writes clean chunks as the events of a dialect.
pub(crate) trait Encoder: Send + 'static {
    /// Converts an item of upstream into a chunk, or returns `None` for other items.
    fn read(&self, said: Value) -> Option<Chunk> {
        said.into_chunk().ok()
    }

    /// The call with this index in the first choice broke or was cut; its last chunk follows.
    fn broke(&mut self, index: u32) {
        let _ = index;
    }

    /// Writes the events of a chunk.
    fn chunk(&mut self, chunk: &Chunk, out: &mut Vec<u8>);

    /// The answer is whole. `stopped`: a stop string of the request's ended it.
    fn end(&mut self, stopped: bool, out: &mut Vec<u8>);

    /// The answer broke off.
    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>);

    /// Writes a comment that keeps the connection alive.
    fn keep_alive(&self, out: &mut Vec<u8>);
}

/// A machine that reads chunks and writes what an encoder makes of them.
#[derive(Debug)]
pub(crate) struct Encoded<E> {
    decoder: Decoder,
    wire: Wire<E>,
}

#[derive(Debug)]
struct Wire<E> {
    guard: ChatGuard,
    encoder: E,
    over: bool,
    /// Upstream reported an error.
    reported: bool,
    /// No bytes follow: an event that is open was cut.
    ends: bool,
    /// The last event was cut.
    half: bool,
    failed: Option<ChatError>,
    clean: Clean,
}

/// A sink for the chunks that a guard releases.
#[derive(Debug, Default)]
struct Clean {
    chunks: Vec<Chunk>,
    /// Indices of calls of the first choice that broke or were cut.
    broken: Vec<u32>,
}

impl ChatSink for Clean {
    fn chunk(&mut self, chunk: Chunk, _: u64) {
        self.chunks.push(chunk);
    }

    fn note(&mut self, note: ChatNote) {
        self.broken.extend(broken_call(note));
    }
}

/// Returns the index of the first choice's call that a note reports as malformed or cut.
pub(crate) fn broken_call(note: ChatNote) -> Option<u32> {
    match note {
        ChatNote { choice: 0, note: Note::CallEnd { index, outcome } } => {
            (!matches!(outcome, Outcome::Complete | Outcome::Repaired)).then_some(index)
        }
        _ => None,
    }
}

impl<E: Encoder> Encoded<E> {
    /// A stream of one choice, which clones of `guard` guard.
    #[must_use]
    pub(crate) fn new(guard: ChatGuard, encoder: E) -> Self {
        let wire = Wire {
            guard,
            encoder,
            over: false,
            reported: false,
            ends: false,
            half: false,
            failed: None,
            clean: Clean::default(),
        };
        let limits = SseLimits::default().policy(SseLimitPolicy::Error);
        Self { decoder: Decoder::new().lenient().limits(limits), wire }
    }
}

impl<E: Encoder> Machine for Encoded<E> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, wire } = self;
        let read = decoder.push(bytes, |item| wire.item(item, out));
        wire.check(read)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, wire } = self;
        wire.ends = true;
        let read = decoder.finish(|item| wire.item(item, out));
        if read.is_ok() {
            wire.end_bare(out);
        }
        wire.check(read)
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.wire.fail(fault, out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        self.wire.encoder.keep_alive(out);
    }

    fn usage(&self) -> Option<&Value> {
        self.wire.guard.usage()
    }

    fn held(&self) -> usize {
        self.decoder.held().saturating_add(self.wire.guard.held())
    }

    fn stopped(&self) -> usize {
        self.wire.guard.stopped()
    }

    fn uncalled(&self) -> usize {
        self.wire.guard.uncalled()
    }

    fn is_over(&self) -> bool {
        self.wire.over
    }

    fn upstream_failed(&self) -> bool {
        self.wire.reported
    }
}

impl<E: Encoder> Wire<E> {
    fn check(&self, read: Result<(), TooLong>) -> Result<(), ChatSseError> {
        match self.failed {
            Some(error) => Err(ChatSseError::Chat(error)),
            None => read.map_err(ChatSseError::Event),
        }
    }

    fn item(&mut self, item: SseItem<'_>, out: &mut Vec<u8>) {
        // Items without data are for upstream's client, which is this proxy.
        if let SseItem::Event(SseEvent { data: Some(data), name, closed, .. }) = item
            && !self.over
        {
            self.data(data, name == Some(b"error"), closed, out);
        }
    }

    fn data(&mut self, data: &[u8], is_error: bool, closed: bool, out: &mut Vec<u8>) {
        if data.trim_ascii() == b"[DONE]" {
            return self.end(|guard, clean| guard.finish(End::Stop, clean), out);
        }
        let text = String::from_utf8_lossy(data);
        let value = match from_json::<Value>(&text) {
            Ok(value) => value,
            Err(_) if self.ends && !closed => {
                self.half = true;
                return;
            }
            Err(_) => Value::Null,
        };
        if is_error || value.is_error() {
            self.reported = true;
            return self.fail(&Fault::reported(&value), out);
        }
        if let Some(chunk) = self.encoder.read(value) {
            self.run(out, |guard, clean| guard.push(chunk, clean));
        }
    }

    /// Lets the guard do something, and writes what it sets free.
    fn run(
        &mut self,
        out: &mut Vec<u8>,
        step: impl FnOnce(&mut ChatGuard, &mut Clean) -> Result<(), ChatError>,
    ) {
        self.failed = self.failed.or(step(&mut self.guard, &mut self.clean).err());
        let Self { clean, encoder, .. } = self;
        clean.broken.drain(..).for_each(|index| encoder.broke(index));
        clean.chunks.drain(..).for_each(|chunk| encoder.chunk(&chunk, out));
    }

    /// The bytes ended without a word of upstream's.
    fn end_bare(&mut self, out: &mut Vec<u8>) {
        if self.half && !self.guard.is_finished() {
            self.end(ChatGuard::cut_off, out);
        } else {
            self.end(ChatGuard::end, out);
        }
    }

    fn end(
        &mut self,
        step: impl FnOnce(&mut ChatGuard, &mut Clean) -> Result<(), ChatError>,
        out: &mut Vec<u8>,
    ) {
        if !std::mem::replace(&mut self.over, true) {
            self.run(out, step);
            if self.failed.is_none() {
                self.encoder.end(self.guard.stopped() > 0, out);
            } else {
                // The fault that follows ends it.
                self.over = false;
            }
        }
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.over, true) {
            self.run(out, |guard, clean| guard.finish(End::Aborted, clean));
            self.encoder.fail(fault, out);
        }
    }
}

/// Writes an event named after its `type`.
pub(super) fn write(event: &Value, out: &mut Vec<u8>) {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
}
