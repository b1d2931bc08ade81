//! The position in the trie at which templates are added.

use crate::{family::CommitOn, machine::plan::NodeId};

/// The position and the conditions of a template that is added.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompileEntry {
    /// The node, or `None` if the template begins with its own opener.
    pub(super) node: Option<NodeId>,
    pub(super) commit: CommitOn,
    /// The text around the call.
    pub(super) outer: Outer,
}

/// The text around a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    /// The call fills its message, so the end of the message ends it.
    Message,
    /// The call is in a list, which ends before the message.
    List,
}
