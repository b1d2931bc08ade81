//! From the events of a stream to chunks, and back: what is unchanged stays the bytes it was.

mod ending;

use std::mem::take;

use jail_match::End;
use serde_json::Value;
use sse_events::{Decoder, Fields, SseEvent, SseItem};

use super::{
    chunk::Chunk,
    convert::{NoChunk, ReadChunk, read},
    error::{ChatError, Failures},
    frame::{Came, Frames},
    guard::ChatGuard,
    note::{ChatNote, ChatSink, Note, Violation},
    sse::{Done, SseSink},
    step::ChatStep,
};

pub(super) use self::ending::Ending;
use self::ending::is_json;

pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";

#[derive(Debug, Clone)]
pub(super) struct SseRewriter {
    pub(super) guard: ChatGuard,
    pub(super) done: Done,
    pub(super) failures: Failures,
    /// Whether `[DONE]` arrived.
    pub(super) came: bool,
    pub(super) ended: bool,
    pub(super) dropped: u64,
    /// No bytes follow: an event that is open was cut.
    pub(super) ends: bool,
    /// The last event was cut and dropped.
    half: bool,
    /// An error of upstream ended it.
    pub(super) broken: bool,
    failed: Option<ChatError>,
    /// Whether the client received the reason of the end.
    told: bool,
    /// Events whose chunks wait in the guard because they may be the tail of the stream.
    tail: Vec<Waiting>,
    frames: Frames,
    /// Kept for their capacity.
    chunks: Vec<(Chunk, u64)>,
    text: Vec<u8>,
    json: Vec<u8>,
}

/// An event that waits.
#[derive(Debug, Clone)]
struct Waiting {
    /// The number of its chunk.
    seq: u64,
    raw: Vec<u8>,
    came: Option<Chunk>,
}

