//! Chat completions: event streams as bytes, chunks and whole answers as JSON.

use llm_stream_guard::chat::{
    ChatGuard, ChatNote, ChatSink, ChatSse, ChatStep, Chunk, Completion, Note, SseSink,
};
use wasm_bindgen::prelude::*;

use crate::{
    events::diagnostic_json,
    fault,
    settings::{self, Settings},
};

/// The diagnostics of choices as JSON, if somebody reads them.
#[derive(Debug, Default)]
struct Notes(Option<Vec<String>>);

impl Notes {
    fn new(are_read: bool) -> Self {
        Self(are_read.then(Vec::new))
    }

    fn add(&mut self, ChatNote { choice, note }: ChatNote) {
        if let (Some(notes), Note::Diagnostic(diagnostic)) = (&mut self.0, note) {
            notes.push(format!("[{choice},{}]", diagnostic_json(&diagnostic)));
        }
    }

    /// Returns a list of pairs: a choice and a diagnostic.
    fn take(&mut self) -> String {
        let notes = self.0.as_mut().map(std::mem::take).unwrap_or_default();
        format!("[{}]", notes.join(","))
    }
}

/// Cleans an answer: the bytes of an event stream, or a whole one.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NativeAnswer {
    sse: ChatSse,
    output: Bytes,
}

/// A sink that keeps bytes and notes.
#[derive(Debug, Default)]
struct Bytes {
    bytes: Vec<u8>,
    notes: Notes,
}

impl SseSink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.add(note);
    }
}

#[wasm_bindgen]
impl NativeAnswer {
    /// Creates a guard from settings and those of chat completions. With `has_notes`, diagnostics
    /// are kept for `notes`.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, chat: &str, has_notes: bool) -> Result<NativeAnswer, JsValue> {
        let options = settings::chat_options(chat)?;
        let sse = ChatSse::new(Settings::read(settings)?.chat(options)?);
        let output = Bytes { bytes: Vec::new(), notes: Notes::new(has_notes) };
        Ok(Self { sse, output })
    }

    /// Feeds bytes of the stream. `take` returns the clean bytes, even after an error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        self.sse.push(bytes, &mut self.output).map_err(fault)
    }

    /// Ends the event stream.
    pub fn finish(&mut self, end: &str) -> Result<(), JsValue> {
        self.sse.finish(settings::end(end)?, &mut self.output).map_err(fault)
    }

    /// Returns a whole answer, cleaned, as JSON. The stream is unchanged.
    pub fn complete(&mut self, answer: &str) -> Result<String, JsValue> {
        let answer: Completion = serde_json::from_str(answer).map_err(fault)?;
        let notes = &mut self.output.notes;
        let noted = |note| notes.add(note);
        let clean = self.sse.guard().complete_noting(answer, noted).map_err(fault)?;
        serde_json::to_string(&clean).map_err(fault)
    }

    /// Returns the clean bytes so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output.bytes)
    }

    /// Returns the diagnostics so far as JSON: pairs of a choice and a diagnostic.
    pub fn notes(&mut self) -> String {
        self.output.notes.take()
    }
}

/// Cleans the chunks of a chat completion.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NativeChunks {
    chat: ChatGuard,
    output: Chunks,
}

/// A sink that keeps chunks as JSON, and notes.
#[derive(Debug, Default)]
struct Chunks {
    chunks: Vec<String>,
    notes: Notes,
}

impl ChatSink for Chunks {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|chunk, _| self.chunks.extend(serde_json::to_string(&chunk)));
    }

    fn note(&mut self, note: ChatNote) {
        self.notes.add(note);
    }
}

#[wasm_bindgen]
impl NativeChunks {
    /// Creates a guard from settings and those of chat completions. With `has_notes`, diagnostics
    /// are kept for `notes`.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, chat: &str, has_notes: bool) -> Result<NativeChunks, JsValue> {
        let options = settings::chat_options(chat)?;
        let chat = Settings::read(settings)?.chat(options)?;
        Ok(Self { chat, output: Chunks { chunks: Vec::new(), notes: Notes::new(has_notes) } })
    }

    /// Feeds a chunk as JSON. `take` returns the clean chunks, even after an error.
    pub fn push(&mut self, chunk: &str) -> Result<(), JsValue> {
        let chunk: Chunk = serde_json::from_str(chunk).map_err(fault)?;
        self.chat.push(chunk, &mut self.output).map_err(fault)
    }

    /// Ends the stream where its chunks cease.
    pub fn finish(&mut self) -> Result<(), JsValue> {
        self.chat.end(&mut self.output).map_err(fault)
    }

    /// Returns the clean chunks so far as a list.
    pub fn take(&mut self) -> String {
        format!("[{}]", std::mem::take(&mut self.output.chunks).join(","))
    }

    /// Returns the diagnostics so far as JSON: pairs of a choice and a diagnostic.
    pub fn notes(&mut self) -> String {
        self.output.notes.take()
    }
}
