//! What the dialects share of requests' fields and of the wire.

use serde_json::{Map, Value, json};

use crate::error::{Fault, Kind};

/// A comment between events, which clients pass over: a sign of life.
pub(super) const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// The fault of a request that has something other than `what` at `field`.
pub(super) fn expected(field: &str, what: &str) -> Fault {
    Fault::new(Kind::Request, format!("expected {what}")).at(field)
}

/// Gives the field `from`, if it is there, the name `to`.
pub(super) fn rename(body: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = body.shift_remove(from) {
        body.insert(to.into(), value);
    }
}

/// Asks for the counted tokens at the end of a stream: these dialects always tell them.
pub(super) fn count_at_end(body: &mut Map<String, Value>) {
    if body.get("stream") == Some(&Value::Bool(true)) {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
}