impl SseRewriter {
    pub(super) fn new(guard: ChatGuard) -> Self {
        Self {
            guard,
            done: Done::default(),
            failures: Failures::default(),
            came: false,
            ended: false,
            dropped: 0,
            ends: false,
            half: false,
            broken: false,
            failed: None,
            told: false,
            tail: Vec::new(),
            frames: Frames::default(),
            chunks: Vec::new(),
            text: Vec::new(),
            json: Vec::new(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.guard.reset();
        self.tail.clear();
        self.frames.clear();
        (self.came, self.ended, self.dropped, self.failed) = (false, false, 0, None);
        (self.ends, self.half) = (false, false);
        (self.broken, self.told) = (false, false);
    }

    /// Checks the time limits of jails.
    pub(super) fn tick<S: SseSink + ?Sized>(&mut self, sink: &mut S) {
        if self.ended {
            return;
        }
        let mut chunks = take(&mut self.chunks);
        let result = self.guard.tick(&mut CollectEvents { chunks: &mut chunks, sink });
        for (chunk, _) in chunks.drain(..) {
            self.write(&chunk, EventPlace::Own, sink);
        }
        self.chunks = chunks;
        self.failed = result.err();
    }

    pub(super) fn item<S: SseSink + ?Sized>(&mut self, item: SseItem<'_>, sink: &mut S) {
        if self.failed.is_some() {
            return;
        }
        match item {
            SseItem::Event(event) => self.event(event, sink),
            SseItem::Raw(raw) => sink.bytes(raw),
            SseItem::Dropped { bytes } => self.dropped = self.dropped.saturating_add(bytes),
            // No other item carries bytes.
            _ => {}
        }
    }

    fn event<S: SseSink + ?Sized>(&mut self, event: SseEvent<'_>, sink: &mut S) {
        let Some(data) = event.data else { return self.forward(event, sink) };
        if data.trim_ascii() == b"[DONE]" {
            self.end(Ending::Of(End::Stop), Some(event), sink);
            let unwanted = self.broken && self.done == Done::Always;
            if !std::mem::replace(&mut self.came, true) && !unwanted {
                self.forward(event, sink);
            }
            return;
        }
        let is_error = event.name == Some(b"error");
        if !is_error && event.is_standard() && self.framed(event, sink) {
            return;
        }
        let text = String::from_utf8_lossy(data);
        match read(&text) {
            Ok(ReadChunk { chunk, exact }) if !is_error => {
                // Bytes that are not UTF-8, or that clients may read differently, are not forwarded
                // as they are.
                let exact = exact && event.is_standard() && data.len() == text.len();
                let came = if exact { Came::Read(chunk.clone()) } else { Came::Damaged };
                self.chunk(chunk, came, event, sink);
            }
            _ if self.ends && !event.closed && !is_json(&text) => {
                self.half = true;
                self.dropped = self.dropped.saturating_add(event.raw.len() as u64);
            }
            other => {
                let other = other.err();
                if is_error || other == Some(NoChunk::Error) {
                    self.end(Ending::Of(End::Aborted), Some(event), sink);
                    self.broken = true;
                } else if other == Some(NoChunk::Unreadable) {
                    let note = Note::Violation(Violation::Unreadable);
                    sink.note(ChatNote { choice: 0, note });
                }
                self.forward(event, sink);
            }
        }
    }

    /// Guards an event that is like an earlier one of its choice but for the text; whether it is.
    fn framed<S: SseSink + ?Sized>(&mut self, event: SseEvent<'_>, sink: &mut S) -> bool {
        let Self { frames, guard, .. } = self;
        let data = event.data.unwrap_or_default();
        let Some((at, text)) = frames.find(data).filter(|_| guard.owes_nothing()) else {
            return false;
        };
        let frame = frames.at(at);
        if frame.passes() && guard.pass(frame.index(), &text) {
            sink.bytes(event.raw);
            return true;
        }
        let Some(chunk) = frame.take(text.into_owned()) else { return false };
        self.chunk(chunk, Came::Framed(at), event, sink);
        true
    }

    /// Guards a chunk, and writes what it became.
    fn chunk<S: SseSink + ?Sized>(
        &mut self,
        chunk: Chunk,
        came: Came,
        event: SseEvent<'_>,
        sink: &mut S,
    ) {
        let mut chunks = take(&mut self.chunks);
        let result = self.guard.push(chunk, &mut CollectEvents { chunks: &mut chunks, sink });
        self.write_tail(&mut chunks, sink);
        let waits = chunks.is_empty() && self.guard.waits_with(self.guard.seq());
        let same = matches!(&*chunks, [(chunk, _)] if self.is_same(chunk, &came, event));
        match chunks.as_slice() {
            [] if waits => {}
            [] => {
                self.text.clear();
                event.without_data(&mut self.text);
                if !self.text.is_empty() {
                    sink.bytes(&self.text);
                }
            }
            _ if same => sink.bytes(event.raw),
            changed => {
                for (n, (chunk, _)) in changed.iter().enumerate() {
                    let place =
                        if n == 0 { EventPlace::Of(event) } else { EventPlace::Behind(event) };
                    self.write(chunk, place, sink);
                }
            }
        }
        if waits {
            let came = if let Came::Read(chunk) = came { Some(chunk) } else { None };
            let (seq, raw) = (self.guard.seq(), event.raw.to_vec());
            self.tail.push(Waiting { seq, raw, came });
        } else {
            self.frames.settle(event.data.unwrap_or_default(), came, &mut chunks, same);
        }
        chunks.clear();
        self.chunks = chunks;
        self.failed = result.err();
    }

    /// Whether a chunk is written as it came.
    fn is_same(&self, chunk: &Chunk, came: &Came, event: SseEvent<'_>) -> bool {
        let data = event.data.unwrap_or_default();
        match (came, chunk.choices.as_slice()) {
            (Came::Framed(at), [choice]) => self.frames.is(*at, choice, data),
            (Came::Read(came), _) => {
                // Arguments that are not strings are read as text, and must be written as text.
                let calls = came.choices.iter().any(|choice| !choice.delta.tool_calls.is_empty());
                let as_text = || {
                    let came = serde_json::from_slice::<Value>(data);
                    serde_json::to_value(chunk).is_ok_and(|it| came.is_ok_and(|came| it == came))
                };
                chunk == came && (!calls || as_text())
            }
            _ => false,
        }
    }

    /// Ends the chunks: held text is emitted, before `event` if there is one.
    pub(super) fn end<S: SseSink + ?Sized>(
        &mut self,
        ending: Ending,
        event: Option<SseEvent<'_>>,
        sink: &mut S,
    ) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut chunks = take(&mut self.chunks);
        let collect = &mut CollectEvents { chunks: &mut chunks, sink };
        let result = match ending {
            Ending::Of(end) => self.guard.finish(end, collect),
            Ending::Bare => self.guard.end(collect),
            Ending::Half => self.guard.cut_off(collect),
        };
        for (chunk, origin) in chunks.drain(..) {
            if self.write_waiting(&chunk, origin, sink) {
                continue;
            }
            // In lines that end as the event's do, but without its fields.
            let place =
                event.map_or(EventPlace::Own, |event| EventPlace::Behind(event.without_name()));
            self.write(&chunk, place, sink);
        }
        self.chunks = chunks;
        self.failed = result.err();
    }

    /// Writes the first of the chunks as far as they waited.
    fn write_tail<S: SseSink + ?Sized>(&mut self, chunks: &mut Vec<(Chunk, u64)>, sink: &mut S) {
        if self.tail.is_empty() {
            return;
        }
        let waited = chunks.iter().take_while(|(chunk, seq)| self.write_waiting(chunk, *seq, sink));
        let waited = waited.count();
        chunks.drain(..waited);
    }

    /// Writes a chunk that waited with its event; whether it is one.
    fn write_waiting<S: SseSink + ?Sized>(
        &mut self,
        chunk: &Chunk,
        seq: u64,
        sink: &mut S,
    ) -> bool {
        let waits = |waiting: &Waiting| waiting.seq == seq && chunk.choices.is_empty();
        let Some(at) = self.tail.iter().position(waits) else { return false };
        let Waiting { raw, came, .. } = self.tail.remove(at);
        if came.as_ref() == Some(chunk) {
            sink.bytes(&raw);
            return true;
        }
        let mut decoder = Decoder::new().lenient();
        let mut on = |item: SseItem<'_>| {
            if let SseItem::Event(event) = item {
                self.write(chunk, EventPlace::Of(event), sink);
            }
        };
        // The event was within the limits.
        let _ = decoder.push(&raw, &mut on);
        let _ = decoder.finish(on);
        true
    }

