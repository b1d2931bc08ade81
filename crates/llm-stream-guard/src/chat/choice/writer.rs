//! Conversion of a guard's events to delta parts of one choice.

use jail_match::{Event, Sink, Span, SpanKind};
use serde_json::{Map, Value};

use crate::chat::{
    choice::{
        delta_part::{DeltaPart, Names, OpenPart, PartKind},
        entries::{Decided, List, TextFate},
        pending_fields::{Part, PendingField},
        state::{ChoiceState, SharedStep},
    },
    note::{ChatNote, Note, Violation},
    options::ReasoningField,
};

/// A writer of the delta parts of one choice in one step.
pub(in crate::chat) struct DeltaWriter<'a, 's> {
    pub(in crate::chat) state: &'a mut ChoiceState,
    pub(in crate::chat) step: &'a mut SharedStep<'s>,
}

impl DeltaWriter<'_, '_> {
    pub(in crate::chat) fn violation(&mut self, violation: Violation) {
        self.state.violations.push(violation);
        self.note(Note::Violation(violation));
    }

    pub(in crate::chat) fn note(&mut self, note: Note) {
        (self.step.note)(ChatNote { choice: self.state.index, note });
    }

    pub(in crate::chat) fn has_piece(&self) -> bool {
        self.step.released.parts.len() > self.step.first
    }

    /// Returns the first delta part of the choice in this step.
    pub(in crate::chat) fn first(&mut self) -> Option<&mut DeltaPart> {
        self.step.released.parts.get_mut(self.step.first)
    }

    /// Returns the last delta part of the choice in this step, or a new one.
    pub(in crate::chat) fn last(&mut self) -> &mut DeltaPart {
        if !self.has_piece() {
            return self.delta_part(PartKind::Plain, true);
        }
        let parts = &mut self.step.released.parts;
        let at = parts.len() - 1;
        &mut parts[at]
    }

    /// Returns a delta part for output of `kind`: the last one if it fits, or a new one.
    pub(in crate::chat) fn delta_part(&mut self, kind: PartKind, fresh: bool) -> &mut DeltaPart {
        let SharedStep { released, first, seq, .. } = &mut *self.step;
        let parts = &mut released.parts;
        let fits =
            parts.len() > *first && !fresh && parts.last().is_some_and(|last| last.admits(kind));
        if !fits {
            parts.push(self.state.new_part(kind, *seq));
        }
        let at = parts.len() - 1;
        let delta_part = &mut parts[at];
        if delta_part.kind == PartKind::Plain && kind != PartKind::Plain {
            delta_part.kind = kind;
            delta_part.origin = self.state.held_since.take().unwrap_or(delta_part.origin);
        }
        delta_part
    }

    pub(in crate::chat) fn append(&mut self, kind: PartKind, text: &str) {
        self.end_whole(None);
        if kind == PartKind::Reasoning {
            return self.append_reasoning(text);
        }
        self.close_inline();
        match self.state.part.take() {
            Some(part) => {
                self.delta_part(PartKind::Parts(part.list), false).add_to_part(text, &part);
                self.state.part = Some(part);
            }
            None => self.append_content(text),
        }
    }

    fn append_content(&mut self, text: &str) {
        let mut spare = std::mem::take(self.step.spare);
        self.delta_part(PartKind::Content, false).add_content(text, &mut spare);
        *self.step.spare = spare;
    }

    fn append_reasoning(&mut self, text: &str) {
        match self.step.options.reasoning {
            ReasoningField::Hidden => self.state.hid = true,
            ReasoningField::Inline => {
                if !std::mem::replace(&mut self.state.inline, true) {
                    self.append_content("<think>");
                }
                self.append_content(text);
            }
            _ => {
                let names = self.reasoning_names();
                self.delta_part(PartKind::Reasoning, false).add_reasoning(text, names);
            }
        }
    }

