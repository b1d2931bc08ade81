//! A guardrail over chat-completion chunks.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stream_lifecycle::{Decision, Guardrail, Output, UpstreamEnd, Withheld};

use super::{MatchTooLong, Passed, Redactor, decision};
use crate::{
    chat::{Choice, Chunk, Content, Delta, Field},
    lifecycle::withheld,
};

/// Redacts content and reasoning of chat-completion chunks, choice by choice.
///
/// The content of a choice is one text, whatever else comes between its pieces, and so is its
/// reasoning under either name. What is held comes out with the choice's finish reason, or in a
/// chunk of its own at the end. Log probabilities are removed: their tokens tell the text. Calls,
/// refusals and unknown fields pass as they are.
#[derive(Debug, Clone)]
pub struct RedactChunks {
    redactor: Redactor,
    choices: BTreeMap<u32, Texts>,
    /// Fields of the first chunk, for one of our own.
    fields: Option<Map<String, Value>>,
}

/// The texts of a choice.
#[derive(Debug, Clone)]
struct Texts {
    content: Redactor,
    reasoning: Redactor,
    reasoning_content: Redactor,
}

impl RedactChunks {
    /// A stream with more choices is ended.
    const CHOICES: usize = 1024;

    /// A guardrail over chunks.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self { redactor, choices: BTreeMap::new(), fields: None }
    }

    fn redact(&mut self, choice: &mut Choice) -> Result<(), MatchTooLong> {
        let Self { redactor, choices, .. } = self;
        let texts = choices.entry(choice.index).or_insert_with(|| Texts {
            content: redactor.clone(),
            reasoning: redactor.clone(),
            reasoning_content: redactor.clone(),
        });
        if !choice.logprobs.is_missing() {
            choice.logprobs = Field::Null;
        }
        let result = texts.push(&mut choice.delta);
        if choice.finish_reason.value().is_some() {
            texts.finish(&mut choice.delta);
        }
        result
    }
}

impl Texts {
    fn push(&mut self, delta: &mut Delta) -> Result<(), MatchTooLong> {
        let reasoning = push(&mut self.reasoning, &mut delta.reasoning);
        let other = push(&mut self.reasoning_content, &mut delta.reasoning_content);
        let content = match delta.content.take() {
            Field::Value(Content::Text(text)) => {
                let mut text = Field::Value(text);
                let result = push(&mut self.content, &mut text);
                delta.content = text.into_value().map(Content::Text).into();
                result
            }
            Field::Value(Content::Parts(mut parts)) => {
                let mut texts = parts.iter_mut().filter_map(|part| part.get_mut("text"));
                // A part is a text of its own.
                let result = texts.try_for_each(|text| self.content.clone().redact_value(text));
                delta.content = Field::Value(Content::Parts(parts));
                result
            }
            none => {
                delta.content = none;
                Ok(())
            }
        };
        reasoning.and(other).and(content)
    }

    /// Adds what is held.
    fn finish(&mut self, delta: &mut Delta) {
        finish(&mut self.reasoning, &mut delta.reasoning);
        finish(&mut self.reasoning_content, &mut delta.reasoning_content);
        let Some(rest) = self.content.rest() else { return };
        match &mut delta.content {
            Field::Value(Content::Text(text)) => text.push_str(&rest),
            Field::Value(Content::Parts(parts)) => {
                parts.insert(0, serde_json::json!({"type": "text", "text": rest}));
            }
            none => *none = Field::Value(Content::Text(rest)),
        }
    }

    fn held(&self) -> Withheld {
        let Self { content, reasoning, reasoning_content } = self;
        let held = [content, reasoning, reasoning_content].map(|one| withheld(one.held()));
        held.into_iter().fold(Withheld::NOTHING, Withheld::and)
    }
}

/// Redacts a text field; one that is held whole goes missing.
fn push(redactor: &mut Redactor, field: &mut Field<String>) -> Result<(), MatchTooLong> {
    let Field::Value(text) = field else { return Ok(()) };
    let (passed, result) = redactor.pass(text);
    match passed {
        Passed::Unchanged => {}
        Passed::Changed(seen) => *text = seen,
        Passed::Held => *field = Field::Missing,
    }
    result
}

fn finish(redactor: &mut Redactor, field: &mut Field<String>) {
    let Some(rest) = redactor.rest() else { return };
    match field {
        Field::Value(text) => text.push_str(&rest),
        none => *none = Field::Value(rest),
    }
}

impl Guardrail<Chunk> for RedactChunks {
    fn push(&mut self, mut item: Chunk, out: &mut Output<Chunk>) -> Decision {
        if self.fields.is_none() {
            self.fields = Some(item.fields.clone());
        }
        let mut result = Ok(());
        for choice in &mut item.choices {
            result = result.and(self.redact(choice));
        }
        if self.choices.len() > Self::CHOICES {
            return Decision::End("choices_limit".into());
        }
        out.put(item);
        decision(result)
    }

    fn finish(&mut self, _: UpstreamEnd, out: &mut Output<Chunk>) -> Decision {
        let rest = |(index, texts): (&u32, &mut Texts)| {
            let mut delta = Delta::default();
            texts.finish(&mut delta);
            let choice = Choice { index: *index, delta, ..Choice::default() };
            (choice.delta != Delta::default()).then_some(choice)
        };
        let choices: Vec<Choice> = self.choices.iter_mut().filter_map(rest).collect();
        if !choices.is_empty() {
            let fields = self.fields.take().unwrap_or_default();
            out.put(Chunk { choices, fields, ..Chunk::default() });
        }
        Decision::Continue
    }

    fn held(&self) -> Withheld {
        self.choices.values().map(Texts::held).fold(Withheld::NOTHING, Withheld::and)
    }
}
