//! Guardrail for chat-completion chunks.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stream_lifecycle::{Decision, Guardrail, GuardrailOutput, UpstreamEnd, WithheldInfo};

use super::{
    Redactor, decision,
    lanes::{Lanes, Overrun},
};
use crate::chat::{Choice, Chunk, Field, MessageDelta};
use crate::limits::MAX_TRACKED_CHOICES;

/// A guardrail that redacts the texts of chat-completion chunks, separately for each choice. On
/// request, arguments of calls are also redacted, and are then held until the call ends.
///
/// The content of a choice is one text, even if other output is between its pieces. Further texts
/// are its reasoning under either name, its refusal, the transcript of its audio, and each text of
/// an entry of its `reasoning_details`. Held text is emitted with the choice's finish reason, or in
/// an extra chunk at the end. Log probabilities are removed, because their tokens contain the text.
/// Names, ids and fields not listed here pass unchanged.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{chat::Chunk, lifecycle::{Lifecycle, RedactChunks, Recogniser, Redactor}};
/// let names = Redactor::of([Recogniser::new("name", "Ann Lee")])?;
/// let record = Lifecycle::<Chunk, std::io::Error>::new("call-1")
///     .enforce(RedactChunks::new(names).arguments(64 << 10));
/// # drop(record);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RedactChunks {
    redactor: Redactor,
    choices: BTreeMap<u32, Lanes>,
    arguments: Option<usize>,
    /// Fields of the first chunk, for a chunk added at the end.
    fields: Option<Map<String, Value>>,
}

impl RedactChunks {
    /// Creates a guardrail for the texts of chunks. Calls pass unchanged.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, choices: BTreeMap::new(), arguments: None, fields: None }
    }

    /// Also redacts the strings in the arguments of calls, including keys. Arguments are held until
    /// the next call, the finish reason or the end. A call with more than `limit` bytes of
    /// arguments ends the stream.
    #[must_use]
    pub fn arguments(self, limit: usize) -> Self {
        Self { arguments: Some(limit), ..self }
    }

    fn redact(&mut self, choice: &mut Choice) -> Result<(), Overrun> {
        let Self { redactor, choices, arguments, .. } = self;
        let lanes = choices.entry(choice.index).or_default();
        if !choice.logprobs.is_missing() {
            choice.logprobs = Field::Null;
        }
        let result = lanes.push(redactor, &mut choice.delta, *arguments);
        if choice.finish_reason.value().is_some() {
            return result.and(lanes.finish(redactor, &mut choice.delta));
        }
        result
    }
}

impl Guardrail<Chunk> for RedactChunks {
    fn push(&mut self, mut item: Chunk, out: &mut GuardrailOutput<Chunk>) -> Decision {
        if self.fields.is_none() {
            self.fields = Some(item.fields.clone());
        }
        let mut result = Ok(());
        for choice in &mut item.choices {
            result = result.and(self.redact(choice));
        }
        if self.choices.len() > MAX_TRACKED_CHOICES {
            return Decision::End("choices_limit".into());
        }
        out.put(item);
        ending(result)
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut GuardrailOutput<Chunk>) -> Decision {
        let (mut result, mut choices) = (Ok(()), Vec::new());
        for (&index, lanes) in &mut self.choices {
            let mut delta = MessageDelta::default();
            result = result.and(lanes.finish(&self.redactor, &mut delta));
            if delta != MessageDelta::default() {
                choices.push(Choice { index, delta, ..Choice::default() });
            }
        }
        if !choices.is_empty() {
            let fields = self.fields.take().unwrap_or_default();
            out.put(Chunk { choices, fields, ..Chunk::default() });
        }
        ending(result)
    }

    fn held(&self) -> WithheldInfo {
        self.choices.values().map(Lanes::held).fold(WithheldInfo::NOTHING, WithheldInfo::and)
    }
}

fn ending(result: Result<(), Overrun>) -> Decision {
    match result {
        Ok(()) => Decision::Continue,
        Err(Overrun::Match) => decision(Err(super::MatchTooLong)),
        Err(Overrun::Arguments) => Decision::End("arguments_limit".into()),
        Err(Overrun::Lanes) => Decision::End("texts_limit".into()),
    }
}
