//! The end of a stream's bytes, and errors reported to clients.

use jail_match::End;
use sse_events::{self as sse, Fields};

use crate::chat::{
    error::{Failures, error_object},
    guard::Phase,
    sse::{
        ChatSseError, SseSink,
        rewriter::{DONE, SseRewriter},
    },
};

/// How the chunks of a stream end.
///
/// ```text
/// data: [DONE]             Of(End::Stop)
/// (bytes end)              Bare: no end was signalled
/// data: {"choi(bytes end)  Half: the last event was cut
/// ```
#[derive(Debug, Clone, Copy)]
pub(in crate::chat) enum Ending {
    /// An end signalled by `[DONE]`, an error or the caller.
    Of(End),
    /// The bytes ended between events, without a signal.
    Bare,
    /// The bytes ended inside an event.
    Half,
}

/// State of the bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::chat) enum BytesPhase {
    /// More bytes may follow.
    Open,
    /// No bytes follow. An unfinished event was cut.
    Last,
    /// The last event was cut and dropped.
    Cut,
}

/// Whether text without a chunk is whole JSON.
pub(in crate::chat) fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

impl SseRewriter {
    /// Returns the result of a push, and reports an error to the client.
    pub(in crate::chat) fn checked<S: SseSink + ?Sized>(
        &mut self,
        result: Result<(), sse::TooLong>,
        sink: &mut S,
    ) -> Result<(), ChatSseError> {
        if result.is_err() {
            self.end(Ending::Of(End::Aborted), None, sink);
        }
        let result = self.check(result);
        if let Err(error) = &result {
            self.write_failure(&error.to_string(), sink);
        }
        result
    }

    /// Reports the reason of the end to the client, once.
    pub(in crate::chat) fn write_failure<S: SseSink + ?Sized>(
        &mut self,
        message: &str,
        sink: &mut S,
    ) {
        if self.failures == Failures::Returned || std::mem::replace(&mut self.told, true) {
            return;
        }
        let error = error_object(message);
        self.text.clear();
        let _ = Fields::default().data(error.to_string().as_bytes()).encode(&mut self.text);
        self.text.extend_from_slice(DONE);
        sink.bytes(&self.text);
    }

    /// Writes `[DONE]` after an error of upstream, if errors are written.
    pub(in crate::chat) fn close_broken<S: SseSink + ?Sized>(&mut self, sink: &mut S) {
        let tells = self.broken && !self.came && self.failures == Failures::Written;
        if tells && !std::mem::replace(&mut self.told, true) {
            sink.bytes(DONE);
        }
    }

    /// Returns how the stream ends when its bytes end.
    pub(in crate::chat) fn bare_end(&self) -> Ending {
        let cut = self.bytes == BytesPhase::Cut && !self.guard.is_finished();
        if cut { Ending::Half } else { Ending::Bare }
    }

    fn check(&self, result: Result<(), sse::TooLong>) -> Result<(), ChatSseError> {
        match self.guard.phase {
            Phase::Failed(error) => Err(ChatSseError::Chat(error)),
            Phase::Open | Phase::Ended => result.map_err(ChatSseError::Event),
        }
    }
}
