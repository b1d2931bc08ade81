//! The state of a choice between chunks, and the state that a step shares between choices.

use std::collections::VecDeque;

use jail_match::LimitError;
use toolcall_parsers::{Ids, Parallel, Rejected, Tools, UsedIds, Wanted};

use crate::{
    chat::{
        choice::{
            delta_part::{DeltaPart, Names, OpenPart, PartKind},
            entries::Entries,
            pending_fields::PendingFields,
            upstream_calls::UpstreamCalls,
        },
        model::{
            chunk::{Choice, MessageDelta},
            field::Field,
        },
        note::{ChatNote, Violation},
        options::{ChatOptions, TakeBack},
        step::Released,
    },
    json::SealedArguments,
};

/// The state of a choice between chunks, without its guard.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct ChoiceState {
    pub(in crate::chat) index: u32,
    /// Role from upstream, until it is written.
    pub(in crate::chat) role: Option<String>,
    pub(in crate::chat) role_written: bool,
    /// Whether upstream last wrote `finish_reason: null`.
    pub(in crate::chat) finish_null: bool,
    pub(in crate::chat) finished: bool,
    /// Bytes of text given to the guard.
    pub(in crate::chat) fed: u64,
    /// Bytes of the text that wait for the rest of a marker token.
    pub(in crate::chat) cut: usize,
    /// Bytes of the text that were emitted or are known not to be text.
    pub(in crate::chat) at: u64,
    /// Ranges of the text that were decided before the text before them, with their lengths: the
    /// server's reasoning.
    pub(in crate::chat) early: VecDeque<(u64, u64)>,
    /// Number of the input chunk in which the held text began.
    pub(in crate::chat) held_since: Option<u64>,
    pub(in crate::chat) pending: PendingFields,
    pub(in crate::chat) entries: Entries,
    /// The content part that text goes to.
    pub(in crate::chat) part: Option<OpenPart>,
    /// Number of text parts emitted so far.
    pub(in crate::chat) parts: u64,
    /// Whether the last content was a list of parts.
    pub(in crate::chat) in_parts: bool,
    /// Names under which upstream writes reasoning.
    pub(in crate::chat) reasoning_names: Names,
    /// `<think>` was written into the content.
    pub(in crate::chat) inline: bool,
    /// Whether reasoning was hidden in this step.
    pub(in crate::chat) hid: bool,
    /// Whether a jail may remove text from the content.
    pub(in crate::chat) jailed: bool,
    /// Number of texts that a jail removed.
    pub(in crate::chat) taken: u64,
    pub(in crate::chat) upstream_calls: UpstreamCalls,
    /// Violations that the guard's observer has not received.
    pub(in crate::chat) violations: Vec<Violation>,
    pub(in crate::chat) ids: Ids,
    /// Calls that the request allows.
    pub(in crate::chat) wanted: Wanted,
    /// Tools that the request declared.
    pub(in crate::chat) tools: Tools,
    pub(in crate::chat) parallel: Parallel,
    /// Reasoning tokens, estimated from bytes, of the text before the guard was last reset.
    pub(in crate::chat) reasoning_tokens: u64,
    /// The stop string that ended the text.
    pub(in crate::chat) stopped: Option<String>,
    /// The limit that ended the text without an error.
    pub(in crate::chat) ended_by: Option<LimitError>,
    /// The guided payload that was dropped, if any.
    pub(in crate::chat) rejected: Option<Rejected>,
    pub(in crate::chat) used_ids: UsedIds,
    pub(in crate::chat) open: Option<OpenCall>,
    /// Which calls are removed when they end.
    pub(in crate::chat) take_back: TakeBack,
    /// Maximum bytes of arguments of a call that can still be removed.
    pub(in crate::chat) take_back_limit: usize,
    /// Number of calls written.
    pub(in crate::chat) next_call: u32,
    /// Calls completed in the text.
    pub(in crate::chat) completed: u32,
}

/// The guard's open call.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct OpenCall {
    /// Index of the call as written, or `None` if the call is dropped.
    pub(in crate::chat) written: Option<u32>,
    /// The delta part and the place in it where the call began, in this step.
    pub(in crate::chat) began: Option<(usize, usize)>,
    /// Bytes of the call's arguments.
    pub(in crate::chat) bytes: usize,
    /// The arguments as they are written.
    pub(in crate::chat) arguments: SealedArguments,
}

/// The state that one step shares between choices.
pub(in crate::chat) struct SharedStep<'s> {
    pub(in crate::chat) options: &'s ChatOptions,
    pub(in crate::chat) released: &'s mut Released,
    pub(in crate::chat) spare: &'s mut String,
    pub(in crate::chat) note: &'s mut dyn FnMut(ChatNote),
    /// The number of the input chunk.
    pub(in crate::chat) seq: u64,
    /// Index of the first delta part of the choice.
    pub(in crate::chat) first: usize,
    /// Whether an error ended the stream, after which no call begins.
    pub(in crate::chat) aborted: bool,
}

impl ChoiceState {
    /// Whether a call completed, in the text or upstream.
    pub(in crate::chat) fn called(&self) -> bool {
        self.completed > 0 || self.upstream_calls.any_is_sent()
    }

    /// Begins a new step. The output of earlier steps can no longer be changed.
    pub(in crate::chat) fn begin_step(&mut self, step: &mut SharedStep<'_>) {
        step.first = step.released.parts.len();
        self.hid = false;
        if let Some(open) = &mut self.open {
            open.began = None;
        }
    }

    /// Whether text that passes the guard unchanged may be emitted at once: nothing waits before
    /// it.
    pub(in crate::chat) fn is_level(&self) -> bool {
        let waits = self.held_since.is_some() || !self.pending.is_empty() || self.at != self.fed;
        let waits = waits || !self.entries.is_empty();
        let due = self.role.is_some() || self.inline || self.in_parts || self.part.is_some();
        !waits && !due && !self.finished && self.open.is_none()
    }

    /// Moves over text that was decided early. Returns how many of the next `len` bytes are before
    /// other such text.
    pub(in crate::chat) fn undecided_run(&mut self, len: u64) -> u64 {
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
    pub(in crate::chat) fn new_part(&mut self, kind: PartKind, seq: u64) -> DeltaPart {
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
    pub(in crate::chat) fn learn(&mut self, delta: &MessageDelta, has_finish: bool) {
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
    use crate::chat::choice::pending_fields::PendingField;

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
