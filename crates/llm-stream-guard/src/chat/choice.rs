//! One choice of a stream: its guard and what it remembers.

use jail_match::{End, LimitError};
use serde_json::Map;
use toolcall_parsers::Wanted;
use wire_remap::{RemapReport, Tally};

use super::{
    chunk::{Choice, Content, Delta},
    field::Field,
    inbound::{Inbound, report},
    lane::{Lane, Step},
    note::{Note, Violation},
    options::{Calls, ChatOptions, Stop},
    piece::{Kind, says_nothing},
    riders::Rider,
    writer::Writer,
};
use crate::guard::Guard;

#[derive(Debug, Clone)]
pub(super) struct ChoiceState {
    pub(super) guard: Guard,
    pub(super) lane: Lane,
    inbound: Option<Box<Inbound>>,
    /// What remapping did in texts the guard has been reset since.
    decoded: Tally,
}

impl ChoiceState {
    pub(super) fn new(index: u32, mut guard: Guard, response: Option<&str>) -> Self {
        if let Some(response) = response {
            guard.seed_ids(seed(response, index));
        }
        let (ids, wanted) = (guard.ids().clone(), guard.wanted().clone());
        let lane = Lane { index, ids, wanted, ..Lane::default() };
        let inbound = Inbound::new(guard.regime());
        Self { guard, lane, inbound, decoded: Tally::default() }
    }

    /// What remapping did so far.
    pub(super) fn remap_report(&self) -> RemapReport {
        let content = self.guard.remap_tally().map(|mut tally| {
            tally += &self.decoded;
            tally
        });
        report(content, self.inbound.as_deref())
    }

    pub(super) fn push(
        &mut self,
        mut choice: Choice,
        step: &mut Step<'_>,
    ) -> Result<(), LimitError> {
        if let Some(inbound) = &mut self.inbound {
            inbound.read(&mut choice);
        }
        self.push_decoded(choice, step)
    }

    fn push_decoded(&mut self, choice: Choice, step: &mut Step<'_>) -> Result<(), LimitError> {
        let Choice { mut delta, finish_reason, logprobs, mut extra, .. } = choice;
        let Self { guard, lane, decoded, .. } = self;
        step.first = step.pieces.len();
        lane.begin_step();
        if let Field::Value(role) = delta.role.take()
            && !lane.role_written
        {
            lane.role.get_or_insert(role);
        }
        lane.finish_null |= !finish_reason.is_missing();
        let (mut silent, fields): (Map<_, _>, Map<_, _>) = std::mem::take(&mut delta.extra)
            .into_iter()
            .partition(|(_, value)| says_nothing(value));
        let reasoning = take_reasoning(&mut delta);
        let (text, parts, silent_content) = match delta.content {
            Field::Value(Content::Text(text)) if !text.is_empty() => (text, None, Field::Missing),
            Field::Value(Content::Parts(parts)) if !parts.is_empty() => {
                (String::new(), Some(parts), Field::Missing)
            }
            silent => (String::new(), None, silent),
        };
        let mut writer = Writer { lane, step };
        let says =
            !fields.is_empty() || !text.is_empty() || parts.is_some() || !reasoning.is_empty();
        if writer.lane.finished && (says || !delta.tool_calls.is_empty()) {
            writer.violation(Violation::AfterFinish);
        }
        let from = writer.lane.fed;
        if !fields.is_empty() && text.is_empty() && !reasoning.is_empty() {
            // They tell of the reasoning, which waits for no text.
            writer.fields(fields);
        } else if !fields.is_empty() {
            writer.lane.riders.push(from, Rider::Fields(fields));
            if !guard.withholds_call() {
                writer.settle(writer.lane.at);
            }
        }
        if !reasoning.is_empty() {
            writer.append(Kind::Reasoning, &reasoning);
        }
        let to = from + text.len() as u64;
        writer.lane.fed = to;
        let null_logprobs = logprobs == Field::Null;
        if let Field::Value(logprobs) = logprobs {
            writer.lane.riders.take_logprobs(from, to, logprobs);
        }
        if let Some(parts) = parts {
            writer.lane.riders.push(to, Rider::Parts(parts));
        }
        let mut result = if text.is_empty() { Ok(()) } else { guard.push(&text, &mut writer) };
        look(guard, &mut writer);
        for call in delta.tool_calls {
            writer.native(call);
        }
        settle(guard, &mut writer);
        if writer.lane.role.is_some() && text.is_empty() {
            writer.piece(Kind::Plain, false);
        }
        match finish_reason {
            Field::Value(_) if writer.lane.finished => writer.violation(Violation::SecondFinish),
            Field::Value(reason) => {
                result = result.and(finish(guard, decoded, &mut writer, end_of(&reason)));
                let reason = finish_word(writer.lane, writer.step.options, reason);
                let last = writer.last();
                last.choice.finish_reason = Field::Value(reason);
                last.choice.extra.append(&mut extra);
                writer.lane.finished = true;
            }
            Field::Null | Field::Missing => {}
        }
        if extra.values().any(|value| !says_nothing(value)) && !writer.has_piece() {
            writer.piece(Kind::Plain, false);
        }
        if let Some(first) = writer.first() {
            first.choice.extra.append(&mut extra);
            if null_logprobs {
                first.choice.logprobs = Field::Null;
            }
            let delta = &mut first.choice.delta;
            delta.extra.append(&mut silent);
            if delta.content.is_missing() {
                delta.content = silent_content;
            }
        }
        let origin = lane.held_since.unwrap_or(step.seq);
        lane.held_since = holds(guard).then_some(origin);
        if !text.is_empty() {
            *step.spare = text;
            step.spare.clear();
        }
        result
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, step: &mut Step<'_>) -> Result<(), LimitError> {
        let Self { guard, lane, .. } = self;
        step.first = step.pieces.len();
        lane.begin_step();
        let mut writer = Writer { lane, step };
        let result = guard.tick(&mut writer);
        settle(guard, &mut writer);
        if !holds(guard) {
            lane.held_since = None;
        }
        result
    }

