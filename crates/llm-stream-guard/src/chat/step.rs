//! A step of a stream: the output of one input, as deltas or as chunks.

use serde_json::{Map, Value};
use toolcall_parsers::Outcome;

use crate::chat::{
    choice::delta_part::DeltaPart,
    delta::Delta,
    model::{
        chunk::{Choice, Chunk, FunctionDelta, ToolCallDelta},
        field::Field,
    },
    options::Emission,
};

/// A chunk without choices.
#[derive(Debug, Clone)]
pub(in crate::chat) struct BareChunk {
    pub(in crate::chat) chunk: Chunk,
    /// Number of the input chunk.
    pub(in crate::chat) seq: u64,
    pub(in crate::chat) event: Option<RawEvent>,
}

/// The event that a chunk arrived in.
#[derive(Debug, Clone)]
pub(in crate::chat) struct RawEvent {
    pub(in crate::chat) bytes: Vec<u8>,
    /// Whether the event's bytes still match the chunk.
    pub(in crate::chat) exact: bool,
}

/// The output of a chat guard for one input: deltas, or the chunks that carry them.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{End, Guard, chat::{ChatGuard, ChatOptions, ChatSink, ChatStep, Delta}, profile};
/// struct Printer(String);
/// impl ChatSink for Printer {
///     fn step(&mut self, step: ChatStep<'_>) {
///         step.deltas(|_, delta| match delta {
///             Delta::Content(text) => self.0.push_str(text),
///             Delta::CallStart { name, .. } => self.0.push_str(&format!("-> {name}")),
///             Delta::CallArguments { fragment, .. } => self.0.push_str(fragment),
///             Delta::CallEnd { outcome, .. } => self.0.push_str(&format!(" ({})", outcome.name())),
///             _ => {}
///         });
///     }
/// }
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let mut guard = ChatGuard::new(guard, ChatOptions::default());
/// let mut printer = Printer(String::new());
/// let text = "On it.<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>";
/// let chunk = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]});
/// guard.push(serde_json::from_value(chunk)?, &mut printer)?;
/// guard.finish(End::Stop, &mut printer)?;
/// assert_eq!(printer.0, "On it.-> f{\"a\": 1} (complete)");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ChatStep<'g> {
    pub(super) released: &'g mut Released,
    /// Fields of the input next to its choices, if its chunk is written.
    pub(super) fields: Option<Map<String, Value>>,
    /// The fields of further chunks.
    pub(super) repeated: &'g Map<String, Value>,
    /// The usage of the last chunk.
    pub(super) usage: Field<Value>,
    /// The usage of the chunks before it.
    pub(super) no_usage: Field<Value>,
    pub(super) emission: Emission,
    /// The number of the input.
    pub(super) origin: u64,
    /// An empty list, for its capacity.
    pub(super) spare: Vec<Choice>,
    /// The event of a chunk that waited.
    pub(super) event: Option<RawEvent>,
}

/// The buffers of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Released {
    pub(super) parts: Vec<DeltaPart>,
    pub(super) ends: Vec<CallEnded>,
}

/// The end of one call of a choice.
#[derive(Debug, Clone)]
pub(super) struct CallEnding {
    /// Index of the call as written.
    pub(super) index: u32,
    pub(super) outcome: Outcome,
    /// Text that keeps clients from reading the arguments; see [`Delta::CallEnd`].
    pub(super) seal: String,
}

/// The end of a call, after the first `parts` parts of the step and the first `calls` entries for
/// calls of the last of them.
#[derive(Debug, Clone)]
pub(super) struct CallEnded {
    choice: u32,
    ending: CallEnding,
    place: (usize, usize),
}

impl Released {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.ends.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.ends.clear();
    }

    /// Records the end of a call.
    pub(super) fn end_call(&mut self, choice: u32, ending: CallEnding) {
        let last = self.parts.last().filter(|part| part.choice.index == choice);
        let calls = last.map_or(0, |part| part.choice.delta.tool_calls.len());
        self.ends.push(CallEnded { choice, ending, place: (self.parts.len(), calls) });
    }

    /// Writes the seals of calls after their arguments.
    fn write_seals(&mut self) {
        // From the last one, so that the places of the others stay valid.
        for CallEnded { ending, place: (parts, calls), .. } in self.ends.drain(..).rev() {
            let part = parts.checked_sub(1).and_then(|at| self.parts.get_mut(at));
            let Some(part) = part.filter(|_| !ending.seal.is_empty()) else { continue };
            let entries = &mut part.choice.delta.tool_calls;
            let at = calls.min(entries.len());
            let last = at.checked_sub(1).and_then(|at| entries.get_mut(at));
            if let Some(entry) = last.filter(|it| it.index == Some(ending.index))
                && let Some(function) = &mut entry.function
            {
                function.arguments.get_or_insert_default().push_str(&ending.seal);
                continue;
            }
            let arguments = Some(ending.seal);
            let function = Some(FunctionDelta { arguments, ..FunctionDelta::default() });
            let index = Some(ending.index);
            entries.insert(at, ToolCallDelta { index, function, ..ToolCallDelta::default() });
        }
    }
}

