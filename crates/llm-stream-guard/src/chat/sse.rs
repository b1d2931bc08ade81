//! Chat chunks inside server-sent events: bytes in, bytes out.

use std::fmt;

use jail_match::End;
use serde_json::Value;
use sse_events::{self as sse, Decoder, Event, Fields, Item};

use super::{
    chunk::Chunk,
    convert::{ChatChunk as _, chunk_of},
    error::ChatError,
    guard::ChatGuard,
    note::{ChatNote, ChatSink},
};

/// The data that ends a stream.
const DONE: &[u8] = b"[DONE]";

/// Receives what a [`ChatSse`] writes, in order.
pub trait SseSink {
    /// Whole events.
    fn bytes(&mut self, bytes: &[u8]);

    /// Something worth knowing. Ignored unless overridden.
    fn note(&mut self, note: ChatNote) {
        let _ = note;
    }
}

impl SseSink for Vec<u8> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// What becomes of the `[DONE]` that ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Done {
    /// It is written if it came.
    #[default]
    AsUpstream,
    /// It is written at the end of the stream even if it did not come, unless the stream broke.
    Always,
}

/// A chat guard for the bytes of an event stream.
///
/// Events the guard does not change come out as the bytes they came in; so do comments, events
/// without data and data that is no chunk. Of a changed one the other lines stay. `[DONE]` and
/// errors come behind all that was held; no chunk comes out behind them. What comes out does not
/// depend on how the bytes were cut.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, chat::{ChatGuard, ChatOptions, ChatSse}, profile};
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let mut sse = ChatSse::new(ChatGuard::new(guard, ChatOptions::default()));
/// let mut out = Vec::new();
/// let chunk = |text: &str| format!(
///     "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}}}]}}\n\n"
/// );
/// let upstream = format!(": hi\n\n{}data: [DONE]\n\n", chunk("Hello."));
/// for piece in upstream.as_bytes().chunks(7) {
///     sse.push(piece, &mut out)?;
/// }
/// sse.finish(End::Stop, &mut out)?;
/// assert_eq!(String::from_utf8(out)?, upstream);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ChatSse {
    decoder: Decoder,
    wire: Wire,
}

#[derive(Debug, Clone)]
struct Wire {
    guard: ChatGuard,
    done: Done,
    came: bool,
    ended: bool,
    /// The stream broke off: an event that is open was cut.
    broken: bool,
    dropped: u64,
    failed: Option<ChatError>,
    /// Kept for their capacity.
    chunks: Vec<Chunk>,
    text: Vec<u8>,
    json: Vec<u8>,
}

impl ChatSse {
    /// Guards the chunks of an event stream with `guard`.
    #[must_use]
    pub fn new(guard: ChatGuard) -> Self {
        let wire = Wire {
            guard,
            done: Done::default(),
            came: false,
            ended: false,
            broken: false,
            dropped: 0,
            failed: None,
            chunks: Vec::new(),
            text: Vec::new(),
            json: Vec::new(),
        };
        Self { decoder: Decoder::new().lenient(), wire }
    }

    /// The same with other bounds on lines and events. Under the release policy an event beyond
    /// them passes unguarded.
    #[must_use]
    pub fn limits(self, limits: sse::Limits) -> Self {
        Self { decoder: self.decoder.limits(limits), ..self }
    }

    /// The same with another rule for `[DONE]`.
    #[must_use]
    pub fn done(mut self, done: Done) -> Self {
        self.wire.done = done;
        self
    }

    /// Feeds bytes.
    ///
    /// # Errors
    /// An event beyond the limits under the error policy, or what [`ChatGuard::push`] fails with:
    /// what was held is out, and nothing more is read.
    pub fn push<S: SseSink + ?Sized>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        let Self { decoder, wire, .. } = self;
        let result = decoder.push(bytes, |item| wire.item(item, sink));
        wire.check(result)
    }

    /// Ends the stream: a cut event is read, what was held comes out. Behind [`End::Aborted`] an
    /// event may follow, so a cut one that is no chunk is dropped.
    ///
    /// # Errors
    /// As [`ChatSse::push`].
    pub fn finish<S: SseSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        let Self { decoder, wire, .. } = self;
        wire.broken = end == End::Aborted;
        let result = decoder.finish(|item| wire.item(item, sink));
        wire.check(result)?;
        let open = !wire.ended;
        wire.end(end, None, sink);
        if open && !wire.came && wire.done == Done::Always && end != End::Aborted {
            sink.bytes(b"data: [DONE]\n\n");
        }
        wire.check(Ok(()))
    }

    /// Makes it as new.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.wire.guard.reset();
        (self.wire.came, self.wire.ended, self.wire.broken) = (false, false, false);
        (self.wire.dropped, self.wire.failed) = (0, None);
    }

    /// The guard, for what it holds.
    #[must_use]
    pub fn guard(&self) -> &ChatGuard {
        &self.wire.guard
    }

    /// Whether `[DONE]` came.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.wire.came
    }

    /// Bytes of events that were dropped because they were beyond the limits, or cut where the
    /// stream broke off.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.wire.dropped
    }

    /// Bytes of an event that is not whole yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held()
    }
}

