//! Streams of other events than upstream's. Chunks are read, guarded, and encoded as new events.

use std::borrow::Cow;

use llm_stream_guard::{
    End,
    chat::{
        ChatChunk as _, ChatError, ChatGuard, ChatNote, ChatSink, ChatSseError, ChatStep, Chunk,
        EventData, Note, SplitEscapes, Violation, condense, expand,
    },
    sse::{Decoder, SseEvent, SseItem, SseLimitPolicy, SseLimits, TooLong},
};
use serde_json::Value;

use super::Machine;
use crate::error::Fault;

/// Writes what a guard releases as the events of a dialect.
pub(crate) trait Encoder: Send + 'static {
    /// Converts an item of upstream into a chunk, or returns `None` for other items.
    fn read(&self, said: Value) -> Option<Chunk> {
        said.into_chunk().ok()
    }

    /// Writes the events of a step.
    fn step(&mut self, step: ChatStep<'_>, out: &mut Vec<u8>);

    /// Writes the end of a whole answer. `stopped` is set if a stop string of the request ended it.
    fn end(&mut self, stopped: bool, out: &mut Vec<u8>);

    /// Writes the end of an answer that broke off.
    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>);

    /// Writes a comment that keeps the connection alive.
    fn keep_alive(&self, out: &mut Vec<u8>);
}

/// A machine that reads chunks and writes the events of an encoder.
#[derive(Debug)]
pub(crate) struct Encoded<E> {
    decoder: Decoder,
    wire: Wire<E>,
}

#[derive(Debug)]
struct Wire<E> {
    guard: ChatGuard,
    encoder: E,
    split: SplitEscapes,
    phase: AnswerPhase,
    bytes: BytesPhase,
}

/// The state of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerPhase {
    /// Chunks are taken and guarded.
    Open,
    /// The guard failed. The fault that follows ends the answer.
    Failed(ChatError),
    /// The client has received the last event.
    Over,
    /// The client has received the error that upstream reported.
    Reported,
}

/// The state of upstream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BytesPhase {
    /// More bytes may follow.
    Open,
    /// No bytes follow, so an open event was cut.
    Last,
    /// The last event was cut.
    Cut,
}

/// Encodes what a guard releases.
struct EncodingSink<'o, E> {
    encoder: &'o mut E,
    out: &'o mut Vec<u8>,
}

impl<E: Encoder> ChatSink for EncodingSink<'_, E> {
    fn step(&mut self, step: ChatStep<'_>) {
        self.encoder.step(step, self.out);
    }

    fn note(&mut self, note: ChatNote) {
        log_note(note);
    }
}

impl<E: Encoder> Encoded<E> {
    /// Creates a stream of one choice, guarded by clones of `guard`.
    #[must_use]
    pub(crate) fn new(guard: ChatGuard, encoder: E) -> Self {
        let (phase, bytes) = (AnswerPhase::Open, BytesPhase::Open);
        let wire = Wire { guard, encoder, split: SplitEscapes::default(), phase, bytes };
        let limits = SseLimits::default().policy(SseLimitPolicy::Error);
        Self { decoder: Decoder::new().lenient().limits(limits), wire }
    }
}

impl<E: Encoder> Machine for Encoded<E> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, wire } = self;
        let from = out.len();
        let read = decoder.push(bytes, |item| wire.item(item, out));
        expand_from(from, out);
        wire.check(read)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, wire } = self;
        wire.bytes = BytesPhase::Last;
        let from = out.len();
        let read = decoder.finish(|item| wire.item(item, out));
        if read.is_ok() {
            wire.end_bare(out);
        }
        expand_from(from, out);
        wire.check(read)
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        let from = out.len();
        self.wire.fail(fault, out);
        expand_from(from, out);
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
        matches!(self.wire.phase, AnswerPhase::Over | AnswerPhase::Reported)
    }

    fn upstream_failed(&self) -> bool {
        self.wire.phase == AnswerPhase::Reported
    }
}

impl<E: Encoder> Wire<E> {
    fn check(&self, read: Result<(), TooLong>) -> Result<(), ChatSseError> {
        match self.phase {
            AnswerPhase::Failed(error) => Err(ChatSseError::Chat(error)),
            _ => read.map_err(ChatSseError::Event),
        }
    }

