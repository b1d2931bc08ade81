//! Chat chunks inside server-sent events: bytes in, bytes out.

use std::fmt;

use jail_match::End;
use sse_events::{self as sse, Decoder};

use super::{
    error::{ChatError, Failures},
    guard::{ChatGuard, Phase},
    note::ChatNote,
    sse_rewriter::{BytesPhase, DONE, Ending, SseRewriter},
};

/// Receives what a [`ChatSse`] writes, in order.
pub trait SseSink {
    /// Receives whole events as bytes.
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

/// Policy for the `[DONE]` that ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Done {
    /// Written once if upstream sent it.
    #[default]
    AsUpstream,
    /// Written once at the end of the stream, even if upstream did not send it, and not at all if
    /// the stream broke.
    Always,
}

/// A chat guard for the bytes of an event stream.
///
/// Events that the guard does not change are forwarded byte for byte, and so are comments, events
/// without data, and data that is not a chunk. In a changed event the other lines stay. `[DONE]`
/// and errors follow all held text, and no chunk follows them. The output does not depend on how
/// the bytes were cut.
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
    /// Guards the chunks of an event stream with `guard`. An event beyond the default limits is an
    /// error.
    #[must_use]
    pub fn new(guard: ChatGuard) -> Self {
        let limits = sse::SseLimits::default().policy(sse::SseLimitPolicy::Error);
        Self { decoder: Decoder::new().lenient().limits(limits), wire: SseRewriter::new(guard) }
    }

    /// The same with other bounds on lines and events. Under the release policy an event beyond
    /// them passes unguarded; under the drop policy [`ChatSse::dropped`] counts it.
    #[must_use]
    pub fn limits(self, limits: sse::SseLimits) -> Self {
        Self { decoder: self.decoder.limits(limits), ..self }
    }

    /// The same with another rule for `[DONE]`.
    #[must_use]
    pub fn done(mut self, done: Done) -> Self {
        self.wire.done = done;
        self
    }

    /// The same with another rule for errors.
    #[must_use]
    pub fn failures(mut self, failures: Failures) -> Self {
        self.wire.failures = failures;
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
        wire.checked(result, sink)
    }

    /// Time has passed and nothing came; see [`ChatGuard::tick`].
    ///
    /// # Errors
    /// As [`ChatSse::push`].
    pub fn tick<S: SseSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), ChatSseError> {
        self.wire.tick(sink);
        self.wire.checked(Ok(()), sink)
    }

    /// Ends the stream because upstream broke: [`ChatSse::finish`] of an aborted stream, and
    /// `message` for the client if errors are written ([`Failures::Written`]).
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
    /// As [`ChatSse::push`]. With [`End::Stop`], which means that the bytes ended by themselves,
    /// also [`ChatError::Unfinished`] if they contain no finish reason, `[DONE]` or error.
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

    /// The guard, for what it holds.
    #[must_use]
    pub fn guard(&self) -> &ChatGuard {
        &self.wire.guard
    }

    pub(super) fn writes_failures(&self) -> bool {
        self.wire.failures == Failures::Written
    }

    /// Whether `[DONE]` came.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.wire.came
    }

    /// Whether upstream sent an error event, which ended the answer.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.wire.broken
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

/// Why an event stream could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChatSseError {
    /// An error of the chat guard.
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
