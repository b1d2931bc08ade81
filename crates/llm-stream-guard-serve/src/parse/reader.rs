//! Reads chunks of any input format with the chat guard.

use llm_stream_guard::{
    AddedTokens, End, Guard, Utf8,
    chat::{
        ChatError, ChatGuard, ChatOptions, Choice, Chunk, Content, Emission, EventData, Field,
        MessageDelta, Stop, Synthesis,
    },
    explain::{chunk_from, error_message, token_chunk},
};
use serde_json::Value;

use super::{
    intake::Intake,
    shown::{Remark, Render},
    writer::EventWriter,
};
use crate::limits::MAX_READ_CHOICES;

/// A reader that feeds chunks to a chat guard and writes its output.
pub struct ChatReader<'r> {
    guard: ChatGuard,
    output: EventWriter<'r>,
    /// The UTF-8 decoder of raw text. Chunks have their own.
    utf8: Utf8,
    /// Maximum length of a piece of text, in bytes.
    piece: Option<usize>,
    seen: SeenItems,
}

/// The items that the input has had so far.
#[derive(Debug, Clone, Copy, Default)]
struct SeenItems {
    /// Whether `[DONE]` arrived.
    done: bool,
    chunks: bool,
    error: bool,
    /// Whether the guard failed and accepts no more chunks.
    failed: bool,
}

impl<'r> ChatReader<'r> {
    /// Creates a reader. Clones of `guard` read the choices, in pieces of at most `piece` bytes.
    pub fn new(guard: Guard, piece: Option<usize>, render: &'r mut dyn Render) -> Self {
        let mut options = ChatOptions::default();
        // Show only the server's own finish reasons.
        (options.synthesis, options.stop) = (Synthesis::Off, Stop::Keep);
        (options.emission, options.limits.choices) = (Emission::SingleChoice, MAX_READ_CHOICES);
        let (guard, output) = (ChatGuard::new(guard, options), EventWriter::new(render));
        Self { guard, output, utf8: Utf8::default(), piece, seen: SeenItems::default() }
    }

    /// Reads chunks with token ids by clones of this `guard`, whose marker tokens are among
    /// `tokens`.
    #[must_use]
    pub fn token_ids(mut self, guard: Guard, tokens: &AddedTokens) -> Self {
        self.guard = self.guard.token_ids(guard, tokens);
        self
    }

    /// Returns the output, for flushes and for notes about the whole input.
    pub fn output(&mut self) -> &mut EventWriter<'r> {
        &mut self.output
    }

    /// Takes text of choice 0.
    pub fn text(&mut self, text: String) {
        self.push(chunk_of(Choice::default(), text));
    }

    fn value(&mut self, value: Value, bytes: usize) {
        // Like raw text, tokens do not show how a stream ended.
        if let Some(chunk) = token_chunk(&value) {
            return self.push(chunk);
        }
        match chunk_from(value) {
            Some(chunk) => {
                self.seen.chunks |= !chunk.choices.is_empty();
                self.push(chunk);
            }
            None => self.bad("no_chunk", bytes, None),
        }
    }

    /// Shows an error that the server reported, after the chunk that came with it.
    fn error(&mut self, mut value: Value) {
        self.seen.error = true;
        let error = value.get_mut("error").map(Value::take).unwrap_or_else(|| value.take());
        let message = error_message(&error);
        if let Some(chunk) = chunk_from(value) {
            self.push(chunk);
        }
        self.output.note(Remark { kind: "error", message: Some(&message), ..Remark::default() });
    }

    fn decoded<'d>(&mut self, data: &'d [u8]) -> std::borrow::Cow<'d, str> {
        let broken = data.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
        self.replaced(broken as u64);
        String::from_utf8_lossy(data)
    }

    fn replaced(&mut self, count: u64) {
        if count > 0 {
            let count = Some(count);
            self.output.note(Remark { kind: "invalid_utf8", count, ..Remark::default() });
        }
    }

    fn bad(&mut self, kind: &str, bytes: usize, message: Option<&str>) {
        let bytes = Some(bytes as u64);
        self.output.note(Remark { kind, bytes, message, ..Remark::default() });
    }

    /// Feeds a chunk, with its text cut into pieces if a maximum length is set.
    fn push(&mut self, mut chunk: Chunk) {
        let fields = chunk.fields.clone();
        for choice in &mut chunk.choices {
            let Some(most) = self.piece else { continue };
            let Some(text) = choice.delta.text().map(str::to_owned) else { continue };
            let mut rest = text.as_str();
            while rest.len() > most {
                // Fields before the text belong to its first piece.
                let delta = std::mem::take(&mut choice.delta);
                choice.delta.tool_calls = delta.tool_calls;
                let delta = MessageDelta { tool_calls: Vec::new(), ..delta };
                let index = choice.index;
                let (piece, more) = rest.split_at(ceil_char_boundary(rest, most));
                let piece = chunk_of(Choice { index, delta, ..Choice::default() }, piece.into());
                self.feed(Chunk { fields: fields.clone(), ..piece });
                rest = more;
            }
            choice.delta.content = Field::Value(Content::Text(rest.to_owned()));
        }
        self.feed(chunk);
    }

    fn feed(&mut self, chunk: Chunk) {
        if !self.seen.failed {
            let result = self.guard.push(chunk, &mut self.output);
            self.check(result);
        }
    }

    fn check(&mut self, result: Result<(), ChatError>) {
        if let Err(error) = result {
            self.seen.failed = true;
            let message = error.to_string();
            self.output.note(Remark {
                kind: "stopped",
                message: Some(&message),
                ..Remark::default()
            });
        }
    }
}

impl Intake for ChatReader<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        self.utf8.push(bytes, |piece| text.push_str(piece));
        self.text(text);
    }

    fn json(&mut self, name: &str, data: &[u8]) {
        let text = self.decoded(data);
        match EventData::read(name, &text) {
            EventData::Done => self.seen.done = true,
            EventData::Error(value) => self.error(value),
            EventData::Text(text) => self.text(text),
            EventData::Json(value) => self.value(value, data.len()),
            EventData::NotJson(error) => {
                self.bad("bad_chunk", data.len(), Some(&error.to_string()));
            }
            _ => {}
        }
    }

    fn note(&mut self, note: Remark<'_>) {
        self.output.note(note);
    }

    fn finish(&mut self, end: Option<End>, broken: bool) {
        let mut text = String::new();
        self.utf8.finish(|piece| text.push_str(piece));
        if !text.is_empty() {
            self.text(text);
        }
        // Chunks show how each choice ended, so a choice that is still open was cut.
        let SeenItems { done, chunks, error, .. } = self.seen;
        let cut = broken || (chunks && (error || !done));
        let end = match end {
            Some(end) if !broken => end,
            _ if cut => End::Aborted,
            _ => End::Stop,
        };
        let result = self.guard.finish(end, &mut self.output);
        self.check(result);
        self.output.end(end);
        self.replaced(self.utf8.replaced());
    }
}

/// Returns a chunk that adds `text` to a choice.
fn chunk_of(mut choice: Choice, text: String) -> Chunk {
    choice.delta.content = Field::Value(Content::Text(text));
    Chunk { choices: vec![choice], ..Chunk::default() }
}

/// Returns the first character boundary at or after `at`, so that no piece is empty.
fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}
