//! Building chunks, feeding them, putting the outcome together.

use guard_laws::call_options;
use llm_stream_guard::{
    CallOptions, End, Guard, GuardBuilder, Ids,
    chat::{Aggregator, ChatGuard, ChatNote, ChatOptions, ChatSink, ChatStep, Chunk, Completion},
    profile,
};
use serde_json::{Value, json};

/// A guard builder for a registered profile; ids that are made count, as outcomes are compared.
pub(crate) fn builder(name: &str) -> GuardBuilder {
    Guard::builder(&profile(name).expect("a registered profile")).calls(counting())
}

/// Options with ids that count.
pub(crate) fn counting() -> CallOptions {
    call_options(|it| it.ids = Ids::counting())
}

/// A chat guard for a registered profile.
pub(crate) fn chat(name: &str, options: ChatOptions) -> ChatGuard {
    ChatGuard::new(builder(name).build().expect("a registered profile builds"), options)
}

pub(crate) fn chunk(json: Value) -> Chunk {
    serde_json::from_value(json).expect("a chunk")
}

/// A chunk with one choice and the usual surroundings.
pub(crate) fn choice(choice: Value) -> Chunk {
    chunk(json!({
        "id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m",
        "choices": [choice],
    }))
}

/// A chunk with text of a choice.
pub(crate) fn text(index: u32, content: &str) -> Chunk {
    choice(json!({"index": index, "delta": {"content": content}, "finish_reason": null}))
}

/// A chunk with a finish reason.
pub(crate) fn stop(index: u32, reason: &str) -> Chunk {
    choice(json!({"index": index, "delta": {}, "finish_reason": reason}))
}

/// A chunk with usage and no choices.
pub(crate) fn usage() -> Chunk {
    chunk(json!({
        "id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m",
        "choices": [], "usage": {"total_tokens": 9},
    }))
}

/// The event that brings a chunk.
pub(crate) fn event(chunk: &Chunk) -> String {
    format!("data: {}\n\n", serde_json::to_string(chunk).expect("JSON"))
}

/// What came out: chunks with the input each began in, and notes.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) origins: Vec<u64>,
    pub(crate) notes: Vec<ChatNote>,
}

impl ChatSink for Seen {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, origin| {
            self.chunks.push(chunk);
            self.origins.push(origin);
        });
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.push(note);
    }
}

/// Feeds everything and ends the stream.
pub(crate) fn run(guard: &mut ChatGuard, chunks: Vec<Chunk>, end: End) -> Seen {
    let mut seen = Seen::default();
    for chunk in chunks {
        guard.push(chunk, &mut seen).expect("no limit is hit");
    }
    guard.finish(end, &mut seen).expect("no limit is hit");
    seen
}

/// Feeds everything, under the usual options.
pub(crate) fn clean(name: &str, chunks: Vec<Chunk>) -> Seen {
    run(&mut chat(name, ChatOptions::default()), chunks, End::Stop)
}

pub(crate) fn aggregate(chunks: &[Chunk]) -> Completion {
    let mut whole = Aggregator::default();
    chunks.iter().for_each(|chunk| whole.push(chunk));
    whole.finish()
}

/// The chunks as JSON, without what surrounds the choices.
pub(crate) fn choices(chunks: &[Chunk]) -> Vec<Value> {
    let choices = chunks.iter().flat_map(|chunk| &chunk.choices);
    choices.map(|choice| serde_json::to_value(choice).expect("JSON")).collect()
}
