//! The call that is being read from JSON.

use alloc::{string::String, vec::Vec};

use super::emitter::Emitter;
use crate::cast;

/// The call that is being read. Offsets are those of the region's JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Call {
    pub(super) name: Option<String>,
    /// Whether the start of the call was emitted.
    pub(super) begun: bool,
    pub(super) arguments: Arguments,
    /// The end of the arguments that were emitted.
    pub(super) sent: usize,
    /// Replacements of parts of the JSON: start, end, new text.
    pub(super) edits: Vec<(usize, usize, String)>,
    /// The types to which the argument being read may be cast.
    pub(super) types: cast::Types,
    /// The start of a list whose items may be cast.
    pub(super) list: Option<usize>,
    /// Whether a second name came after the name that was emitted.
    pub(super) renamed: bool,
}

/// The part of a call's arguments that was read.
///
/// ```text
/// {"name": "f", "arguments": {"a": 1}}
///  None ........             Open ...Object
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Arguments {
    #[default]
    None,
    /// An object that is open, and the number of containers around its members.
    Open { start: usize, depth: usize },
    /// An object that is complete.
    Object { start: usize, end: usize },
    /// A string, which should hold an object.
    Text { start: usize, end: usize },
    /// A value that is neither object nor string.
    Other,
}

impl Call {
    /// Returns whether the argument being read may be cast. `is_list` states whether it is a list.
    pub(super) fn may_be_cast(&self, is_list: bool) -> bool {
        cast::may_change(&self.types, is_list)
    }

    /// Casts the argument with this text, which begins at `start`.
    pub(super) fn recast(&mut self, start: usize, text: &str) {
        if let Some(new) = cast::recast(text, &self.types) {
            self.edits.retain(|(at, ..)| *at < start);
            self.edits.push((start, start + text.len(), new));
        }
    }

    /// Emits the arguments up to `safe`.
    pub(super) fn send(&mut self, json: &str, safe: usize, out: &mut Emitter<'_>) {
        let Self { sent, edits, .. } = self;
        let ready = edits.iter().take_while(|(_, end, _)| *end <= safe).count();
        for (start, end, text) in edits.drain(..ready) {
            out.arguments(&json[*sent..start]);
            out.arguments(&text);
            *sent = end;
        }
        if *sent < safe {
            out.arguments(&json[*sent..safe]);
            *sent = safe;
        }
    }
}