impl<'g> ChatStep<'g> {
    /// Creates the step that releases a chunk without choices.
    pub(super) fn bare(
        bare: BareChunk,
        repeated: &'g Map<String, Value>,
        released: &'g mut Released,
    ) -> Self {
        let BareChunk { chunk: Chunk { choices: spare, usage, fields }, seq: origin, event } = bare;
        let (no_usage, emission) = (Field::Missing, Emission::default());
        let fields = Some(fields);
        Self { released, fields, repeated, usage, no_usage, emission, origin, spare, event }
    }

    /// Calls `on` with each delta and the index of its choice. Deltas around the choices have the
    /// index 0.
    pub fn deltas(&self, mut on: impl FnMut(u32, Delta<'_>)) {
        on(0, Delta::Around(self.fields.as_ref().unwrap_or(self.repeated)));
        let mut ends = self.released.ends.iter().peekable();
        let mut ended = |place: (usize, usize), on: &mut dyn FnMut(u32, Delta<'_>)| {
            while let Some(CallEnded { choice, ending, .. }) =
                ends.next_if(|end| end.place <= place)
            {
                let CallEnding { index, outcome, seal } = ending;
                on(*choice, Delta::CallEnd { index: *index, outcome: *outcome, seal });
            }
        };
        for (at, DeltaPart { choice, .. }) in self.released.parts.iter().enumerate() {
            ended((at, usize::MAX), &mut on);
            choice.delta.texts(&mut |delta| on(choice.index, delta));
            for (place, call) in choice.delta.tool_calls.iter().enumerate() {
                ended((at + 1, place), &mut on);
                call.deltas(0, &mut |delta| on(choice.index, delta));
            }
            ended((at + 1, usize::MAX), &mut on);
            if let Some(reason) = choice.finish_reason.value() {
                on(choice.index, Delta::Finish { reason, fields: &choice.extra });
            }
        }
        ended((usize::MAX, 0), &mut on);
        if let Some(usage) = self.usage.value() {
            on(0, Delta::Usage(usage));
        }
    }

    /// Calls `on` with each chunk, and with the number of the input chunk (from 1) in which its
    /// first text arrived. If the text was withheld, that is an earlier input than the last.
    ///
    /// The arguments of a call that is malformed or was cut end with text that keeps clients from
    /// running it; see [`Delta::CallEnd`].
    pub fn chunks(self, mut on: impl FnMut(Chunk, u64)) {
        let Self { released, repeated, usage, no_usage, emission, origin, mut spare, .. } = self;
        let mut first = self.fields;
        if released.parts.is_empty() {
            if let Some(fields) = first {
                on(Chunk { choices: spare, usage, fields }, origin);
            }
            return;
        }
        released.write_seals();
        order(&mut released.parts, emission);
        let mut last = Some(usage);
        let mut parts = released.parts.drain(..).peekable();
        while let Some(part) = parts.next() {
            let (ordinal, mut origin) = (part.ordinal, part.origin);
            let mut choices = std::mem::take(&mut spare);
            choices.push(part.into_choice());
            while let Some(part) = parts.next_if(|next| next.ordinal == ordinal) {
                origin = origin.min(part.origin);
                choices.push(part.into_choice());
            }
            let usage = if parts.peek().is_none() { last.take() } else { None };
            let usage = usage.unwrap_or_else(|| no_usage.clone());
            let fields = first.take().unwrap_or_else(|| repeated.clone());
            on(Chunk { choices, usage, fields }, origin);
        }
    }
}

/// Numbers the parts so that parts with equal numbers share a chunk, and sorts them by number.
/// `parts` must be in ascending order of choices.
fn order(parts: &mut [DeltaPart], emission: Emission) {
    let (mut choice, mut ordinal) = (None, 0);
    for (i, part) in parts.iter_mut().enumerate() {
        let same = choice.replace(part.choice.index) == Some(part.choice.index);
        ordinal = match emission {
            Emission::SingleChoice => i,
            Emission::Packed if same => ordinal + 1,
            Emission::Packed => 0,
        };
        part.ordinal = ordinal;
    }
    parts.sort_by_key(|part| part.ordinal);
}