    /// Returns the fields that reasoning is written to.
    fn reasoning_names(&self) -> Names {
        let as_upstream = self.state.reasoning_names;
        let names = |reasoning, reasoning_content| Names { reasoning, reasoning_content };
        match self.step.options.reasoning {
            ReasoningField::Reasoning => names(true, false),
            ReasoningField::Both => names(true, true),
            ReasoningField::AsUpstream if as_upstream.reasoning => as_upstream,
            _ => names(false, true),
        }
    }

    /// Closes reasoning that is written into the content, because other output follows.
    pub(in crate::chat) fn close_inline(&mut self) {
        if std::mem::take(&mut self.state.inline) {
            self.append_content("</think>");
        }
    }

    /// Records the part that following content belongs to, or writes a part.
    pub(in crate::chat) fn part(&mut self, part: Part) {
        let in_part = !matches!(part, Part::None);
        if std::mem::replace(&mut self.state.in_parts, in_part) || in_part {
            self.state.pending.push(self.state.fed, PendingField::Part(part));
        }
    }

    /// Records the number of texts that a jail removed so far, and drops their entries.
    pub(in crate::chat) fn forget_taken(&mut self, taken: u64) {
        if std::mem::replace(&mut self.state.taken, taken) != taken {
            self.forget_logprobs(self.state.at);
        }
    }

    /// Emits every pending field whose text ends at `to` or before, because that text is decided.
    pub(in crate::chat) fn settle(&mut self, to: u64) {
        while let Some((_, field)) = self.state.pending.pop_if(|end, _| end <= to) {
            self.apply(field);
        }
        self.state.entries.settle_to(to);
        self.write_entries(false);
        let waiting = self.state.pending.len() + self.state.entries.waiting();
        if waiting > self.step.options.limits.waiting {
            self.violation(Violation::WaitingLimit);
            if self.state.jailed {
                // The jail may yet take their text out.
                self.forget_logprobs(u64::MAX);
            }
            self.settle_all();
        }
    }

    /// Emits every pending field and entry.
    pub(in crate::chat) fn settle_all(&mut self) {
        while let Some((_, field)) = self.state.pending.pop_if(|_, _| true) {
            self.apply(field);
        }
        self.state.entries.settle_all();
        if self.state.next_call == 0 {
            self.state.entries.drop_calls();
        }
        self.write_entries(true);
    }

    /// Writes entries whose text is decided. Unless this is the `last` write, entries wait for a
    /// delta part, and those of calls for a part with a call.
    fn write_entries(&mut self, last: bool) {
        if !self.state.entries.has_ready() || !(last || self.has_piece()) {
            return;
        }
        let names = self.reasoning_names();
        let calls = last || self.last().kind == PartKind::Calls;
        let ready = self.state.entries.take_ready(calls);
        let delta_part = self.last();
        for (list, logprobs) in ready {
            match list {
                List::Content => delta_part.add_token("content", logprobs),
                List::Calls => delta_part.add_token("tool_calls", logprobs),
                List::Reasoning => {
                    if names.reasoning && names.reasoning_content {
                        delta_part.add_token("reasoning", logprobs.clone());
                    }
                    let one =
                        if names.reasoning_content { "reasoning_content" } else { "reasoning" };
                    delta_part.add_token(one, logprobs);
                }
            }
        }
    }

    /// Records the channel of the next `len` bytes of the choice's text.
    fn decide(&mut self, len: u64, fate: TextFate, text: &str) {
        let (mut left, mut text) = (len, text);
        while left > 0 {
            let len = self.state.undecided_run(left);
            let at = self.state.at;
            self.state.at += len;
            left -= len;
            // Markup has no text.
            let (part, rest) = text.split_at_checked(len as usize).unwrap_or((text, ""));
            if !self.state.entries.is_empty() {
                self.decided(Decided { at, len, fate, text: part });
            }
            text = rest;
        }
    }

    fn decided(&mut self, decided: Decided<'_>) {
        self.state.entries.decide(decided);
        // Text that a jail takes out is known only after the whole chunk was read.
        if !self.state.jailed {
            self.write_entries(false);
        }
    }

