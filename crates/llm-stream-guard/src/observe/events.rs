//! An observer that writes `tracing` events.

use jail_match::{Closed, Dropped, End};
use toolcall_parsers::{Diagnostic, Outcome};

use super::Observer;

/// An observer that writes `tracing` events of the target `llm_stream_guard`, in the span that is
/// current when the guard is fed. Limits are warnings, and all other events have debug level. No
/// event is written per chunk.
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingObserver;

/// One event of our target.
macro_rules! event {
    ($level:ident, $message:literal $(, $field:ident = $value:expr)*) => {
        tracing::event!(
            target: "llm_stream_guard",
            tracing::Level::$level,
            $($field = $value,)*
            $message
        )
    };
}

impl Observer for TracingObserver {
    fn jail_opened(&self, pair: usize, depth: usize) {
        event!(DEBUG, "jail opened", pair = pair, depth = depth);
    }

    fn jail_closed(&self, pair: usize, bytes: u64, why: Closed) {
        event!(DEBUG, "jail closed", pair = pair, bytes = bytes, why = why.name());
    }

    fn dropped(&self, bytes: u64, why: Dropped) {
        event!(DEBUG, "bytes dropped", bytes = bytes, why = why.name());
    }

    fn limit(&self, name: &'static str, bytes: u64) {
        event!(WARN, "limit hit", limit = name, bytes = bytes);
    }

    fn call_started(&self, index: u32) {
        event!(DEBUG, "call started", index = index);
    }

    fn call_ended(&self, index: u32, outcome: Outcome) {
        event!(DEBUG, "call ended", index = index, outcome = outcome.name());
    }

    fn diagnostic(&self, diagnostic: Diagnostic) {
        let Diagnostic { kind, at, bytes, .. } = diagnostic;
        event!(DEBUG, "diagnostic", kind = kind.name(), at = at, bytes = bytes);
    }

    fn foreign_markup(&self, marker: &str) {
        event!(DEBUG, "markup of another family", marker = marker);
    }

    fn finding(&self, kind: &'static str) {
        event!(DEBUG, "likely cause of a fault", kind = kind);
    }

    fn finished(&self, end: End) {
        event!(DEBUG, "message finished", end = tracing::field::debug(end));
    }
}