    /// The stream ended, or its usage came: what is held comes out, and a finish reason if
    /// `reason` says so and upstream sent none.
    pub(super) fn close(
        &mut self,
        end: End,
        synthesize: impl FnOnce(&Lane) -> bool,
        step: &mut Step<'_>,
    ) -> Result<(), LimitError> {
        if let Some(rest) = self.inbound.as_mut().and_then(|inbound| inbound.rest(self.lane.index))
        {
            self.push_decoded(rest, step)?;
        }
        step.first = step.pieces.len();
        self.lane.begin_step();
        let mut writer = Writer { lane: &mut self.lane, step };
        let result = finish(&mut self.guard, &mut self.decoded, &mut writer, end);
        if !writer.lane.finished && synthesize(writer.lane) {
            let reason = finish_word(writer.lane, writer.step.options, "stop".into());
            writer.last().choice.finish_reason = Field::Value(reason);
            writer.lane.finished = true;
        }
        result
    }
}

/// Lets out what waited for text that is not held any more.
fn settle(guard: &Guard, writer: &mut Writer<'_, '_>) {
    writer.lane.at = writer.lane.fed.saturating_sub(guard.held().bytes as u64);
    if !guard.withholds_call() {
        writer.settle(writer.lane.at);
    }
}

fn holds(guard: &Guard) -> bool {
    guard.held().bytes > 0 || guard.withholds_call()
}

/// Whether a stop string or a bad payload ended the text.
fn look(guard: &Guard, writer: &mut Writer<'_, '_>) {
    writer.lane.stopped |= guard.stopped().is_some();
    if let (None, Some(rejected)) = (writer.lane.rejected, guard.rejected()) {
        writer.lane.rejected = Some(rejected);
        writer.note(Note::Rejected(rejected));
    }
}

fn finish(
    guard: &mut Guard,
    decoded: &mut Tally,
    writer: &mut Writer<'_, '_>,
    end: End,
) -> Result<(), LimitError> {
    let result = guard.finish(end, writer);
    if let Some(tally) = guard.remap_tally() {
        *decoded += &tally;
    }
    look(guard, writer);
    writer.lane.reasoning_tokens += guard.reasoning_tokens();
    guard.reset();
    writer.lane.at = writer.lane.fed;
    writer.lane.held_since = None;
    writer.settle_all();
    result
}

/// The reasoning, under whichever name; some servers write it under both.
fn take_reasoning(delta: &mut Delta) -> String {
    let one = delta.reasoning.take().into_value().unwrap_or_default();
    let other = delta.reasoning_content.take().into_value().unwrap_or_default();
    if one.is_empty() { other } else { one }
}

/// What a finish reason says about how the text ended.
fn end_of(reason: &str) -> End {
    match reason {
        "stop" | "tool_calls" | "function_call" | "eos" | "eos_token" | "end_turn"
        | "stop_sequence" => End::Stop,
        "length" | "max_tokens" => End::Length,
        _ => End::Aborted,
    }
}

/// The finish reason to write for `upstream`'s.
fn finish_word(lane: &Lane, options: &ChatOptions, upstream: String) -> String {
    let suppressed = options.calls == Calls::Suppress || lane.wanted == Wanted::None;
    let named = matches!(lane.wanted, Wanted::Only(_));
    let keep = options.stop == Stop::Keep || options.stop == Stop::Convention && named;
    match upstream.as_str() {
        "tool_calls" if suppressed => "stop".into(),
        // What the limit cut came behind the stop string.
        "length" if lane.stopped => finish_word(lane, options, "stop".into()),
        "stop" if lane.called() && !suppressed && !keep => "tool_calls".into(),
        _ => upstream,
    }
}

/// A seed from the response's id and the choice (FNV-1a): ids differ between responses, and do
/// not depend on other choices.
fn seed(response: &str, index: u32) -> u64 {
    let bytes = response.bytes().chain(index.to_le_bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
