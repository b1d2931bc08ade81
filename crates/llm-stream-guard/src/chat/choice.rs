//! One choice of a stream, with its guard and its state.

pub(super) mod calls;
pub(super) mod delta_part;
pub(super) mod empty_fields;
pub(super) mod entries;
pub(super) mod finish;
pub(super) mod pending_fields;
pub(super) mod remap;
pub(super) mod state;
pub(super) mod steps;
pub(super) mod upstream_calls;
pub(super) mod writer;

use jail_match::{Channel, End, Event, LimitError, ServerItem};
use serde_json::{Map, Value};
use wire_remap::RemapReport;

use crate::{
    chat::{
        choice::{
            delta_part::{PartKind, says_nothing},
            empty_fields::EmptyFields,
            entries::ReasoningCount,
            finish::{end_of, finish_word, tell_stop},
            pending_fields::{Part, PendingField},
            remap::{ChoiceRemap, report},
            state::{ChoiceState, SharedStep},
            steps::{Counted, finish, holds, look, read_upstream_call, report_violations, settle},
            writer::DeltaWriter,
        },
        model::{
            chunk::{Choice, MessageDelta},
            content::Pieces,
            field::Field,
        },
        note::Violation,
        options::{ReasoningField, TakeBack},
        tokens::{marker_ids::TokenMode, token_ids::remove_ids},
    },
    guard::Guard,
    observe::Stats,
};

#[derive(Debug, Clone)]
pub(super) struct GuardedChoice {
    pub(super) guard: Guard,
    pub(super) state: ChoiceState,
    pub(super) mode: TokenMode,
    /// Whether the guard also reads reasoning that the server separated.
    apart: bool,
    counted: Counted,
    remap: Option<Box<ChoiceRemap>>,
}

impl GuardedChoice {
    pub(super) fn new(index: u32, guard: &Guard, take_back: TakeBack) -> Self {
        let mut guard = guard.clone();
        let calls = guard.calls();
        let state = ChoiceState {
            index,
            ids: calls.options().ids.clone(),
            wanted: calls.options().wanted.clone(),
            parallel: calls.options().parallel,
            tools: calls.tools().clone(),
            jailed: guard.jailer().is_some(),
            take_back,
            take_back_limit: guard.atomic_limit(),
            ..ChoiceState::default()
        };
        guard.observe_choice(index);
        let remap = ChoiceRemap::new(guard.regime());
        let mode = TokenMode::default();
        Self { guard, state, mode, apart: false, counted: Counted::default(), remap }
    }

    /// Whether a stop string or a collapse ended the choice.
    pub(super) fn is_stopped(&self) -> bool {
        self.state.stopped.is_some() || self.guard.is_over()
    }

    /// Returns the counters of the choice.
    pub(super) fn stats(&self) -> Option<&Stats> {
        self.counted.stats.as_deref().or_else(|| self.guard.stats())
    }

    /// Returns the number of reasoning tokens so far. A `whole` answer is one delta, so that
    /// without token counts the number is estimated from its bytes.
    pub(super) fn reasoning_tokens(&self, whole: bool) -> ReasoningCount {
        let mut count = self.state.entries.reasoning;
        if whole && count.estimated {
            let bytes = self.state.reasoning_tokens.saturating_add(self.guard.reasoning_tokens());
            count.tokens = count.tokens.max(bytes);
        }
        count
    }

    /// Returns the counts of remapping so far.
    pub(super) fn remap_report(&self) -> RemapReport {
        let content = self.guard.remap_tally().map(|mut tally| {
            tally += &self.counted.decoded;
            tally
        });
        report(content, self.remap.as_deref())
    }

    pub(super) fn push(
        &mut self,
        mut choice: Choice,
        ids: Option<&[u32]>,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        if let Some(remap) = &mut self.remap {
            remap.read(&mut choice);
        }
        self.push_decoded(choice, ids, step)
    }

