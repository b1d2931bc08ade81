//! The state of a choice between chunks, and the state that a step shares between choices.

use std::collections::VecDeque;

use jail_match::LimitError;
use serde_json::{Map, Value};
use toolcall_parsers::{Ids, Parallel, Rejected, Tools, UsedIds, Wanted};

use super::{
    chunk::{Choice, MessageDelta},
    delta_part::{DeltaPart, PartKind},
    entries::Entries,
    field::Field,
    note::{ChatNote, Violation},
    options::{ChatOptions, TakeBack},
    pending_fields::PendingFields,
    step::Released,
    upstream_calls::UpstreamCalls,
};
use crate::json::SealedArguments;

/// The state of a choice between chunks, without its guard.
#[derive(Debug, Clone, Default)]
pub(super) struct ChoiceState {
    pub(super) index: u32,
    /// Role from upstream, until it is written.
    pub(super) role: Option<String>,
    pub(super) role_written: bool,
    /// Whether upstream last wrote `finish_reason: null`.
    pub(super) finish_null: bool,
    pub(super) finished: bool,
    /// Bytes of text given to the guard.
    pub(super) fed: u64,
    /// Bytes of the text that wait for the rest of a marker token.
    pub(super) cut: usize,
    /// Bytes of the text that were emitted or are known not to be text.
    pub(super) at: u64,
    /// Ranges of the text that were decided before the text before them, with their lengths: the
    /// server's reasoning.
    pub(super) early: VecDeque<(u64, u64)>,
    /// Number of the input chunk in which the held text began.
    pub(super) held_since: Option<u64>,
    pub(super) pending: PendingFields,
    pub(super) entries: Entries,
    /// The content part that text goes to.
    pub(super) part: Option<OpenPart>,
    /// Number of text parts emitted so far.
    pub(super) parts: u64,
    /// Whether the last content was a list of parts.
    pub(super) in_parts: bool,
    /// Names under which upstream writes reasoning.
    pub(super) reasoning_names: Names,
    /// `<think>` was written into the content.
    pub(super) inline: bool,
    /// Whether reasoning was hidden in this step.
    pub(super) hid: bool,
    /// Whether a jail may remove text from the content.
    pub(super) jailed: bool,
    /// Number of texts that a jail removed.
    pub(super) taken: u64,
    pub(super) upstream_calls: UpstreamCalls,
    /// Violations that the guard's observer has not received.
    pub(super) violations: Vec<Violation>,
    pub(super) ids: Ids,
    /// Calls that the request allows.
    pub(super) wanted: Wanted,
    /// Tools that the request declared.
    pub(super) tools: Tools,
    pub(super) parallel: Parallel,
    /// Reasoning tokens, estimated from bytes, of the text before the guard was last reset.
    pub(super) reasoning_tokens: u64,
    /// The stop string that ended the text.
    pub(super) stopped: Option<String>,
    /// The limit that ended the text without an error.
    pub(super) ended_by: Option<LimitError>,
    /// The guided payload that was dropped, if any.
    pub(super) rejected: Option<Rejected>,
    pub(super) used_ids: UsedIds,
    pub(super) open: Option<OpenCall>,
    /// Which calls are removed when they end.
    pub(super) take_back: TakeBack,
    /// Maximum bytes of arguments of a call that can still be removed.
    pub(super) take_back_limit: usize,
    /// Number of calls written.
    pub(super) next_call: u32,
    /// Calls completed in the text.
    pub(super) completed: u32,
}

/// Names under which reasoning is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Names {
    pub(super) reasoning: bool,
    pub(super) reasoning_content: bool,
}

/// A content part that text goes to.
#[derive(Debug, Clone)]
pub(super) struct OpenPart {
    /// The list that the part belongs to.
    pub(super) list: u64,
    /// Number of the part within the choice, from 1.
    pub(super) number: u64,
    /// The other fields of the part.
    pub(super) fields: Map<String, Value>,
}

/// The guard's open call.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenCall {
    /// Index of the call as written, or `None` if the call is dropped.
    pub(super) written: Option<u32>,
    /// The delta part and the place in it where the call began, in this step.
    pub(super) began: Option<(usize, usize)>,
    /// Bytes of the call's arguments.
    pub(super) bytes: usize,
    /// The arguments as they are written.
    pub(super) arguments: SealedArguments,
}

