//! Streams whose events are not upstream's: chunks are read, guarded, and written anew.

use llm_stream_guard::{
    End,
    chat::{ChatChunk as _, ChatError, ChatGuard, ChatSseError, Chunk, from_json},
    sse::{Decoder, Event, Item, TooLong},
};
use serde_json::Value;

use super::Machine;
use crate::error::{Fault, Kind};

/// Writes clean chunks as the events of a dialect.
pub trait Encoder: Send + 'static {
    /// What upstream said, as a chunk; `None` if it is none.
    fn read(&self, said: Value) -> Option<Chunk> {
        said.into_chunk().ok()
    }

    /// What a chunk says.
    fn chunk(&mut self, chunk: &Chunk, out: &mut Vec<u8>);

    /// The answer is whole. `stopped`: a stop string of the request's ended it.
    fn end(&mut self, stopped: bool, out: &mut Vec<u8>);

    /// The answer broke off.
    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>);

    /// A sign of life.
    fn keep_alive(&self, out: &mut Vec<u8>);
}

/// A machine that reads chunks and writes what an encoder makes of them.
#[derive(Debug)]
pub struct Encoded<E> {
    decoder: Decoder,
    wire: Wire<E>,
}

#[derive(Debug)]
struct Wire<E> {
    guard: ChatGuard,
    encoder: E,
    over: bool,
    failed: Option<ChatError>,
    /// Kept for its capacity.
    chunks: Vec<Chunk>,
}

impl<E: Encoder> Encoded<E> {
    /// A stream of one choice, which clones of `guard` guard.
    #[must_use]
    pub fn new(guard: ChatGuard, encoder: E) -> Self {
        let wire = Wire { guard, encoder, over: false, failed: None, chunks: Vec::new() };
        Self { decoder: Decoder::new().lenient(), wire }
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
        let read = decoder.finish(|item| wire.item(item, out));
        wire.end(out);
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
}

impl<E: Encoder> Wire<E> {
    fn check(&self, read: Result<(), TooLong>) -> Result<(), ChatSseError> {
        match self.failed {
            Some(error) => Err(ChatSseError::Chat(error)),
            None => read.map_err(ChatSseError::Event),
        }
    }

    fn item(&mut self, item: Item<'_>, out: &mut Vec<u8>) {
        // What carries no data is for upstream's client, which we are.
        if let Item::Event(Event { data: Some(data), name, .. }) = item
            && !self.over
        {
            self.data(data, name == Some(b"error"), out);
        }
    }

    fn data(&mut self, data: &[u8], is_error: bool, out: &mut Vec<u8>) {
        if data.trim_ascii() == b"[DONE]" {
            return self.end(out);
        }
        let text = String::from_utf8_lossy(data);
        let value = from_json::<Value>(&text).unwrap_or_default();
        if is_error || value.is_error() {
            let paths = ["/error/message", "/message", "/error"];
            let said = paths.iter().find_map(|path| value.pointer(path)?.as_str());
            let said = said.unwrap_or("upstream gave no reason");
            return self.fail(&Fault::new(Kind::Upstream, said), out);
        }
        if let Some(chunk) = self.encoder.read(value) {
            self.run(out, |guard, chunks| guard.push(chunk, chunks));
        }
    }

    /// Lets the guard do something, and writes what it sets free.
    fn run(
        &mut self,
        out: &mut Vec<u8>,
        step: impl FnOnce(&mut ChatGuard, &mut Vec<Chunk>) -> Result<(), ChatError>,
    ) {
        let mut chunks = std::mem::take(&mut self.chunks);
        self.failed = self.failed.or(step(&mut self.guard, &mut chunks).err());
        chunks.iter().for_each(|chunk| self.encoder.chunk(chunk, out));
        chunks.clear();
        self.chunks = chunks;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.over, true) {
            self.run(out, |guard, chunks| guard.finish(End::Stop, chunks));
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
            self.run(out, |guard, chunks| guard.finish(End::Aborted, chunks));
            self.encoder.fail(fault, out);
        }
    }
}

/// Writes an event that is called as its `type` says.
pub(super) fn write(event: &Value, out: &mut Vec<u8>) {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    out.extend_from_slice(format!("event: {name}\ndata: {event}\n\n").as_bytes());
}