    fn push_decoded(
        &mut self,
        choice: Choice,
        ids: Option<&[u32]>,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        let Choice { mut delta, finish_reason, mut logprobs, mut extra, .. } = choice;
        self.state.begin_step(step);
        self.state.learn(&delta, !finish_reason.is_missing());
        let empty = EmptyFields::take(&mut delta, &mut logprobs);
        let reasoning = delta.take_reasoning();
        let MessageDelta { content, tool_calls, extra: mut fields, .. } = delta;
        let mut content = Pieces::new(content, step.seq);
        let says = !fields.is_empty() || !content.is_empty() || !reasoning.is_empty();
        if self.state.finished && (says || !tool_calls.is_empty()) {
            DeltaWriter { state: &mut self.state, step }.violation(Violation::AfterFinish);
        }
        if !reasoning.is_empty() && step.options.reasoning == ReasoningField::Hidden {
            fields.retain(|name, _| !name.starts_with("reasoning"));
        }
        self.decide_mode(!content.is_empty() || !reasoning.is_empty(), ids.is_some());
        let mut result = Ok(());
        if !reasoning.is_empty() || !tool_calls.is_empty() {
            result = self.release_begun(step);
        }
        if !reasoning.is_empty() {
            result = result.and(self.begin_reasoning(step));
        }
        let content_text = content.text();
        let (from, to) = (self.state.fed, [&*reasoning, &*content_text].map(str::len));
        let counted = self.take_fields(fields, logprobs, [&reasoning, &content_text], step);
        let [before, arrived] = to.map(|len| len as u64);
        let begins = from + before - self.state.cut as u64;
        let divided = self.divide(&mut content, ids, step);
        if !counted {
            let pieces = (divided && before == 0).then_some(begins);
            self.count_text((from, from + before + arrived), pieces, ids);
        }
        if !reasoning.is_empty() {
            result = result.and(self.reasoning(&reasoning, step));
        }
        result = result.and(self.content(&content, arrived, step));
        if finish_reason.value().is_some() {
            result = result.and(self.release_begun(step));
        }
        let mut writer = DeltaWriter { state: &mut self.state, step };
        look(&self.guard, &mut writer);
        for call in tool_calls {
            result = result.and(read_upstream_call(&mut self.guard, call, &mut writer));
        }
        settle(&self.guard, &mut writer);
        if writer.state.role.is_some() && content.is_empty() {
            writer.delta_part(PartKind::Plain, false);
        }
        if writer.state.hid {
            remove_ids(&mut extra);
        }
        match finish_reason {
            Field::Value(_) if writer.state.finished => writer.violation(Violation::SecondFinish),
            Field::Value(reason) => {
                let Self { guard, counted, .. } = self;
                result = result.and(finish(guard, &mut writer, end_of(&reason), counted));
                self.apart = false;
                write_finish(&mut writer, reason, &mut extra);
            }
            Field::Null | Field::Missing => {}
        }
        report_violations(&mut self.guard, writer.state);
        if extra.values().any(|value| !says_nothing(value)) && !writer.has_piece() {
            writer.delta_part(PartKind::Plain, false);
        }
        if let Some(first) = writer.first() {
            first.choice.extra.append(&mut extra);
            empty.join(first);
        }
        let origin = self.state.held_since.unwrap_or(step.seq);
        self.state.held_since = holds(&self.guard, &self.state).then_some(origin);
        if let Pieces::Text(text) = content
            && !text.is_empty()
        {
            *step.spare = text;
            step.spare.clear();
        }
        result
    }

