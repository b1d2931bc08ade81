//! Calls of a choice. Calls found by the guard and calls made by upstream share one numbering.

use serde_json::Map;
use toolcall_parsers::{Claim, Outcome, Parallel};

use super::{
    choice_state::OpenCall,
    chunk::{FunctionDelta, ToolCallDelta},
    delta_part::PartKind,
    note::{Note, Violation},
    options::TakeBack,
    writer::DeltaWriter,
};

impl DeltaWriter<'_, '_> {
    /// Handles a delta of a call that upstream made.
    pub(super) fn native(&mut self, delta: ToolCallDelta) {
        let ToolCallDelta { function, kind, extra, .. } = &delta;
        let name = function.as_ref().and_then(|it| it.name.clone()).filter(|it| !it.is_empty());
        let fragment = function.as_ref().and_then(|it| it.arguments.as_deref()).unwrap_or_default();
        let says = name.is_some() || !fragment.is_empty() || !extra.is_empty();
        let Some(at) = self.lane.native.of(&delta, self.step.options.limits.calls) else {
            self.violation(Violation::CallLimit);
            return;
        };
        if !says {
            return;
        }
        let call = &mut self.lane.native.calls[at];
        call.arguments.feed(fragment);
        call.has_arguments |= !fragment.is_empty();
        if !self.lane.native.calls[at].begun {
            let written = self.open_call(name.as_deref());
            let call = &mut self.lane.native.calls[at];
            (call.begun, call.written) = (true, written);
            let id = call.id.clone();
            let Some(index) = written else { return };
            self.close_inline();
            if name.is_none() && function.is_some() {
                self.violation(Violation::NamelessCall);
            }
            let said = name.as_deref().unwrap_or_default();
            let id = id.unwrap_or_else(|| self.lane.ids.id(said, index));
            let id = self.unique_id(id, said);
            let kind = kind.clone().or_else(|| Some("function".into()));
            let function = function.as_ref().map(|function| FunctionDelta {
                name: Some(name.unwrap_or_default()),
                arguments: Some(fragment.to_owned()),
                extra: function.extra.clone(),
            });
            let first = ToolCallDelta {
                index: Some(index),
                id: Some(id),
                kind,
                function,
                extra: extra.clone(),
            };
            self.piece(PartKind::Calls, false).choice.delta.tool_calls.push(first);
            return;
        }
        let Some(index) = self.lane.native.calls[at].written else { return };
        if !fragment.is_empty() {
            self.arguments(index, fragment);
        }
        if !extra.is_empty() {
            let more =
                ToolCallDelta { index: Some(index), extra: extra.clone(), ..Default::default() };
            self.piece(PartKind::Calls, false).choice.delta.tool_calls.push(more);
        }
    }

    /// Starts a call and returns its index, or `None` if the call is dropped.
    fn open_call(&mut self, name: Option<&str>) -> Option<u32> {
        let wanted = self.lane.wanted.admits(name.unwrap_or_default());
        let suppressed = self.step.aborted || !wanted;
        let second = self.lane.parallel == Parallel::One && self.lane.next_call > 0;
        let dropped = if suppressed || second {
            Violation::DroppedCall
        } else if self.lane.next_call as usize >= self.step.options.limits.calls {
            Violation::CallLimit
        } else {
            self.lane.next_call += 1;
            return Some(self.lane.next_call - 1);
        };
        self.violation(dropped);
        None
    }

    fn unique_id(&mut self, id: String, name: &str) -> String {
        let (ids, next) = (&self.lane.ids, self.lane.next_call);
        let (id, claim) = self.lane.used_ids.claim(id, || ids.id(name, next));
        if claim != Claim::AsWanted {
            self.violation(Violation::DuplicateId);
        }
        id
    }

    fn arguments(&mut self, index: u32, fragment: &str) {
        let calls = &mut self.piece(PartKind::Calls, false).choice.delta.tool_calls;
        if let Some(last) = calls.last_mut()
            && last.index == Some(index)
            && let Some(function) = &mut last.function
        {
            function.arguments.get_or_insert_default().push_str(fragment);
            return;
        }
        let function = FunctionDelta { arguments: Some(fragment.to_owned()), ..Default::default() };
        calls.push(ToolCallDelta {
            index: Some(index),
            function: Some(function),
            ..Default::default()
        });
    }

    /// Removes the call that began in this step.
    fn undo(&mut self, (piece, place): (usize, usize)) {
        let at = piece;
        let Some(piece) = self.step.released.parts.get_mut(at) else { return };
        piece.choice.delta.tool_calls.truncate(place);
        if place == 0 {
            piece.kind = PartKind::Plain;
            if piece.is_bare() {
                self.step.released.parts.remove(at);
            }
        }
        self.lane.next_call -= 1;
        self.violation(Violation::DroppedCall);
    }

    pub(super) fn call_start(&mut self, id: &str, name: &str) {
        let written = self.open_call(Some(name));
        let mut began = None;
        if let Some(index) = written {
            self.close_inline();
            let id = self.unique_id(id.to_owned(), name);
            let calls = &mut self.piece(PartKind::Calls, false).choice.delta.tool_calls;
            let place = calls.len();
            calls.push(ToolCallDelta {
                index: Some(index),
                id: Some(id),
                kind: Some("function".into()),
                function: Some(FunctionDelta {
                    name: Some(name.to_owned()),
                    arguments: Some(String::new()),
                    extra: Map::new(),
                }),
                extra: Map::new(),
            });
            began = Some((self.step.released.parts.len() - 1, place));
        }
        self.lane.open = Some(OpenCall { written, began, bytes: 0 });
    }

    /// Ends upstream's calls. If the answer is `whole`, a call that arrived without arguments has
    /// none.
    pub(super) fn end_native(&mut self, whole: bool) {
        for at in 0..self.lane.native.calls.len() {
            let call = &mut self.lane.native.calls[at];
            let Some(index) = call.written else { continue };
            if whole && !std::mem::replace(&mut call.has_arguments, true) {
                call.arguments.feed("{}");
                self.arguments(index, "{}");
            }
            let call = &mut self.lane.native.calls[at];
            if !std::mem::replace(&mut call.ended, true) {
                let closed = call.arguments.is_closed();
                let outcome = if closed { Outcome::Complete } else { Outcome::Incomplete };
                self.step.released.end_call(self.lane.index, index, outcome);
            }
        }
    }

    pub(super) fn call_arguments(&mut self, fragment: &str) {
        let Some(open) = &mut self.lane.open else { return };
        open.bytes += fragment.len();
        if let Some(index) = open.written {
            self.arguments(index, fragment);
        }
    }

    pub(super) fn call_end(&mut self, outcome: Outcome) {
        let Some(OpenCall { written: Some(index), began, bytes }) = self.lane.open.take() else {
            return;
        };
        self.note(Note::CallEnd { index, outcome });
        let taken_back = match (outcome, self.lane.take_back) {
            (Outcome::Complete | Outcome::Repaired, _) => {
                self.lane.completed += 1;
                false
            }
            (_, TakeBack::None) => false,
            (outcome, TakeBack::Malformed) => outcome == Outcome::Malformed,
            (_, TakeBack::Broken) => true,
        };
        // A longer call began in an earlier step or in this one, as the stream was cut.
        match began.filter(|_| taken_back && bytes <= self.lane.take_back_limit) {
            Some(began) => self.undo(began),
            None => self.step.released.end_call(self.lane.index, index, outcome),
        }
    }
}
