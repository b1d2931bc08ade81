//! Calls that upstream already parsed, and the assignment of deltas to them.
//!
//! ```text
//! {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}   opens call 0
//! {"index": 0, "function": {"arguments": "{}"}}                         continues call 0
//! {"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}}   a new id: opens call 1
//! ```

use super::chunk::ToolCallDelta;
use crate::json::Balance;

/// A call that upstream opened.
#[derive(Debug, Clone, Default)]
pub(super) struct NativeCall {
    upstream: Option<u32>,
    /// Id of the call from upstream.
    pub(super) id: Option<String>,
    /// Index of the call as written. `None` if its first delta was not emitted, or if the call is
    /// dropped.
    pub(super) written: Option<u32>,
    pub(super) begun: bool,
    pub(super) arguments: Balance,
    pub(super) has_arguments: bool,
    /// Whether the end of the call is written.
    pub(super) ended: bool,
}

/// The calls that upstream opened in a choice.
#[derive(Debug, Clone, Default)]
pub(super) struct NativeCalls {
    pub(super) calls: Vec<NativeCall>,
}

impl NativeCalls {
    /// Returns the position of the call that `delta` belongs to, or `None` if `limit` calls are
    /// open. A new index opens a call. A new id opens a call unless the delta has no name and the
    /// arguments of the open call continue. Without index and id, a name opens a call.
    pub(super) fn of(&mut self, delta: &ToolCallDelta, limit: usize) -> Option<usize> {
        let id = delta.id.as_deref().filter(|id| !id.is_empty());
        let named = delta.function.as_ref().and_then(|function| function.name.as_deref());
        let named = named.is_some_and(|name| !name.is_empty());
        // Some servers give each delta of a call a new id. Without a name, such a delta continues
        // the call.
        let goes_on = |call: &NativeCall| !named && !call.arguments.is_closed();
        let fits = |call: &NativeCall| match (id, call.id.as_deref()) {
            (Some(id), Some(known)) => id == known || goes_on(call),
            (Some(_), None) => !call.begun,
            (None, _) => true,
        };
        let found = match (delta.index, id) {
            (Some(index), _) => {
                let found = self.calls.iter().rposition(|call| call.upstream == Some(index));
                found.filter(|&at| fits(&self.calls[at]))
            }
            (None, Some(id)) => {
                let known = self.calls.iter().rposition(|call| call.id.as_deref() == Some(id));
                let last = self.calls.len().checked_sub(1);
                known.or(last.filter(|&at| self.calls[at].begun && goes_on(&self.calls[at])))
            }
            (None, None) => {
                let last = self.calls.len().checked_sub(1);
                last.filter(|&at| !(named && self.calls[at].begun))
            }
        };
        let at = match found {
            Some(at) => at,
            None if self.calls.len() >= limit => return None,
            None => {
                let upstream = delta.index;
                self.calls.push(NativeCall { upstream, ..NativeCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if let (None, Some(id)) = (&call.id, id) {
            call.id = Some(id.to_owned());
        }
        Some(at)
    }

    /// Whether a call was written whose arguments are closed.
    pub(super) fn any_stands(&self) -> bool {
        self.calls.iter().any(|call| call.written.is_some() && call.arguments.is_closed())
    }
}
