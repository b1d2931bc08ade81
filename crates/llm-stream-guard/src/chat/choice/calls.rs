//! Calls of a choice. Calls found by the guard and calls made by upstream share one numbering.

use serde_json::Map;
use toolcall_parsers::{Claim, Outcome, Parallel};

use crate::chat::{
    choice::{
        delta_part::PartKind, state::OpenCall, upstream_calls::with_function, writer::DeltaWriter,
    },
    model::chunk::{FunctionDelta, ToolCallDelta},
    note::{Note, Violation},
    options::{CallForm, TakeBack},
    step::CallEnding,
};

impl DeltaWriter<'_, '_> {
    /// Handles a delta of a call that upstream made.
    pub(in crate::chat) fn upstream_call(&mut self, delta: ToolCallDelta) {
        let delta = with_function(delta);
        let Some(at) = self.state.upstream_calls.of(&delta, self.step.options.limits.calls) else {
            self.violation(Violation::CallLimit);
            return;
        };
        self.end_whole(Some(at));
        let ToolCallDelta { function, extra, .. } = &delta;
        let name = function.as_ref().and_then(|it| it.name.as_deref()).unwrap_or_default();
        let fragment = function.as_ref().and_then(|it| it.arguments.as_deref()).unwrap_or_default();
        if name.is_empty() && fragment.is_empty() && extra.is_empty() {
            return;
        }
        let call = &mut self.state.upstream_calls.calls[at];
        call.feed(fragment);
        if !call.begun {
            let is_due = self.step.options.calls == CallForm::Streamed || call.is_whole();
            let held = call.held.get_or_insert_default();
            hold(held, delta);
            let is_named = held.function.as_ref().is_none_or(|it| it.name.is_some());
            let held = held.function.as_ref().and_then(|it| it.arguments.as_ref());
            let is_long = held.is_some_and(|it| it.len() > self.state.take_back_limit);
            if is_long || is_named && is_due {
                self.begin_native(at);
            }
            return;
        }
        let Some(index) = call.written else { return };
        if !fragment.is_empty() {
            self.arguments(index, fragment);
        }
        if !extra.is_empty() {
            let more =
                ToolCallDelta { index: Some(index), extra: extra.clone(), ..Default::default() };
            self.delta_part(PartKind::Calls, false).choice.delta.tool_calls.push(more);
        }
    }

    /// Writes the beginning of a call that upstream made, unless it has no name.
    fn begin_native(&mut self, at: usize) {
        let call = &mut self.state.upstream_calls.calls[at];
        call.begun = true;
        let Some(held) = call.held.take() else { return };
        let ToolCallDelta { kind, mut function, extra, .. } = *held;
        let name = function.as_ref().map(|it| it.name.clone().unwrap_or_default());
        if name.as_ref().is_some_and(String::is_empty) {
            return self.violation(Violation::NamelessCall);
        }
        let mut name = name.unwrap_or_default();
        if let Some(declared) = self.state.tools.declared_in(&name) {
            name = declared.to_owned();
            call.renamed = true;
            function.get_or_insert_default().name = Some(name.clone());
        }
        let Some(index) = self.open_call(&name) else { return };
        self.state.upstream_calls.calls[at].written = Some(index);
        self.close_inline();
        let id = self.state.upstream_calls.calls[at].id.clone();
        let id = id.unwrap_or_else(|| self.state.ids.id(&name, index));
        let id = self.unique_id(id, &name);
        if let Some(function) = &mut function {
            function.arguments.get_or_insert_default();
        }
        let kind = kind.or_else(|| Some("function".into()));
        let first = ToolCallDelta { index: Some(index), id: Some(id), kind, function, extra };
        self.delta_part(PartKind::Calls, false).choice.delta.tool_calls.push(first);
    }

    /// Starts a call and returns its index, or `None` if the call is dropped.
    fn open_call(&mut self, name: &str) -> Option<u32> {
        let wanted = self.state.wanted.admits(name);
        let suppressed = self.step.aborted || !wanted;
        let second = self.state.parallel == Parallel::One && self.state.next_call > 0;
        let dropped = if suppressed || second {
            Violation::DroppedCall
        } else if self.state.next_call as usize >= self.step.options.limits.calls {
            Violation::CallLimit
        } else {
            self.state.next_call += 1;
            return Some(self.state.next_call - 1);
        };
        self.violation(dropped);
        None
    }

    fn unique_id(&mut self, id: String, name: &str) -> String {
        let (ids, next) = (&self.state.ids, self.state.next_call);
        let (id, claim) = self.state.used_ids.claim(id, || ids.id(name, next));
        if claim != Claim::AsWanted {
            self.violation(Violation::DuplicateId);
        }
        id
    }

