//! Conversion of a stream's events to chunks and back. Unchanged events keep their bytes.
//!
//! ```text
//! data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}   unchanged: forwarded byte for byte
//! data: {"choices":[{"index":0,"delta":{"content":"<th"}}]}  held: may begin `<think>`
//! data: [DONE]                                               held text is written, then `[DONE]`
//! ```

mod ending;
mod plain_calls;

use std::{borrow::Cow, mem::take};

use jail_match::End;
use sse_events::{Decoder, Fields, SseEvent, SseItem};

use crate::chat::{
    error::Failures,
    guard::{ChatGuard, Phase},
    model::{
        chunk::Chunk,
        condensed_string::expand,
        convert::{NoChunk, ReadChunk, read},
    },
    note::{ChatNote, ChatSink, Note, Violation},
    sse::{
        Done, SseSink,
        frame::{Arrived, Came, Frames},
        split_escapes::SplitEscapes,
    },
    step::{ChatStep, RawEvent},
};

pub(in crate::chat) use self::ending::{BytesPhase, Ending};
use self::{ending::is_json, plain_calls::calls_are_plain};

/// Capacity up to which a buffer is kept for the next event, in bytes.
const KEPT_BUFFER_BYTES: usize = 64 << 10;

pub(in crate::chat) const DONE: &[u8] = b"data: [DONE]\n\n";

#[derive(Debug, Clone)]
pub(in crate::chat) struct SseRewriter {
    pub(in crate::chat) guard: ChatGuard,
    pub(in crate::chat) done: Done,
    pub(in crate::chat) failures: Failures,
    /// Whether `[DONE]` arrived.
    pub(in crate::chat) came: bool,
    /// Whether an error of upstream arrived.
    pub(in crate::chat) broken: bool,
    pub(in crate::chat) dropped: u64,
    pub(in crate::chat) bytes: BytesPhase,
    /// Whether the client received the reason of the end.
    told: bool,
    frames: Frames,
    split: SplitEscapes,
    /// Whether values of a chunk were condensed. What is written is then expanded.
    condensed: bool,
    /// Buffers that are kept for their capacity.
    chunks: Vec<Written>,
    text: Vec<u8>,
    json: Vec<u8>,
}

/// A chunk that the guard wrote, with its event if it has no choices.
type Written = (Chunk, Option<RawEvent>);

impl SseRewriter {
    pub(in crate::chat) fn new(guard: ChatGuard) -> Self {
        Self {
            guard,
            done: Done::default(),
            failures: Failures::default(),
            came: false,
            broken: false,
            dropped: 0,
            bytes: BytesPhase::Open,
            told: false,
            frames: Frames::default(),
            split: SplitEscapes::default(),
            condensed: false,
            chunks: Vec::new(),
            text: Vec::new(),
            json: Vec::new(),
        }
    }

    pub(in crate::chat) fn reset(&mut self) {
        self.guard.reset();
        self.frames.clear();
        self.split = SplitEscapes::default();
        (self.came, self.broken, self.told, self.condensed) = (false, false, false, false);
        (self.bytes, self.dropped) = (BytesPhase::Open, 0);
    }

    /// Checks the time limits of jails.
    pub(in crate::chat) fn tick<S: SseSink + ?Sized>(&mut self, sink: &mut S) {
        let mut chunks = take(&mut self.chunks);
        // Its error is in its phase.
        let _ = self.guard.tick(&mut CollectEvents { chunks: &mut chunks, sink });
        for (chunk, _) in chunks.drain(..) {
            self.write(&chunk, EventPlace::Own, sink);
        }
        self.chunks = chunks;
    }