    fn item(&mut self, item: SseItem<'_>, out: &mut Vec<u8>) {
        // Items without data are for the proxy, not for its client.
        if let SseItem::Event(event) = item
            && let Some(data) = event.data
            && self.phase == AnswerPhase::Open
        {
            self.data(data, event, out);
        }
    }

    fn data(&mut self, data: &[u8], event: SseEvent<'_>, out: &mut Vec<u8>) {
        let came = String::from_utf8_lossy(data);
        let joined = self.split.join(&came);
        let name = if event.name == Some(b"error") { "error" } else { "" };
        let read = match condense(joined.as_deref().unwrap_or(&came)) {
            Ok(text) => Some(EventData::read(name, &text)),
            // Whatever an event called `error` has, it is one.
            Err(_) => (name == "error").then_some(EventData::Error(Value::Null)),
        };
        match read {
            Some(EventData::Done) => self.end(|guard, sink| guard.finish(End::Stop, sink), out),
            Some(EventData::Error(said)) => {
                self.fail(&Fault::reported(&said), out);
                self.phase = AnswerPhase::Reported;
            }
            Some(EventData::Json(said)) => {
                if let Some(chunk) = self.encoder.read(said) {
                    self.run(out, |guard, sink| guard.push(chunk, sink));
                }
            }
            Some(EventData::NotJson(_)) if self.bytes == BytesPhase::Last && !event.closed => {
                self.bytes = BytesPhase::Cut;
            }
            Some(EventData::NotJson(_)) | None => {
                tracing::warn!("upstream sent an event that cannot be read, which was dropped");
            }
            // White space, and text outside of a chunk.
            Some(_) => {}
        }
    }

    /// Runs a step of the guard, and writes the released events.
    fn run(
        &mut self,
        out: &mut Vec<u8>,
        step: impl FnOnce(&mut ChatGuard, &mut dyn ChatSink) -> Result<(), ChatError>,
    ) {
        let Self { guard, encoder, .. } = self;
        if let Err(error) = step(guard, &mut EncodingSink { encoder, out }) {
            self.phase = AnswerPhase::Failed(error);
        }
    }

    /// Ends the answer after bytes without an end signal from upstream.
    fn end_bare(&mut self, out: &mut Vec<u8>) {
        if self.bytes == BytesPhase::Cut && !self.guard.is_finished() {
            self.end(|guard, sink| guard.cut_off(sink), out);
        } else {
            self.end(|guard, sink| guard.end(sink), out);
        }
    }

    fn end(
        &mut self,
        step: impl FnOnce(&mut ChatGuard, &mut dyn ChatSink) -> Result<(), ChatError>,
        out: &mut Vec<u8>,
    ) {
        if self.phase == AnswerPhase::Open {
            self.run(out, step);
        }
        if self.phase == AnswerPhase::Open {
            self.encoder.end(self.guard.stopped() > 0, out);
            self.phase = AnswerPhase::Over;
        }
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        if matches!(self.phase, AnswerPhase::Open | AnswerPhase::Failed(_)) {
            self.run(out, |guard, sink| guard.finish(End::Aborted, sink));
            self.encoder.fail(fault, out);
            self.phase = AnswerPhase::Over;
        }
    }
}

/// Restores the condensed values in the bytes from this offset on.
fn expand_from(from: usize, out: &mut Vec<u8>) {
    let written = out.get(from..).and_then(|written| str::from_utf8(written).ok());
    if let Some(Cow::Owned(expanded)) = written.map(expand) {
        out.truncate(from);
        out.extend_from_slice(expanded.as_bytes());
    }
}

/// Logs notes that a client cannot see in its answer.
pub(super) fn log_note(note: ChatNote) {
    match note.note {
        Note::Violation(Violation::Unreadable) => {
            tracing::warn!("upstream sent choices that cannot be read");
        }
        Note::Violation(Violation::NamelessCall) => {
            tracing::warn!("upstream sent a call without a name, which was dropped");
        }
        _ => {}
    }
}

/// Writes an event named after its `type`.
pub(super) fn write(event: &Value, out: &mut Vec<u8>) {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    out.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    write_json(event, out);
    out.extend_from_slice(b"\n\n");
}

/// Writes a value as JSON.
pub(super) fn write_json(value: &Value, out: &mut Vec<u8>) {
    // Strings, numbers and maps with string keys are always valid JSON.
    let _ = serde_json::to_writer(out, value);
}