    fn arguments(&mut self, index: u32, fragment: &str) {
        let calls = &mut self.delta_part(PartKind::Calls, false).choice.delta.tool_calls;
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
    fn undo(&mut self, (delta_part, place): (usize, usize)) {
        let at = delta_part;
        let Some(delta_part) = self.step.released.parts.get_mut(at) else { return };
        delta_part.choice.delta.tool_calls.truncate(place);
        if place == 0 {
            delta_part.kind = PartKind::Plain;
            if delta_part.is_bare() {
                self.step.released.parts.remove(at);
            }
        }
        self.state.next_call -= 1;
        self.violation(Violation::DroppedCall);
    }

    pub(in crate::chat) fn call_start(&mut self, id: &str, name: &str) {
        let written = self.open_call(name);
        let mut began = None;
        if let Some(index) = written {
            self.close_inline();
            let id = self.unique_id(id.to_owned(), name);
            let calls = &mut self.delta_part(PartKind::Calls, false).choice.delta.tool_calls;
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
        self.state.open = Some(OpenCall { written, began, ..OpenCall::default() });
    }

    /// Ends the calls of upstream whose arguments are whole, because other output follows. The call
    /// at `but` may go on.
    pub(in crate::chat) fn end_whole(&mut self, but: Option<usize>) {
        for at in 0..self.state.upstream_calls.calls.len() {
            let call = &self.state.upstream_calls.calls[at];
            if Some(at) != but && call.written.is_some() && call.is_whole() {
                self.end_native_call(at, false);
            }
        }
    }

    /// Ends upstream's calls. If the answer was not `cut`, a call that arrived without arguments has
    /// none.
    pub(in crate::chat) fn end_native(&mut self, cut: bool) {
        for at in 0..self.state.upstream_calls.calls.len() {
            let call = &mut self.state.upstream_calls.calls[at];
            let fragment = if cut || call.has_arguments { "" } else { "{}" };
            call.feed(fragment);
            if !call.begun {
                self.begin_native(at);
            }
            let Some(index) = self.state.upstream_calls.calls[at].written else { continue };
            if !fragment.is_empty() {
                self.arguments(index, fragment);
            }
            self.end_native_call(at, cut);
        }
    }

    fn end_native_call(&mut self, at: usize, cut: bool) {
        let call = &mut self.state.upstream_calls.calls[at];
        let Some(index) = call.written.filter(|_| !std::mem::replace(&mut call.ended, true)) else {
            return;
        };
        let outcome = call.outcome(cut);
        // Arguments that are neither an object nor a list pass unchanged: some servers write text.
        let passes = call.has_arguments && !call.arguments.is_opened();
        let seal = if outcome.runs() || passes { String::new() } else { call.arguments.seal() };
        self.state.upstream_calls.unreported.push((index, outcome));
        self.end_call(CallEnding { index, outcome, seal });
    }

    fn end_call(&mut self, ending: CallEnding) {
        if !ending.seal.is_empty() {
            // The seal is written there, if the step is written as chunks.
            self.delta_part(PartKind::Calls, false);
        }
        self.step.released.end_call(self.state.index, ending);
    }

    pub(in crate::chat) fn call_arguments(&mut self, fragment: &str) {
        let Some(open) = &mut self.state.open else { return };
        open.bytes += fragment.len();
        let Some(index) = open.written else { return };
        let fragment = open.arguments.push(fragment);
        if !fragment.is_empty() {
            self.arguments(index, fragment);
        }
    }

    pub(in crate::chat) fn call_end(&mut self, outcome: Outcome) {
        let Some(open) = self.state.open.take() else { return };
        let OpenCall { written: Some(index), began, bytes, arguments } = open else { return };
        let taken_back = match (outcome, self.state.take_back) {
            (outcome, _) if outcome.runs() => {
                self.state.completed += 1;
                false
            }
            (_, TakeBack::None) => false,
            (outcome, TakeBack::Malformed) => outcome == Outcome::Malformed,
            (_, TakeBack::Broken) => true,
        };
        self.note(Note::CallEnd { index, outcome });
        // A longer call began in an earlier step or in this one, as the stream was cut.
        if let Some(began) = began.filter(|_| taken_back && bytes <= self.state.take_back_limit) {
            return self.undo(began);
        }
        let mut last = arguments.end(outcome.runs());
        if outcome.runs() && !last.is_empty() {
            self.arguments(index, &std::mem::take(&mut last));
        }
        self.end_call(CallEnding { index, outcome, seal: last });
    }
}

/// Adds a delta to the held beginning of a call.
fn hold(held: &mut ToolCallDelta, delta: ToolCallDelta) {
    let ToolCallDelta { kind, function, extra, .. } = delta;
    held.kind = held.kind.take().or(kind);
    held.extra.extend(extra);
    let Some(more) = function else { return };
    let function = held.function.get_or_insert_with(FunctionDelta::default);
    if function.name.is_none() {
        function.name = more.name.filter(|name| !name.is_empty());
    }
    if let Some(arguments) = more.arguments {
        function.arguments.get_or_insert_default().push_str(&arguments);
    }
    function.extra.extend(more.extra);
}
