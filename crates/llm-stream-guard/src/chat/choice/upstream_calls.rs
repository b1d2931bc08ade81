//! Calls that upstream already parsed, and the assignment of deltas to them.
//!
//! ```text
//! {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}   opens call 0
//! {"index": 0, "function": {"arguments": "{}"}}                         continues call 0
//! {"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}}   a new id: opens call 1
//! {"index": 2, "function": {"arguments": "{\"a\""}}                     opens call 2, held until its name comes
//! ```

use serde_json::Value;
use toolcall_parsers::Outcome;

use crate::{
    chat::model::chunk::{FunctionDelta, ToolCallDelta},
    json::Balance,
};

/// A call that upstream opened.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct UpstreamCall {
    upstream: Option<u32>,
    /// Id of the call from upstream.
    pub(in crate::chat) id: Option<String>,
    /// Index of the call as written. `None` if its first delta was not emitted, or if the call is
    /// dropped.
    pub(in crate::chat) written: Option<u32>,
    pub(in crate::chat) begun: bool,
    /// The beginning of the call, until its name is known, or under [`crate::chat::CallForm::Whole`] until
    /// its arguments are whole.
    pub(in crate::chat) held: Option<Box<ToolCallDelta>>,
    pub(in crate::chat) arguments: Balance,
    pub(in crate::chat) has_arguments: bool,
    /// Whether the name is written as the declared one inside it.
    pub(in crate::chat) renamed: bool,
    /// Whether text follows the arguments' last bracket.
    overrun: bool,
    /// Whether the end of the call is written.
    pub(in crate::chat) ended: bool,
}

impl UpstreamCall {
    /// Reads the next piece of the arguments.
    pub(in crate::chat) fn feed(&mut self, fragment: &str) {
        self.overrun |= self.arguments.is_closed() && !fragment.trim_ascii().is_empty();
        self.has_arguments |= !fragment.is_empty();
        self.arguments.feed(fragment);
    }

    /// Whether the arguments are whole.
    pub(in crate::chat) fn is_whole(&self) -> bool {
        self.arguments.is_closed() && !self.overrun
    }

    /// Returns the outcome of the call. If it is not whole, it was `cut`, or else is malformed.
    pub(in crate::chat) fn outcome(&self, cut: bool) -> Outcome {
        match self.is_whole() {
            true if self.renamed => Outcome::Repaired,
            true => Outcome::Complete,
            false if cut && !self.overrun => Outcome::Incomplete,
            false => Outcome::Malformed,
        }
    }
}

/// Moves a name and arguments beside `function` into it. Some servers write calls as responses do.
///
/// ```text
/// {"id": "a", "name": "f", "arguments": {}}   becomes {"id": "a", "function": {"name": "f", "arguments": "{}"}}
/// ```
pub(in crate::chat) fn with_function(mut delta: ToolCallDelta) -> ToolCallDelta {
    let has = |name: &str| delta.extra.get(name).is_some_and(|it| !it.is_null());
    if !has("name") && !has("arguments") {
        return delta;
    }
    let ToolCallDelta { function, extra, .. } = &mut delta;
    let function = function.get_or_insert_with(FunctionDelta::default);
    if function.name.as_ref().is_none_or(String::is_empty)
        && let Some(Value::String(name)) = extra.get("name")
    {
        function.name = Some(name.clone());
        extra.shift_remove("name");
    }
    if function.arguments.as_ref().is_none_or(String::is_empty) {
        function.arguments = match extra.shift_remove("arguments") {
            None | Some(Value::Null) => function.arguments.take(),
            Some(Value::String(text)) => Some(text),
            Some(value) => Some(value.to_string()),
        };
    }
    delta
}

/// The calls that upstream opened in a choice.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct UpstreamCalls {
    pub(in crate::chat) calls: Vec<UpstreamCall>,
    /// Ends that the guard's observer has not received, each with the call's index as written.
    pub(in crate::chat) unreported: Vec<(u32, Outcome)>,
}

impl UpstreamCalls {
    /// Returns the position of the call that `delta` belongs to, or `None` if `limit` calls are
    /// open. A new index opens a call. A new id opens a call unless the delta has no name and the
    /// arguments of the open call continue. Without index and id, a name opens a call.
    pub(in crate::chat) fn of(&mut self, delta: &ToolCallDelta, limit: usize) -> Option<usize> {
        let id = delta.id.as_deref().filter(|id| !id.is_empty());
        let named = delta.function.as_ref().and_then(|function| function.name.as_deref());
        let named = named.is_some_and(|name| !name.is_empty());
        // Some servers give each delta of a call a new id. Without a name, such a delta continues
        // the call.
        let goes_on = |call: &UpstreamCall| !named && !call.arguments.is_closed();
        let fits = |call: &UpstreamCall| match (id, call.id.as_deref()) {
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
                self.calls.push(UpstreamCall { upstream, ..UpstreamCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if let (None, Some(id)) = (&call.id, id) {
            call.id = Some(id.to_owned());
        }
        Some(at)
    }

    /// Whether a call was written whose arguments are whole.
    pub(in crate::chat) fn any_is_sent(&self) -> bool {
        self.calls.iter().any(|call| call.written.is_some() && call.is_whole())
    }
}