/// The state that one step shares between choices.
pub(super) struct SharedStep<'s> {
    pub(super) options: &'s ChatOptions,
    pub(super) released: &'s mut Released,
    pub(super) spare: &'s mut String,
    pub(super) note: &'s mut dyn FnMut(ChatNote),
    /// The number of the input chunk.
    pub(super) seq: u64,
    /// Index of the first delta part of the choice.
    pub(super) first: usize,
    /// Whether an error ended the stream, after which no call begins.
    pub(super) aborted: bool,
}

impl ChoiceState {
    /// Whether a call completed, in the text or upstream.
    pub(super) fn called(&self) -> bool {
        self.completed > 0 || self.upstream_calls.any_is_sent()
    }

    /// Begins a new step. The output of earlier steps can no longer be changed.
    pub(super) fn begin_step(&mut self, step: &mut SharedStep<'_>) {
        step.first = step.released.parts.len();
        self.hid = false;
        if let Some(open) = &mut self.open {
            open.began = None;
        }
    }

    /// Whether text that passes the guard unchanged may be emitted at once: nothing waits before
    /// it.
    pub(super) fn is_level(&self) -> bool {
        let waits = self.held_since.is_some() || !self.pending.is_empty() || self.at != self.fed;
        let waits = waits || !self.entries.is_empty();
        let due = self.role.is_some() || self.inline || self.in_parts || self.part.is_some();
        !waits && !due && !self.finished && self.open.is_none()
    }

    /// Moves over text that was decided early. Returns how many of the next `len` bytes are before
    /// other such text.
    pub(super) fn undecided_run(&mut self, len: u64) -> u64 {
        while let Some(&(at, early)) = self.early.front() {
            if at > self.at {
                return len.min(at.saturating_sub(self.at));
            }
            self.at = self.at.max(at.saturating_add(early));
            self.early.pop_front();
        }
        len
    }

    /// Creates a delta part of the choice. The first part has the role, if upstream sent one.
    pub(super) fn new_part(&mut self, kind: PartKind, seq: u64) -> DeltaPart {
        let mut choice = Choice { index: self.index, ..Choice::default() };
        if self.finish_null {
            choice.finish_reason = Field::Null;
        }
        if let (Some(role), false) = (self.role.take(), self.role_written) {
            self.role_written = true;
            choice.delta.role = Field::Value(role);
        }
        let origin = if kind == PartKind::Plain { None } else { self.held_since.take() };
        DeltaPart {
            choice,
            kind,
            logprobs: None,
            origin: origin.unwrap_or(seq),
            part: 0,
            ordinal: 0,
        }
    }

    /// Records facts about the choice that any chunk may contain.
    pub(super) fn learn(&mut self, delta: &MessageDelta, has_finish: bool) {
        if let (Field::Value(role), false) = (&delta.role, self.role_written) {
            self.role.get_or_insert_with(|| role.clone());
        }
        self.finish_null = has_finish;
        self.reasoning_names.reasoning |= !delta.reasoning.is_missing();
        self.reasoning_names.reasoning_content |= !delta.reasoning_content.is_missing();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::{ChoiceState, OpenCall, OpenPart};
    use crate::chat::pending_fields::PendingField;

    #[test]
    fn choice_with_any_pending_state_is_not_level() {
        assert!(ChoiceState::default().is_level());
        let changes: [fn(&mut ChoiceState); 10] = [
            |state| state.held_since = Some(1),
            |state| state.pending.push(0, PendingField::Fields(Map::new())),
            |state| state.entries.take_chunk(0, 1, None),
            |state| state.fed = 1,
            |state| state.role = Some("assistant".into()),
            |state| state.inline = true,
            |state| state.in_parts = true,
            |state| state.part = Some(OpenPart { list: 1, number: 1, fields: Map::new() }),
            |state| state.finished = true,
            |state| state.open = Some(OpenCall::default()),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut state = ChoiceState::default();
            change(&mut state);
            assert!(!state.is_level(), "change {at}");
        }
    }
}
