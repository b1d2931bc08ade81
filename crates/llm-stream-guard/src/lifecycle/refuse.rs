//! Refusals in the form of chat completions.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Map, Value, json};
use stream_lifecycle::{Decision, Guardrail, GuardrailOutput, UpstreamEnd};

use crate::chat::{Choice, Chunk, Field, MessageDelta};
use crate::limits::MAX_TRACKED_CHOICES;

/// A guardrail that reports to a client of chat completions that another guardrail ended the
/// stream. Place this guardrail after the others. Streams that no guardrail ended are unchanged.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::num::NonZeroUsize;
/// use llm_stream_guard::{chat::Chunk, lifecycle::{self, Decision, Lifecycle, Window, Windows}};
/// use tokio_stream::StreamExt;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let size = NonZeroUsize::new(200).ok_or("zero")?;
/// let check = |_| async { Decision::End("policy".into()) };
/// let chunk: Chunk = serde_json::from_str(r#"{"choices":[{"index":0,"delta":{"content":"x"}}]}"#)?;
/// let stream = Lifecycle::new("call-1")
///     .enforce(Window::new(Windows::chars(size).context(50), lifecycle::chunk_text, check))
///     .enforce(lifecycle::RefuseChunks::finish_reason("I cannot help with that."))
///     .wrap(tokio_stream::iter([Ok::<Chunk, std::io::Error>(chunk)]));
/// let seen: Vec<_> = stream.collect().await;
/// let last = &seen[0].as_ref().map_err(|_| "failed")?.choices[0];
/// assert_eq!(last.finish_reason.value().map(String::as_str), Some("content_filter"));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RefuseChunks {
    refusal: Refusal,
    /// Whether each choice has finished, for the first choices up to a limit.
    finished: BTreeMap<u32, bool>,
    /// Fields of the first chunk, for a chunk added at the end.
    fields: Map<String, Value>,
}

#[derive(Debug, Clone)]
enum Refusal {
    FinishReason(Cow<'static, str>),
    Error(Cow<'static, str>),
}

impl RefuseChunks {
    /// Creates a guardrail that ends every open choice with the finish reason `content_filter` and
    /// with `message` as its refusal. An empty `message` adds no refusal.
    pub fn finish_reason(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Refusal::FinishReason(message.into()))
    }

    /// Creates a guardrail that ends the stream with an item without choices. The item has an
    /// `error` with this message and the type and code `content_filter`, which clients raise.
    pub fn error(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Refusal::Error(message.into()))
    }

    fn new(refusal: Refusal) -> Self {
        Self { refusal, finished: BTreeMap::new(), fields: Map::new() }
    }

    fn refuse(&mut self) -> Chunk {
        let mut fields = std::mem::take(&mut self.fields);
        let message = match &self.refusal {
            Refusal::Error(message) => {
                let kind = "content_filter";
                let error = json!({"message": message, "type": kind, "param": null, "code": kind});
                fields.insert("error".to_owned(), error);
                return Chunk { fields, ..Chunk::default() };
            }
            Refusal::FinishReason(message) => message,
        };
        if self.finished.is_empty() {
            self.finished.insert(0, false);
        }
        let open = self.finished.iter().filter(|(_, finished)| !**finished);
        let choices = open.map(|(&index, _)| {
            let mut delta = MessageDelta::default();
            if !message.is_empty() {
                delta.extra.insert("refusal".to_owned(), message.as_ref().into());
            }
            let finish_reason = Field::Value("content_filter".to_owned());
            Choice { index, delta, finish_reason, ..Choice::default() }
        });
        Chunk { choices: choices.collect(), fields, ..Chunk::default() }
    }
}

impl Guardrail<Chunk> for RefuseChunks {
    fn push(&mut self, item: Chunk, out: &mut GuardrailOutput<Chunk>) -> Decision {
        if self.finished.is_empty() {
            self.fields = item.fields.clone();
        }
        for choice in &item.choices {
            if self.finished.len() < MAX_TRACKED_CHOICES {
                *self.finished.entry(choice.index).or_default() |=
                    choice.finish_reason.value().is_some();
            }
        }
        out.put(item);
        Decision::Continue
    }

    fn finish(&mut self, end: UpstreamEnd, out: &mut GuardrailOutput<Chunk>) -> Decision {
        if end == UpstreamEnd::Refused {
            out.put(self.refuse());
        }
        Decision::Continue
    }
}
