//! Chat completions, which upstream also speaks.

use llm_stream_guard::{
    End,
    chat::{ChatGuard, ChatNote, ChatSse, ChatSseError, Done, SseSink},
    sse::Fields,
};
use serde_json::{Value, json};

use super::{Machine, encoded::log_note, fields::KEEP_ALIVE};
use crate::error::{Fault, Kind};

/// An event stream of chat chunks. Events that do not change keep their bytes.
#[derive(Debug)]
pub(crate) struct Stream {
    sse: ChatSse,
}

impl Stream {
    /// Creates a stream whose choices are guarded by clones of `guard`.
    #[must_use]
    pub(crate) fn new(guard: ChatGuard) -> Self {
        Self { sse: ChatSse::new(guard).done(Done::Always) }
    }
}

impl Machine for Stream {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        self.sse.push(bytes, &mut Warning(out))
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        self.sse.finish(End::Stop, out)
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        if self.sse.is_done() {
            return;
        }
        // The fault that ended the stream matters more than a limit hit now.
        let _ = self.sse.finish(End::Aborted, out);
        let _ = Fields::default().data(self::fault(fault).to_string().as_bytes()).encode(out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(KEEP_ALIVE);
    }

    fn usage(&self) -> Option<&Value> {
        self.sse.guard().usage()
    }

    fn held(&self) -> usize {
        self.sse.held().saturating_add(self.sse.guard().held())
    }

    fn stopped(&self) -> usize {
        self.sse.guard().stopped()
    }

    fn uncalled(&self) -> usize {
        self.sse.guard().uncalled()
    }

    fn is_over(&self) -> bool {
        self.sse.is_done()
    }

    fn upstream_failed(&self) -> bool {
        self.sse.is_broken()
    }
}

/// A sink of bytes for the client, which logs notes that the client cannot see.
struct Warning<'o>(&'o mut Vec<u8>);

impl SseSink for Warning<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn note(&mut self, note: ChatNote) {
        log_note(note);
    }
}

/// Returns OpenAI's error object for a fault.
#[must_use]
pub(crate) fn fault(fault: &Fault) -> Value {
    let kind = match fault.kind {
        Kind::Request | Kind::Model => "invalid_request_error",
        _ => "api_error",
    };
    json!({"error": {
        "message": fault.message,
        "type": fault.error_type().unwrap_or(kind),
        "param": fault.field,
        "code": fault.error_code().cloned().unwrap_or_else(|| fault.kind.name().into()),
    }})
}
