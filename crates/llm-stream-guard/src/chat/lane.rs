//! What a choice remembers between chunks, and what a step shares between choices.

use toolcall_parsers::{Ids, UsedIds, Wanted};

use super::{
    chunk::Choice,
    field::Field,
    native::NativeCalls,
    note::ChatNote,
    options::ChatOptions,
    piece::{Kind, Piece},
    riders::Riders,
};
use crate::guard::Rejected;

/// What a choice remembers between chunks, its guard apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    pub(super) index: u32,
    pub(super) role: Option<String>,
    pub(super) role_written: bool,
    /// Upstream writes `finish_reason: null`.
    pub(super) finish_null: bool,
    pub(super) finished: bool,
    /// Bytes of text given to the guard.
    pub(super) fed: u64,
    /// Bytes of it that came out or are known to be none.
    pub(super) at: u64,
    /// The input chunk in which what is held began.
    pub(super) held_since: Option<u64>,
    pub(super) riders: Riders,
    pub(super) native: NativeCalls,
    pub(super) ids: Ids,
    /// Which calls the request wants.
    pub(super) wanted: Wanted,
    /// Tokens of reasoning, as estimated, in what the guard has been reset since.
    pub(super) reasoning_tokens: u64,
    /// A stop string ended the text.
    pub(super) stopped: bool,
    /// The guided payload was dropped.
    pub(super) rejected: Option<Rejected>,
    pub(super) used_ids: UsedIds,
    pub(super) open: Option<OpenCall>,
    /// Calls written.
    pub(super) next_call: u32,
    /// Calls completed in the text.
    pub(super) completed: u32,
}

/// The guard's open call.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    /// Its index as written; `None` if it is dropped.
    pub(super) written: Option<u32>,
    /// The piece and the place in it where it began, in this step.
    pub(super) began: Option<(usize, usize)>,
}

/// What one step shares between choices.
pub(super) struct Step<'s> {
    pub(super) options: &'s ChatOptions,
    pub(super) pieces: &'s mut Vec<Piece>,
    pub(super) spare: &'s mut String,
    pub(super) note: &'s mut dyn FnMut(ChatNote),
    /// The number of the input chunk.
    pub(super) seq: u64,
    /// Where the pieces of the choice begin.
    pub(super) first: usize,
    /// An error ended the stream: no call begins any more.
    pub(super) aborted: bool,
}

impl Lane {
    /// Whether a call completed, in the text or upstream.
    pub(super) fn called(&self) -> bool {
        self.completed > 0 || self.native.any_stands()
    }

    /// A new step begins: what earlier ones wrote is out.
    pub(super) fn begin_step(&mut self) {
        if let Some(open) = &mut self.open {
            open.began = None;
        }
    }

    /// A piece of the choice; the first has the role.
    pub(super) fn new_piece(&mut self, kind: Kind, seq: u64) -> Piece {
        let mut choice = Choice { index: self.index, ..Choice::default() };
        if self.finish_null {
            choice.finish_reason = Field::Null;
        }
        if !self.role_written {
            self.role_written = true;
            let role = self.role.take().unwrap_or_else(|| "assistant".into());
            choice.delta.role = Field::Value(role);
        }
        let text = !matches!(kind, Kind::Plain | Kind::Closed);
        let origin = if text { self.held_since.take() } else { None };
        Piece { choice, kind, logprobs: None, origin: origin.unwrap_or(seq), ordinal: 0 }
    }
}