    fn write<S: SseSink + ?Sized>(&mut self, chunk: &Chunk, place: EventPlace<'_>, sink: &mut S) {
        let Self { text, json, .. } = self;
        text.clear();
        json.clear();
        // Strings, numbers and maps with string keys: nothing JSON cannot hold.
        let _ = serde_json::to_writer(&mut *json, chunk);
        match place {
            EventPlace::Of(event) => event.with_data(json, text),
            EventPlace::Behind(event) => event.again(json, text),
            EventPlace::Own => {
                let _ = Fields::default().data(json).encode(text);
            }
        }
        sink.bytes(text);
    }

    /// Passes an event on that carries no chunk.
    fn forward<S: SseSink + ?Sized>(&mut self, event: SseEvent<'_>, sink: &mut S) {
        match event.data {
            None if self.ends && !event.closed => {
                self.dropped = self.dropped.saturating_add(event.raw.len() as u64);
            }
            Some(data) if !event.is_standard() => {
                self.text.clear();
                event.with_data(data, &mut self.text);
                sink.bytes(&self.text);
            }
            _ => sink.bytes(event.raw),
        }
    }
}

/// Where a chunk is written.
#[derive(Debug, Clone, Copy)]
enum EventPlace<'e> {
    /// In place of an event's data.
    Of(SseEvent<'e>),
    /// In an event after this one.
    Behind(SseEvent<'e>),
    /// In a separate event.
    Own,
}

struct CollectEvents<'c, S: ?Sized> {
    chunks: &'c mut Vec<(Chunk, u64)>,
    sink: &'c mut S,
}

impl<S: SseSink + ?Sized> ChatSink for CollectEvents<'_, S> {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, origin| self.chunks.push((chunk, origin)));
    }

    fn note(&mut self, note: ChatNote) {
        self.sink.note(note);
    }
}
