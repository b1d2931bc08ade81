//! One choice of a stream: its guard and what it remembers.

use jail_match::{Aside, Channel, End, Event, LimitError};
use serde_json::{Map, Value};
use wire_remap::{RemapReport, Tally};

use super::{
    choice_state::{ChoiceState, SharedStep},
    chunk::{Choice, Delta, ToolCallDelta},
    content::Pieces,
    delta_part::{PartKind, says_nothing},
    empty_fields::Silent,
    entries::ReasoningCount,
    field::Field,
    finish::{end_of, finish_word, tell_stop},
    note::{Note, Violation},
    options::{ReasoningField, TakeBack},
    pending_fields::{Part, PendingField},
    response_remap::{Inbound, report},
    writer::DeltaWriter,
};
use crate::{guard::Guard, observe::Stats};

#[derive(Debug, Clone)]
pub(super) struct GuardedChoice {
    pub(super) guard: Guard,
    pub(super) lane: ChoiceState,
    /// Whether the guard also reads reasoning that the server separated.
    apart: bool,
    counted: Counted,
    inbound: Option<Box<Inbound>>,
}

/// Counts that survive when a finish reason resets the guard.
#[derive(Debug, Clone, Default)]
struct Counted {
    stats: Option<Box<Stats>>,
    decoded: Tally,
}

impl GuardedChoice {
    pub(super) fn new(index: u32, guard: &Guard, take_back: TakeBack) -> Self {
        let mut guard = guard.clone();
        let lane = ChoiceState {
            index,
            ids: guard.ids().clone(),
            wanted: guard.wanted().clone(),
            parallel: guard.parallel(),
            jailed: guard.jailer().is_some(),
            take_back,
            take_back_limit: guard.atomic_limit(),
            ..ChoiceState::default()
        };
        guard.observe_choice(index);
        let inbound = Inbound::new(guard.regime());
        Self { guard, lane, apart: false, counted: Counted::default(), inbound }
    }

    /// Whether a stop string or a collapse ended it.
    pub(super) fn is_stopped(&self) -> bool {
        self.lane.stopped.is_some() || self.guard.is_over()
    }

    /// Returns the counters of the choice.
    pub(super) fn stats(&self) -> Option<&Stats> {
        self.counted.stats.as_deref().or_else(|| self.guard.stats())
    }