    /// Takes text that passes unchanged. Returns `false`, without an effect, if the text does not.
    pub(super) fn pass(&mut self, text: &str) -> bool {
        let passes = matches!(self.mode, TokenMode::Off) && !self.apart;
        let passes = passes && self.state.is_level() && self.guard.passes(text);
        if passes {
            // The push reaches no limit, because the text is not held.
            let _ = self.guard.push(text, &mut |_: Event<'_>| {});
            self.state.fed += text.len() as u64;
            self.state.at = self.state.fed;
        }
        passes
    }

    /// Queues fields that belong to the chunk's text. Returns whether they count its tokens.
    fn take_fields(
        &mut self,
        fields: Map<String, Value>,
        logprobs: Field<Value>,
        text: [&str; 2],
        step: &mut SharedStep<'_>,
    ) -> bool {
        let Self { guard, state, .. } = self;
        let from = state.fed;
        let to = from + text.iter().map(|text| text.len() as u64).sum::<u64>();
        if !fields.is_empty() {
            state.pending.push(from, PendingField::Fields(fields));
            if !guard.withholds_call() {
                let at = state.at;
                DeltaWriter { state, step }.settle(at);
            }
        }
        let mut counted = false;
        match logprobs {
            Field::Value(Value::Object(mut members)) => {
                counted = state.entries.take_tokens((from, to), text, &mut members);
                if !members.is_empty() {
                    state.pending.push(to, PendingField::Logprobs(Value::Object(members)));
                }
            }
            Field::Value(other) => state.pending.push(to, PendingField::Logprobs(other)),
            Field::Null | Field::Missing => {}
        }
        counted
    }

    /// Tells the guard that reasoning follows which the server separated.
    fn begin_reasoning(&mut self, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        self.guard.server_reasoning();
        if self.apart {
            return Ok(());
        }
        let mut writer = DeltaWriter { state: &mut self.state, step };
        let told = self.guard.server_item(ServerItem::Channel(Channel::REASONING), &mut writer);
        self.apart = told.unwrap_or(true);
        settle(&self.guard, &mut writer);
        told.map(drop)
    }

    /// Feeds reasoning that the server separated to the guard, which finds calls in it.
    fn reasoning(&mut self, text: &str, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        let Self { guard, state, apart, .. } = self;
        state.fed += text.len() as u64;
        let mut writer = DeltaWriter { state, step };
        if *apart {
            return guard.push_decoded(text, &mut writer);
        }
        // A call is open in the content.
        let at = writer.state.fed - text.len() as u64;
        writer.reasoning_at(at, text);
        Ok(())
    }

    /// Feeds content, of which `arrived` bytes are new.
    fn content(
        &mut self,
        content: &Pieces,
        arrived: u64,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        let Self { guard, state, apart, .. } = self;
        if content.is_empty() && arrived == 0 {
            return Ok(());
        }
        let mut writer = DeltaWriter { state, step };
        if *apart {
            *apart = !guard.server_item(ServerItem::Channel(Channel::CONTENT), &mut writer)?;
            settle(guard, &mut writer);
        }
        if let Pieces::Text(text) = content {
            writer.part(Part::None);
            writer.state.fed += arrived;
            return self.push_pieces(text, step);
        }
        for part in content.parts() {
            writer.part(part.clone());
            if let Part::Text { text, .. } = part {
                writer.state.fed += text.len() as u64;
                guard.push_decoded(text, &mut writer)?;
            }
        }
        Ok(())
    }

    /// Checks the time limits of jails.
    pub(super) fn tick(&mut self, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        let Self { guard, state, .. } = self;
        state.begin_step(step);
        let mut writer = DeltaWriter { state, step };
        let result = guard.tick(&mut writer);
        settle(guard, &mut writer);
        if !holds(guard, state) {
            state.held_since = None;
        }
        result
    }

    /// Ends the choice: held text is emitted, and a finish reason if `reason` has one and the
    /// server sent none.
    pub(super) fn close(
        &mut self,
        end: End,
        synthesize: impl FnOnce(&ChoiceState) -> bool,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        step.aborted = end == End::Aborted;
        if let Some(rest) = self.remap.as_mut().and_then(|remap| remap.rest(self.state.index)) {
            self.push_decoded(rest, None, step)?;
        }
        self.state.begin_step(step);
        self.release_begun(step)?;
        let mut writer = DeltaWriter { state: &mut self.state, step };
        let result = finish(&mut self.guard, &mut writer, end, &mut self.counted);
        self.apart = false;
        if !writer.state.finished && synthesize(writer.state) {
            writer.violation(Violation::NoFinish);
            write_finish(&mut writer, "stop".into(), &mut Map::new());
        }
        result
    }
}

/// Writes the end of a choice, with the server's word for it and the members `extra`.
fn write_finish(writer: &mut DeltaWriter<'_, '_>, word: String, extra: &mut Map<String, Value>) {
    let word = finish_word(writer.state, writer.step.options, word);
    tell_stop(writer.state, extra);
    let last = writer.last();
    last.choice.finish_reason = Field::Value(word);
    last.choice.extra.append(extra);
    writer.state.finished = true;
}
