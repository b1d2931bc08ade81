//! The call being read.

use alloc::{string::String, vec::Vec};

use toolcall_parsers::Calls;

use super::out::Out;
use crate::cast;

/// The call being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) name: Option<String>,
    /// Whether its start was said.
    pub(super) begun: bool,
    pub(super) arguments: Arguments,
    /// Where what has not been sent of the arguments begins.
    pub(super) sent: usize,
    /// What stands in for pieces of the region in its JSON.
    pub(super) edits: Vec<(usize, usize, String)>,
    /// The types of the argument being read, if it may be changed.
    pub(super) types: cast::Types,
    /// Where a list begins whose items may be changed.
    pub(super) list: Option<usize>,
    /// Another name came when the first was out.
    pub(super) renamed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Arguments {
    #[default]
    None,
    /// An object that begins here, in so many containers.
    Open {
        start: usize,
        depth: usize,
    },
    Object {
        start: usize,
        end: usize,
    },
    /// A string, which is to hold an object.
    Text {
        start: usize,
        end: usize,
    },
    /// Neither.
    Other,
}

impl Call {
    /// Whether the argument being read, a string or a list, may be changed.
    pub(super) fn is_cast(&self, list: bool) -> bool {
        cast::changes(&self.types, list)
    }

    /// Casts the argument with this text.
    pub(super) fn recast(&mut self, start: usize, end: usize, text: &str) {
        if let Some(text) = cast::recast(text, &self.types) {
            self.edits.retain(|(at, ..)| *at < start);
            self.edits.push((start, end, text));
        }
    }

    /// Sends the arguments up to `safe`.
    pub(super) fn send(&mut self, body: &str, safe: usize, calls: &Calls, out: &mut Out<'_>) {
        let Self { sent, edits, .. } = self;
        let mut fragment = |text: &str| calls.arguments(text, out.sink);
        let ready = edits.iter().take_while(|(_, end, _)| *end <= safe).count();
        for (start, end, text) in edits.drain(..ready) {
            fragment(&body[*sent..start]);
            fragment(&text);
            *sent = end;
        }
        if *sent < safe {
            fragment(&body[*sent..safe]);
            *sent = safe;
        }
    }
}
