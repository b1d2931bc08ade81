//! A chat guard for the bytes of server-sent events.

pub(super) mod frame;
pub(super) mod rewriter;
pub(super) mod split_escapes;
pub(super) mod stream;

use std::fmt;

use jail_match::End;
use sse_events::{self as sse, Decoder};

use crate::chat::{
    error::{ChatError, Failures},
    guard::{ChatGuard, Phase},
    note::ChatNote,
    sse::rewriter::{BytesPhase, DONE, Ending, SseRewriter},
};

/// A receiver of the output of a [`ChatSse`], in order.
pub trait SseSink {
    /// Receives whole events as bytes.
    fn bytes(&mut self, bytes: &[u8]);

    /// Receives a note. Notes are ignored unless this is overridden.
    fn note(&mut self, note: ChatNote) {
        let _ = note;
    }
}

impl SseSink for Vec<u8> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Policy for the `[DONE]` that ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Done {
    /// Writes `[DONE]` once if upstream sent it.
    #[default]
    AsUpstream,
    /// Writes `[DONE]` once at the end of the stream, even if upstream did not send it. If the
    /// stream broke, it is not written.
    Always,
}

/// A chat guard for the bytes of an event stream.
///
/// Events that the guard does not change are forwarded byte for byte. Comments, events without
/// data, and data that is not a chunk are forwarded, too. In a changed event, only the data line
/// changes. `[DONE]` and errors are written after all held text, and no chunk follows them. The
/// output does not depend on how the bytes were cut.
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
    wire: SseRewriter,
}

impl ChatSse {
    /// Creates a guard of an event stream that guards its chunks with `guard`. An event beyond the
    /// default limits is an error.
    #[must_use]
    pub fn new(guard: ChatGuard) -> Self {
        let limits = sse::SseLimits::default().policy(sse::SseLimitPolicy::Error);
        Self { decoder: Decoder::new().lenient().limits(limits), wire: SseRewriter::new(guard) }
    }

    /// Sets the limits of lines and events. Under the release policy, an event beyond them is
    /// forwarded unguarded. Under the drop policy, [`ChatSse::dropped`] counts it.
    #[must_use]
    pub fn limits(self, limits: sse::SseLimits) -> Self {
        Self { decoder: self.decoder.limits(limits), ..self }
    }

    /// Sets the policy for `[DONE]`.
    #[must_use]
    pub fn done(mut self, done: Done) -> Self {
        self.wire.done = done;
        self
    }

    /// Sets the policy for errors.
    #[must_use]
    pub fn failures(mut self, failures: Failures) -> Self {
        self.wire.failures = failures;
        self
    }

    /// Feeds bytes.
    ///
    /// # Errors
    /// An event beyond the limits under the error policy, or an error of [`ChatGuard::push`]. Held
    /// text has then been emitted, and further bytes are ignored.
    pub fn push<S: SseSink + ?Sized>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        let Self { decoder, wire, .. } = self;
        let result = decoder.push(bytes, |item| wire.item(item, sink));
        wire.checked(result, sink)
    }

    /// Checks time limits when no bytes arrive; see [`ChatGuard::tick`].
    ///
    /// # Errors
    /// As [`ChatSse::push`].
    pub fn tick<S: SseSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatSseError> {
        self.wire.tick(sink);
        self.wire.checked(Ok(()), sink)
    }

    /// Ends the stream after an error of upstream, as [`ChatSse::finish`] ends an aborted stream.
    /// The client receives `message` if errors are written ([`Failures::Written`]).
    ///
    /// # Errors
    /// As [`ChatSse::push`].
    pub fn fail<S: SseSink + ?Sized>(
        &mut self,
        message: &str,
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        let result = self.finish(End::Aborted, sink);
        self.wire.write_failure(message, sink);
        result
    }

    /// Ends the stream. A last event without its blank line is read if its data is whole, and
    /// dropped if it was cut. Then held text is emitted.
    ///
    /// # Errors
    /// As [`ChatSse::push`]. With [`End::Stop`], which means that the bytes ended normally, also
    /// [`ChatError::Unfinished`] if they contain no finish reason, `[DONE]` or error.
    pub fn finish<S: SseSink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        let Self { decoder, wire, .. } = self;
        wire.bytes = BytesPhase::Last;
        let result = decoder.finish(|item| wire.item(item, sink));
        wire.checked(result, sink)?;
        let open = wire.guard.phase == Phase::Open;
        wire.end(if end == End::Stop { wire.bare_end() } else { Ending::Of(end) }, None, sink);
        let result = wire.checked(Ok(()), sink);
        if open && result.is_ok() && wire.done == Done::Always && end != End::Aborted {
            sink.bytes(DONE);
        }
        wire.close_broken(sink);
        result
    }

    /// Resets the state to that of a new value.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.wire.reset();
    }

    /// Returns the guard, whose methods report held text.
    #[must_use]
    pub fn guard(&self) -> &ChatGuard {
        &self.wire.guard
    }

    pub(super) fn writes_failures(&self) -> bool {
        self.wire.failures == Failures::Written
    }

    /// Whether `[DONE]` arrived.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.wire.came
    }

    /// Whether upstream sent an error event, which ended the answer.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.wire.broken
    }

    /// Returns the bytes of dropped events: those beyond the limits, and an event that the stream's
    /// end cut.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.wire.dropped
    }

    /// Returns the bytes of an event that is not whole yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held()
    }
}

/// The error that ended an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatSseError {
    /// An error of the chat guard.
    Chat(ChatError),
    /// An event exceeded the limits, and the policy is to fail.
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