    /// Writes reasoning that the server separated at `at`, before the content before it is decided.
    pub(in crate::chat) fn reasoning_at(&mut self, at: u64, text: &str) {
        self.append(PartKind::Reasoning, text);
        self.state.early.push_back((at, text.len() as u64));
        let fate = self.fate(PartKind::Reasoning);
        self.decided(Decided { at, len: text.len() as u64, fate, text });
    }

    fn fate(&self, kind: PartKind) -> TextFate {
        match (kind, self.step.options.reasoning) {
            (PartKind::Reasoning, ReasoningField::Hidden) => TextFate::Hidden,
            (PartKind::Reasoning, ReasoningField::Inline) => TextFate::Inline,
            (PartKind::Reasoning, _) => TextFate::Reasoning,
            _ => TextFate::Content,
        }
    }

    fn forget_logprobs(&mut self, to: u64) {
        self.state.pending.forget_logprobs(to);
        self.state.entries.forget(to);
    }

    fn apply(&mut self, field: PendingField) {
        match field {
            PendingField::Logprobs(members) => self.last().add_logprobs(members),
            PendingField::Fields(fields) => self.fields(fields),
            PendingField::Part(Part::None) => self.state.part = None,
            PendingField::Part(Part::Text { list, fields, .. }) => {
                self.state.parts += 1;
                self.state.part = Some(OpenPart { list, number: self.state.parts, fields });
            }
            PendingField::Part(Part::Other { list, part }) => {
                self.close_inline();
                let (since, seq) = (self.state.held_since, self.step.seq);
                let delta_part = self.delta_part(PartKind::Parts(list), false);
                if delta_part.choice.delta.content.is_missing() {
                    delta_part.origin = seq;
                }
                delta_part.add_part(part);
                self.state.held_since = since;
            }
        }
    }

    /// Writes unknown fields. Following output may share their delta part.
    pub(in crate::chat) fn fields(&mut self, fields: Map<String, Value>) {
        let fits = self.has_piece()
            && self.step.released.parts.last().is_some_and(|last| {
                let extra = &last.choice.delta.extra;
                last.admits(PartKind::Plain) && fields.keys().all(|name| !extra.contains_key(name))
            });
        self.delta_part(PartKind::Plain, !fits).choice.delta.extra.extend(fields);
    }

    /// Writes the parts of `text` between its pending fields, and the fields.
    fn text_with_riders(&mut self, kind: PartKind, mut text: &str) {
        if kind == PartKind::Reasoning && self.step.options.reasoning == ReasoningField::Hidden {
            self.state.pending.forget_logprobs(self.state.at + text.len() as u64);
        }
        loop {
            let (at, end) = (self.state.at, self.state.at + text.len() as u64);
            let Some((to, field)) = self.state.pending.pop_if(|to, _| to < end) else { break };
            let mut cut = to.saturating_sub(at) as usize;
            while !text.is_char_boundary(cut) {
                cut += 1;
            }
            let (before, behind) = text.split_at(cut);
            self.put(kind, before);
            text = behind;
            self.apply(field);
        }
        self.put(kind, text);
    }

    fn put(&mut self, kind: PartKind, text: &str) {
        if !text.is_empty() {
            self.append(kind, text);
            self.decide(text.len() as u64, self.fate(kind), text);
        }
    }

    fn text(&mut self, kind: PartKind, text: &str) {
        if self.state.pending.is_empty() {
            self.put(kind, text);
        } else {
            self.text_with_riders(kind, text);
        }
    }
}

impl Sink for DeltaWriter<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Other(_, text) => self.text(PartKind::Content, text),
            Event::Reasoning(text) => self.text(PartKind::Reasoning, text),
            Event::CallStart { id, name, .. } => self.call_start(id, name),
            Event::CallArguments { fragment, .. } => self.call_arguments(fragment),
            Event::CallEnd { outcome, .. } => self.call_end(outcome),
            Event::Diagnostic(diagnostic) => self.note(Note::Diagnostic(diagnostic)),
            _ => {}
        }
    }

    fn account(&mut self, span: Span) {
        let fate = if span.kind == SpanKind::Body { TextFate::Call } else { TextFate::Markup };
        self.decide(span.len, fate, "");
    }
}