impl Wire {
    fn check(&self, result: Result<(), sse::TooLong>) -> Result<(), ChatSseError> {
        match self.failed {
            Some(error) => Err(ChatSseError::Chat(error)),
            None => result.map_err(ChatSseError::Event),
        }
    }

    fn item<S: SseSink + ?Sized>(&mut self, item: Item<'_>, sink: &mut S) {
        if self.failed.is_some() {
            return;
        }
        match item {
            Item::Event(event) => self.event(event, sink),
            Item::Raw(raw) => sink.bytes(raw),
            Item::Dropped { bytes } => self.dropped += bytes,
            // No other item carries bytes.
            _ => {}
        }
    }

    fn event<S: SseSink + ?Sized>(&mut self, event: Event<'_>, sink: &mut S) {
        let Some(data) = event.data else { return self.forward(event, sink) };
        if data.trim_ascii() == DONE {
            self.end(End::Stop, Some(event), sink);
            self.came = true;
            return self.forward(event, sink);
        }
        let text = String::from_utf8_lossy(data);
        let is_error = event.name == Some(b"error");
        let value = serde_json::from_str::<Value>(&text).ok();
        match value.as_ref().and_then(chunk_of) {
            Some(chunk) if !is_error => {
                // Bytes that are no text are not passed on.
                let came = value.filter(|_| event.is_standard() && text.len() == data.len());
                self.chunk(chunk, came, event, sink);
            }
            _ => {
                if is_error || value.is_some_and(|value| value.is_error()) {
                    self.end(End::Aborted, Some(event), sink);
                }
                self.forward(event, sink);
            }
        }
    }

    /// Guards a chunk that came as `came`, and writes what it became.
    fn chunk<S: SseSink + ?Sized>(
        &mut self,
        chunk: Chunk,
        came: Option<Value>,
        event: Event<'_>,
        sink: &mut S,
    ) {
        let mut chunks = std::mem::take(&mut self.chunks);
        let result = self.guard.push(chunk, &mut Collect { chunks: &mut chunks, sink });
        match (chunks.as_slice(), came) {
            ([], _) => {
                self.text.clear();
                event.without_data(&mut self.text);
                if !self.text.is_empty() {
                    sink.bytes(&self.text);
                }
            }
            ([same], Some(came)) if serde_json::to_value(same).is_ok_and(|it| it == came) => {
                sink.bytes(event.raw);
            }
            (changed, _) => {
                for (n, chunk) in changed.iter().enumerate() {
                    let place = if n == 0 { Place::Of(event) } else { Place::Behind(event) };
                    self.write(chunk, place, sink);
                }
            }
        }
        chunks.clear();
        self.chunks = chunks;
        self.failed = result.err();
    }

    /// Ends the chunks: what was held comes out, in front of `event` if there is one.
    fn end<S: SseSink + ?Sized>(&mut self, end: End, event: Option<Event<'_>>, sink: &mut S) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut chunks = std::mem::take(&mut self.chunks);
        let result = self.guard.finish(end, &mut Collect { chunks: &mut chunks, sink });
        for chunk in &chunks {
            // In lines that end as the event's do, but without its fields.
            let place = event.map_or(Place::Own, |event| Place::Behind(event.without_name()));
            self.write(chunk, place, sink);
        }
        chunks.clear();
        self.chunks = chunks;
        self.failed = result.err();
    }

    fn write<S: SseSink + ?Sized>(&mut self, chunk: &Chunk, place: Place<'_>, sink: &mut S) {
        let Self { text, json, .. } = self;
        text.clear();
        json.clear();
        // Strings, numbers and maps with string keys: nothing JSON cannot hold.
        let _ = serde_json::to_writer(&mut *json, chunk);
        match place {
            Place::Of(event) => event.with_data(json, text),
            Place::Behind(event) => event.again(json, text),
            Place::Own => {
                let _ = Fields::default().data(json).encode(text);
            }
        }
        sink.bytes(text);
    }

    /// Passes an event on that carries no chunk.
    fn forward<S: SseSink + ?Sized>(&mut self, event: Event<'_>, sink: &mut S) {
        match event.data {
            data if self.broken && !event.closed && data.map(<[u8]>::trim_ascii) != Some(DONE) => {
                self.dropped += event.raw.len() as u64;
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
enum Place<'e> {
    /// In place of an event's data.
    Of(Event<'e>),
    /// In a further event.
    Behind(Event<'e>),
    /// In an event of its own.
    Own,
}

struct Collect<'c, S: ?Sized> {
    chunks: &'c mut Vec<Chunk>,
    sink: &'c mut S,
}

impl<S: SseSink + ?Sized> ChatSink for Collect<'_, S> {
    fn chunk(&mut self, chunk: Chunk, _: u64) {
        self.chunks.push(chunk);
    }

    fn note(&mut self, note: ChatNote) {
        self.sink.note(note);
    }
}

/// Why an event stream could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatSseError {
    /// The chat guard's.
    Chat(ChatError),
    /// An event was beyond the limits, and the policy is to fail.
    Event(sse::TooLong),
}

impl fmt::Display for ChatSseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chat(error) => error.fmt(f),
            Self::Event(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChatSseError {}
