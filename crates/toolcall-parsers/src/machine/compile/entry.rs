//! Where the templates of a form begin in the trie.

use crate::{family::CommitOn, machine::plan::NodeId};

/// From where the templates of a form are entered.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompileEntry {
    /// The node, unless the templates begin with openers of their own.
    pub(super) node: Option<NodeId>,
    pub(super) commit: CommitOn,
    /// The end of the call, as far as its template does not show it.
    pub(super) outer: Outer,
}

/// Whether the end of a call's message may end the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    Message,
    /// The call is one of a list, which ends before the message.
    List,
}