    /// Returns the tokens of its reasoning so far. A `whole` answer is one delta: without token
    /// counts, its bytes are the better estimate.
    pub(super) fn reasoning_tokens(&self, whole: bool) -> ReasoningCount {
        let mut count = self.lane.entries.reasoning;
        if whole && count.estimated {
            let bytes = self.lane.reasoning_tokens.saturating_add(self.guard.reasoning_tokens());
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
        report(content, self.inbound.as_deref())
    }

    pub(super) fn push(
        &mut self,
        mut choice: Choice,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        if let Some(inbound) = &mut self.inbound {
            inbound.read(&mut choice);
        }
        self.push_decoded(choice, step)
    }

    fn push_decoded(
        &mut self,
        choice: Choice,
        step: &mut SharedStep<'_>,
    ) -> Result<(), LimitError> {
        let Choice { mut delta, finish_reason, mut logprobs, mut extra, .. } = choice;
        self.lane.begin_step(step);
        self.lane.learn(&delta, !finish_reason.is_missing());
        let silent = Silent::take(&mut delta, &mut logprobs);
        let reasoning = take_reasoning(&mut delta);
        let Delta { content, tool_calls, extra: mut fields, .. } = delta;
        let content = Pieces::new(content, step.seq);
        let says = !fields.is_empty() || !content.is_empty() || !reasoning.is_empty();
        if self.lane.finished && (says || !tool_calls.is_empty()) {
            DeltaWriter { lane: &mut self.lane, step }.violation(Violation::AfterFinish);
        }
        if !reasoning.is_empty() && step.options.reasoning == ReasoningField::Hidden {
            fields.retain(|name, _| !name.starts_with("reasoning"));
        }
        let mut result = Ok(());
        if !reasoning.is_empty() && !self.apart {
            let mut writer = DeltaWriter { lane: &mut self.lane, step };
            let told = self.guard.aside(Aside::Channel(Channel::REASONING), &mut writer);
            self.apart = told.unwrap_or(true);
            result = told.map(drop);
            settle(&self.guard, &mut writer);
        }
        let content_text = content.text();
        let ids = extra.get("token_ids").and_then(Value::as_array).map(|ids| ids.len() as u64);
        self.ride(fields, (logprobs, ids), [&reasoning, &content_text], step);
        if !reasoning.is_empty() {
            result = result.and(self.reasoning(&reasoning, step));
        }
        result = result.and(self.content(&content, step));
        let mut writer = DeltaWriter { lane: &mut self.lane, step };
        look(&self.guard, &mut writer);
        for call in tool_calls {
            result = result.and(native(&mut self.guard, call, &mut writer));
        }
        settle(&self.guard, &mut writer);
        if writer.lane.role.is_some() && content.is_empty() {
            writer.piece(PartKind::Plain, false);
        }
        if writer.lane.hid {
            // Token ids describe the original text.
            extra.shift_remove("token_ids");
        }
        match finish_reason {
            Field::Value(_) if writer.lane.finished => writer.violation(Violation::SecondFinish),
            Field::Value(reason) => {
                let end = end_of(&reason);
                let Self { guard, counted, .. } = self;
                result = result.and(finish(guard, &mut writer, end, counted));
                self.apart = false;
                let reason = finish_word(writer.lane, writer.step.options, reason);
                tell_stop(writer.lane, &mut extra);
                let last = writer.last();
                last.choice.finish_reason = Field::Value(reason);
                last.choice.extra.append(&mut extra);
                writer.lane.finished = true;
            }
            Field::Null | Field::Missing => {}
        }
        if extra.values().any(|value| !says_nothing(value)) && !writer.has_piece() {
            writer.piece(PartKind::Plain, false);
        }
        if let Some(first) = writer.first() {
            first.choice.extra.append(&mut extra);
            silent.ride(first);
        }
        let origin = self.lane.held_since.unwrap_or(step.seq);
        self.lane.held_since = holds(&self.guard).then_some(origin);
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
        let passes = !self.apart && self.lane.is_level() && self.guard.passes(text);
        if passes {
            // The push reaches no limit, because the text is not held.
            let _ = self.guard.push(text, &mut |_: Event<'_>| {});
            self.lane.fed += text.len() as u64;
            self.lane.at = self.lane.fed;
        }
        passes
    }

    /// Queues fields that belong to the chunk's text, and the counts of its tokens.
    fn ride(
        &mut self,
        fields: Map<String, Value>,
        (logprobs, ids): (Field<Value>, Option<u64>),
        text: [&str; 2],
        step: &mut SharedStep<'_>,
    ) {
        let Self { guard, lane, .. } = self;
        let from = lane.fed;
        let to = from + text.iter().map(|text| text.len() as u64).sum::<u64>();
        if !fields.is_empty() {
            lane.riders.push(from, PendingField::Fields(fields));
            if !guard.withholds_call() {
                let at = lane.at;
                DeltaWriter { lane, step }.settle(at);
            }
        }
        let mut counted = false;
        match logprobs {
            Field::Value(Value::Object(mut members)) => {
                counted = lane.entries.take_tokens((from, to), text, &mut members);
                if !members.is_empty() {
                    lane.riders.push(to, PendingField::Logprobs(Value::Object(members)));
                }
            }
            Field::Value(other) => lane.riders.push(to, PendingField::Logprobs(other)),
            Field::Null | Field::Missing => {}
        }
        if !counted {
            lane.entries.take_chunk(from, to, ids);
        }
    }

    /// Feeds reasoning that the server separated to the guard, which finds calls in it.
    fn reasoning(&mut self, text: &str, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        let Self { guard, lane, apart, .. } = self;
        lane.fed += text.len() as u64;
        let mut writer = DeltaWriter { lane, step };
        if *apart {
            return guard.push_decoded(text, &mut writer);
        }
        // A call is open in the content.
        let at = writer.lane.fed - text.len() as u64;
        writer.reasoning_at(at, text);
        Ok(())
    }

    fn content(&mut self, content: &Pieces, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        let Self { guard, lane, apart, .. } = self;
        if content.is_empty() {
            return Ok(());
        }
        let mut writer = DeltaWriter { lane, step };
        if *apart {
            *apart = !guard.aside(Aside::Channel(Channel::CONTENT), &mut writer)?;
            settle(guard, &mut writer);
        }
        if let Pieces::Text(text) = content {
            writer.part(Part::None);
            writer.lane.fed += text.len() as u64;
            return guard.push(text, &mut writer);
        }
        for part in content.parts() {
            writer.part(part.clone());
            if let Part::Text { text, .. } = part {
                writer.lane.fed += text.len() as u64;
                guard.push_decoded(text, &mut writer)?;
            }
        }
        Ok(())
    }

    /// Checks the time limits of jails.
    pub(super) fn tick(&mut self, step: &mut SharedStep<'_>) -> Result<(), LimitError> {
        let Self { guard, lane, .. } = self;
        lane.begin_step(step);
        let mut writer = DeltaWriter { lane, step };
        let result = guard.tick(&mut writer);
        settle(guard, &mut writer);
        if !holds(guard) {
            lane.held_since = None;
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
        if let Some(rest) = self.inbound.as_mut().and_then(|inbound| inbound.rest(self.lane.index))
        {
            self.push_decoded(rest, step)?;
        }
        self.lane.begin_step(step);
        let mut writer = DeltaWriter { lane: &mut self.lane, step };
        let result = finish(&mut self.guard, &mut writer, end, &mut self.counted);
        self.apart = false;
        if !writer.lane.finished && synthesize(writer.lane) {
            writer.violation(Violation::NoFinish);
            let reason = finish_word(writer.lane, writer.step.options, "stop".into());
            let mut extra = Map::new();
            tell_stop(writer.lane, &mut extra);
            let last = writer.last();
            last.choice.finish_reason = Field::Value(reason);
            last.choice.extra.append(&mut extra);
            writer.lane.finished = true;
        }
        result
    }
}

/// Handles a delta of a call that the server made: text held before it is emitted first.
fn native(
    guard: &mut Guard,
    call: ToolCallDelta,
    writer: &mut DeltaWriter<'_, '_>,
) -> Result<(), LimitError> {
    let result = guard.aside(Aside::Call, writer).map(drop);
    settle(guard, writer);
    writer.native(call);
    result
}

/// Lets out what waited for text that is not held any more.
fn settle(guard: &Guard, writer: &mut DeltaWriter<'_, '_>) {
    writer.lane.at = writer.lane.fed.saturating_sub(guard.undecided() as u64);
    writer.forget_taken(guard.taken_out());
    if !guard.withholds_call() {
        writer.settle(writer.lane.at);
    }
}

fn holds(guard: &Guard) -> bool {
    guard.held().bytes > 0 || guard.withholds_call()
}

/// Whether a stop string, a bad payload or a limit ended the text.
fn look(guard: &Guard, writer: &mut DeltaWriter<'_, '_>) {
    writer.lane.ended_by = writer.lane.ended_by.or(guard.ended_by());
    if let (None, Some(string)) = (&writer.lane.stopped, guard.stop_string()) {
        writer.lane.stopped = Some(string.to_owned());
    }
    if let (None, Some(rejected)) = (writer.lane.rejected, guard.rejected()) {
        writer.lane.rejected = Some(rejected);
        writer.note(Note::Rejected(rejected));
    }
}

fn finish(
    guard: &mut Guard,
    writer: &mut DeltaWriter<'_, '_>,
    end: End,
    counted: &mut Counted,
) -> Result<(), LimitError> {
    let result = guard.finish(end, writer);
    if counted.stats.is_none() {
        counted.stats = guard.stats().cloned().map(Box::new);
    }
    if let Some(tally) = guard.remap_tally() {
        counted.decoded += &tally;
    }
    look(guard, writer);
    let tokens = &mut writer.lane.reasoning_tokens;
    *tokens = tokens.saturating_add(guard.reasoning_tokens());
    writer.lane.at = writer.lane.fed;
    writer.forget_taken(guard.taken_out());
    guard.reset();
    writer.lane.held_since = None;
    writer.settle_all();
    writer.close_inline();
    if end == End::Stop && !writer.lane.finished {
        writer.complete_native();
    }
    result
}

/// The reasoning, under whichever name; some servers write it under both.
fn take_reasoning(delta: &mut Delta) -> String {
    let one = delta.reasoning.take().into_value().unwrap_or_default();
    let other = delta.reasoning_content.take().into_value().unwrap_or_default();
    if one.is_empty() { other } else { one }
}