    pub(in crate::chat) fn item<S: SseSink + ?Sized>(&mut self, item: SseItem<'_>, sink: &mut S) {
        if matches!(self.guard.phase, Phase::Failed(_)) {
            return;
        }
        match item {
            SseItem::Event(event) => self.event(event, sink),
            SseItem::Raw(raw) => sink.bytes(raw),
            SseItem::Dropped { bytes } => self.dropped = self.dropped.saturating_add(bytes),
            // Other items carry no bytes.
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
        let is_plain = !is_error && event.is_standard() && !self.split.is_waiting();
        if is_plain && self.framed(event, sink) {
            return;
        }
        let came = String::from_utf8_lossy(data);
        let joined = self.split.join(&came);
        let text = joined.as_deref().unwrap_or(&came);
        match read(text) {
            Ok(ReadChunk { chunk, exact, condensed }) if !is_error => {
                self.condensed |= condensed;
                // Bytes that are not UTF-8, or that clients may read differently, are not forwarded
                // as they are.
                let exact = exact && joined.is_none() && event.is_standard();
                let exact = exact && data.len() == text.len();
                let came = if exact { Came::Read(chunk.clone()) } else { Came::Damaged };
                self.chunk(chunk, Arrived { event, came }, sink);
            }
            _ if self.is_cut(event) && !is_json(text) => {
                self.bytes = BytesPhase::Cut;
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

    /// Guards an event that differs from an earlier one of its choice only in the text. Returns
    /// whether the event is such an event.
    fn framed<S: SseSink + ?Sized>(&mut self, event: SseEvent<'_>, sink: &mut S) -> bool {
        let Self { frames, guard, .. } = self;
        let data = event.data.unwrap_or_default();
        let Some((at, text)) = frames.find(data).filter(|_| guard.usage.owes_nothing()) else {
            return false;
        };
        let frame = frames.at(at);
        if frame.passes() && guard.pass(frame.index(), &text) {
            sink.bytes(event.raw);
            return true;
        }
        let Some(chunk) = frame.take(text.into_owned()) else { return false };
        self.chunk(chunk, Arrived { event, came: Came::Framed(at) }, sink);
        true
    }

    /// Guards a chunk, and writes the result.
    fn chunk<S: SseSink + ?Sized>(&mut self, chunk: Chunk, arrived: Arrived<'_>, sink: &mut S) {
        let mut chunks = take(&mut self.chunks);
        let event = arrived.event;
        let exact = !matches!(arrived.came, Came::Damaged);
        let raw = || Some(RawEvent { bytes: event.raw.to_vec(), exact });
        // Its event is written when the guard releases the chunk, which may be later.
        let is_bare = chunk.choices.is_empty() && self.guard.phase == Phase::Open;
        let collect = &mut CollectEvents { chunks: &mut chunks, sink };
        // Its error is in its phase.
        let _ = self.guard.push_event(chunk, raw, collect);
        let released = chunks.iter().take_while(|(_, bare)| bare.is_some()).count();
        for (chunk, event) in chunks.drain(..released) {
            self.write_released(&chunk, event, sink);
        }
        if !is_bare {
            self.write_own(&mut chunks, arrived, sink);
        }
        chunks.clear();
        self.chunks = chunks;
    }

    /// Writes the chunks made of an event with choices.
    fn write_own<S: SseSink + ?Sized>(
        &mut self,
        chunks: &mut [Written],
        arrived: Arrived<'_>,
        sink: &mut S,
    ) {
        let event = arrived.event;
        let same = matches!(chunks, [(chunk, _)] if self.is_same(chunk, &arrived));
        match chunks {
            [] => {
                self.text.clear();
                event.without_data(&mut self.text);
                if !self.text.is_empty() {
                    sink.bytes(&self.text);
                }
            }
            _ if same => sink.bytes(event.raw),
            [(first, _), others @ ..] => {
                self.write(first, EventPlace::Of(event), sink);
                for (chunk, _) in others {
                    self.write(chunk, EventPlace::Behind(event), sink);
                }
            }
        }
        let only = if let [(chunk, _)] = chunks { Some(chunk) } else { None };
        self.frames.settle(arrived, only, same);
    }

    /// Whether a chunk is written unchanged.
    fn is_same(&self, chunk: &Chunk, Arrived { event, came }: &Arrived<'_>) -> bool {
        let data = event.data.unwrap_or_default();
        match (came, chunk.choices.as_slice()) {
            (Came::Framed(at), [choice]) => self.frames.is(*at, choice, data),
            (Came::Read(came), _) => {
                let calls = came.choices.iter().any(|choice| !choice.delta.tool_calls.is_empty());
                chunk == came && (!calls || calls_are_plain(data))
            }
            _ => false,
        }
    }

    /// Ends the chunks. Held text is emitted, before `event` if there is one.
    pub(in crate::chat) fn end<S: SseSink + ?Sized>(
        &mut self,
        ending: Ending,
        event: Option<SseEvent<'_>>,
        sink: &mut S,
    ) {
        if self.guard.phase != Phase::Open {
            return;
        }
        let mut chunks = take(&mut self.chunks);
        let collect = &mut CollectEvents { chunks: &mut chunks, sink };
        // Its error is in its phase.
        let _ = match ending {
            Ending::Of(end) => self.guard.finish(end, collect),
            Ending::Bare => self.guard.end(collect),
            Ending::Half => self.guard.cut_off(collect),
        };
        for (chunk, bare) in chunks.drain(..) {
            if bare.is_some() {
                self.write_released(&chunk, bare, sink);
                continue;
            }
            // The chunks get the event's line ends, but not its other fields.
            let place =
                event.map_or(EventPlace::Own, |event| EventPlace::Behind(event.without_name()));
            self.write(&chunk, place, sink);
        }
        self.chunks = chunks;
    }

    /// Writes a chunk without choices: its event unchanged, or the event with new data.
    fn write_released<S: SseSink + ?Sized>(
        &mut self,
        chunk: &Chunk,
        event: Option<RawEvent>,
        sink: &mut S,
    ) {
        let Some(RawEvent { bytes, exact: false }) = &event else {
            return event.into_iter().for_each(|event| sink.bytes(&event.bytes));
        };
        let mut decoder = Decoder::new().lenient();
        let mut on = |item: SseItem<'_>| {
            if let SseItem::Event(event) = item {
                self.write(chunk, EventPlace::Of(event), sink);
            }
        };
        // The event was within the limits.
        let _ = decoder.push(bytes, &mut on);
        let _ = decoder.finish(on);
    }

    fn write<S: SseSink + ?Sized>(&mut self, chunk: &Chunk, place: EventPlace<'_>, sink: &mut S) {
        let Self { text, json, .. } = self;
        text.clear();
        json.clear();
        // Cannot fail: chunks hold only strings, numbers and maps with string keys.
        let _ = serde_json::to_writer(&mut *json, chunk);
        if self.condensed
            && let Ok(Cow::Owned(expanded)) = str::from_utf8(json).map(expand)
        {
            *json = expanded.into_bytes();
        }
        match place {
            EventPlace::Of(event) => event.with_data(json, text),
            EventPlace::Behind(event) => event.again(json, text),
            EventPlace::Own => {
                let _ = Fields::default().data(json).encode(text);
            }
        }
        shrink(json);
        sink.bytes(text);
        shrink(text);
    }

    /// Whether the bytes ended inside an event.
    fn is_cut(&self, event: SseEvent<'_>) -> bool {
        self.bytes != BytesPhase::Open && !event.closed
    }

    /// Forwards an event that carries no chunk.
    fn forward<S: SseSink + ?Sized>(&mut self, event: SseEvent<'_>, sink: &mut S) {
        match event.data {
            None if self.is_cut(event) => {
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

/// Gives back the memory of a buffer after a long event.
fn shrink(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_BUFFER_BYTES {
        *buffer = Vec::new();
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
    chunks: &'c mut Vec<Written>,
    sink: &'c mut S,
}

impl<S: SseSink + ?Sized> ChatSink for CollectEvents<'_, S> {
    fn step(&mut self, mut step: ChatStep<'_>) {
        let mut event = step.event.take();
        step.chunks(|chunk, _| self.chunks.push((chunk, event.take())));
    }

    fn note(&mut self, note: ChatNote) {
        self.sink.note(note);
    }
}
