//! Recordings: the model's text in its original pieces, and other items of the server.

mod form;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;

pub use self::form::{FormDetector, LogFilter, Patience, RecordingForm};
use super::{Explained, Explainer, report::RecordedNote};
use crate::{
    End, Guard, Utf8,
    chat::{ChatChunk as _, Choice, Chunk, Completion, Content, EventData, Field},
    named_profile,
    profile::Profile,
    sse,
};

/// Default maximum length of a piece of text. A server that sends one event has one piece.
const UNCUT: usize = usize::MAX;

/// An item of a recorded choice.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RecordedItem {
    /// Text that the model wrote.
    Text {
        /// The text of this item.
        text: String,
        /// Ids of the text's tokens, if the chunk has some.
        ids: Option<Vec<u32>>,
        /// Time of arrival, if the chunk has a number `ms`.
        time: Option<Duration>,
    },
    /// Another item from the server.
    Note(RecordedNote),
}

/// A recorded answer, which may have several choices.
///
/// [`Recording::read`] reads a whole recording of any form. A caller that knows the form feeds the
/// parts with [`Recording::bytes`] and [`Recording::json`], and calls [`Recording::finish`] once.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::{Guard, explain::Recording, profile};
/// let recording = Recording::read(b"\"<think>hm\"\n\"</think>Hi.\"\n");
/// let guard = Guard::builder(&profile("qwen3")?).build()?;
/// let explained = recording.explain("qwen3", &guard, None);
/// assert_eq!(explained[0].explanation.summary.reasoning, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recording {
    choices: BTreeMap<u32, Vec<RecordedItem>>,
    finished: BTreeMap<u32, End>,
    /// Fields with text that the server separated.
    native: BTreeSet<(u32, &'static str)>,
    utf8: Utf8,
    /// Maximum length of a piece of text, in bytes.
    longest: usize,
    chunks: bool,
    broken: bool,
    /// Profile that the first line names.
    named: Option<Profile>,
}

impl Default for Recording {
    fn default() -> Self {
        Self::in_pieces(UNCUT)
    }
}

impl Recording {
    /// Creates an empty recording whose text is cut into pieces of at most `longest` bytes.
    #[must_use]
    pub fn in_pieces(longest: usize) -> Self {
        Self {
            choices: BTreeMap::new(),
            finished: BTreeMap::new(),
            native: BTreeSet::new(),
            utf8: Utf8::default(),
            longest: longest.max(1),
            chunks: false,
            broken: false,
            named: None,
        }
    }

    /// Reads a whole recording: server-sent events, JSON lines of chunks or strings, or raw text.
    /// Lines that `curl -v` and `curl -i` print around events are left out.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let mut recording = Self { named: named_by(bytes), ..Self::default() };
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut detector = FormDetector::new(Patience::Head);
        let form = detector.push(bytes).unwrap_or_else(|| detector.finish());
        let (mut bytes, log) = detector.into_parts();
        log.into_iter().for_each(|mut log| log.finish(&mut bytes));
        match form {
            RecordingForm::Text => recording.bytes(&bytes),
            RecordingForm::Lines => {
                for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
                    recording.json("", line);
                }
            }
            RecordingForm::Events => {
                let mut decoder = sse::Decoder::new().lenient();
                let mut item = |item: sse::SseItem<'_>| recording.event(&item);
                let read = decoder.push(&bytes, &mut item).and_then(|()| decoder.finish(&mut item));
                if let Err(error) = read {
                    recording.fault(error.to_string());
                }
            }
        }
        recording.finish(false);
        recording
    }

    fn event(&mut self, item: &sse::SseItem<'_>) {
        match item {
            sse::SseItem::Event(event) => {
                if let Some(data) = event.data {
                    self.json(&String::from_utf8_lossy(event.name.unwrap_or_default()), data);
                }
            }
            sse::SseItem::Dropped { bytes } => {
                self.fault(format!("line_limit: {bytes} bytes of the recording were left out"));
            }
            _ => {}
        }
    }

    /// Explains how `guard` reads each choice. The explanations name the reading `name`. Without an
    /// `end`, the recording decides how each choice ended.
    #[must_use]
    pub fn explain(&self, name: &str, guard: &Guard, end: Option<End>) -> Vec<Explained> {
        let explained = |(choice, items): (u32, &[RecordedItem])| {
            let mut explainer = Explainer::new(name, guard.clone());
            for item in items {
                match item {
                    RecordedItem::Text { text, time, .. } => explainer.push(text, *time),
                    RecordedItem::Note(note) => explainer.note(note.clone()),
                }
            }
            let explanation = explainer.finish(end.unwrap_or_else(|| self.end(choice)));
            Explained { choice, explanation }
        };
        self.choices().map(explained).collect()
    }

    /// Returns the choices by index, each in the order of the recording.
    pub fn choices(&self) -> impl Iterator<Item = (u32, &[RecordedItem])> {
        self.choices.iter().map(|(index, items)| (*index, &items[..]))
    }

    /// Whether a chunk of the choice has token ids.
    #[must_use]
    pub fn has_ids(&self, choice: u32) -> bool {
        let items = self.choices.get(&choice).into_iter().flatten();
        items.into_iter().any(|item| matches!(item, RecordedItem::Text { ids: Some(_), .. }))
    }

    /// Returns the profile that the first line names, as recordings of the proxy do.
    #[must_use]
    pub fn named(&self) -> Option<&Profile> {
        self.named.as_ref()
    }

    /// Returns the text of each choice.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let text = |item: &RecordedItem| match item {
            RecordedItem::Text { text, .. } => Some(text.clone()),
            RecordedItem::Note(_) => None,
        };
        self.choices.values().map(|items| items.iter().filter_map(text).collect()).collect()
    }

    /// Returns how a choice ended, as far as the recording shows.
    #[must_use]
    pub fn end(&self, choice: u32) -> End {
        match self.finished.get(&choice) {
            Some(&end) => end,
            // A server that ends a choice sends a finish reason.
            None if self.chunks || self.broken => End::Aborted,
            None => End::Stop,
        }
    }

    /// Adds raw bytes of choice 0.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        self.utf8.push(bytes, |piece| text.push_str(piece));
        self.text(0, &text, None);
    }

    /// Adds the data of one event called `name`, or one line of JSON: a chunk, a string or an error.
    pub fn json(&mut self, name: &str, data: &[u8]) {
        let text = String::from_utf8_lossy(data);
        match EventData::read(name, &text) {
            EventData::Empty | EventData::Done => {}
            EventData::Error(value) => {
                self.broken = true;
                self.fault(error_message(value.get("error").unwrap_or(&value)));
                self.value(value);
            }
            EventData::Text(text) => self.text(0, &text, None),
            EventData::Json(value) => match token_chunk(&value) {
                // Tokens and text do not show how a stream ended.
                Some(token) => {
                    for (at, choice) in token.choices.iter().enumerate() {
                        self.choice(choice, token.token_ids(at), None);
                    }
                }
                None => self.value(value),
            },
            EventData::NotJson(error) => self.fault(format!("not JSON: {error}")),
        }
    }

    /// Adds a fault of the recording itself, or of the server.
    pub fn fault(&mut self, message: String) {
        self.note(&RecordedNote::Error { message });
    }

    /// Ends the recording. `broken` is set if the rest could not be read.
    pub fn finish(&mut self, broken: bool) {
        let mut text = String::new();
        self.utf8.finish(|piece| text.push_str(piece));
        self.text(0, &text, None);
        self.choices.entry(0).or_default();
        self.broken |= broken;
    }

    fn note(&mut self, note: &RecordedNote) {
        if self.choices.is_empty() {
            self.choices.insert(0, Vec::new());
        }
        for items in self.choices.values_mut() {
            items.push(RecordedItem::Note(note.clone()));
        }
    }

    fn text(&mut self, choice: u32, text: &str, time: Option<Duration>) {
        let items = self.choices.entry(choice).or_default();
        let mut rest = text;
        while !rest.is_empty() {
            let most = self.longest.min(rest.len());
            let cut = (most..rest.len()).find(|&at| rest.is_char_boundary(at));
            let (piece, more) = rest.split_at(cut.unwrap_or(rest.len()));
            items.push(RecordedItem::Text { text: piece.to_owned(), ids: None, time });
            rest = more;
        }
    }

    fn value(&mut self, value: Value) {
        let Some(chunk) = chunk_from(value) else { return };
        let ms = chunk.fields.get("ms").and_then(Value::as_f64);
        let time = ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
        self.chunks |= !chunk.choices.is_empty();
        for (at, choice) in chunk.choices.iter().enumerate() {
            self.choice(choice, chunk.token_ids(at), time);
        }
        if chunk.usage.value().is_some() {
            self.note(&RecordedNote::Usage);
        }
    }

    fn choice(&mut self, choice: &Choice, ids: Option<Vec<u32>>, time: Option<Duration>) {
        let Choice { index, delta, finish_reason, .. } = choice;
        self.choices.entry(*index).or_default();
        let reasoning = delta.reasoning_text().is_some_and(|text| !text.is_empty());
        let native =
            [("reasoning_content", reasoning), ("tool_calls", !delta.tool_calls.is_empty())];
        for (field, _) in native.into_iter().filter(|(_, there)| *there) {
            // One note per field is enough.
            if self.native.insert((*index, field)) {
                let note = RecordedItem::Note(RecordedNote::Native { field });
                self.choices.entry(*index).or_default().push(note);
            }
        }
        match delta.content.value() {
            Some(Content::Text(text)) => match ids {
                // Tokens may have no text.
                Some(ids) if self.longest == UNCUT => {
                    let item = RecordedItem::Text { text: text.clone(), ids: Some(ids), time };
                    self.choices.entry(*index).or_default().push(item);
                }
                _ => self.text(*index, text, time),
            },
            Some(Content::Parts(parts)) => {
                for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                    self.text(*index, text, time);
                }
            }
            None => {}
        }
        if let Some(reason) = finish_reason.value() {
            let cut = matches!(reason.as_str(), "length" | "max_tokens");
            self.finished.insert(*index, if cut { End::Length } else { End::Stop });
            let note = RecordedNote::Finish { reason: reason.clone() };
            self.choices.entry(*index).or_default().push(RecordedItem::Note(note));
        }
    }
}

/// Returns the profile that the first line of a recording names: the proxy writes `: family NAME`.
#[must_use]
pub fn named_by(recording: &[u8]) -> Option<Profile> {
    let line = recording.split(|byte| *byte == b'\n').next()?.strip_prefix(b": family ")?;
    named_profile(std::str::from_utf8(line).ok()?.trim()).ok()
}

/// Returns the chunk of a token of choice 0: an object with a number `id` and `text`.
#[must_use]
pub fn token_chunk(value: &Value) -> Option<Chunk> {
    let id = value.get("id")?.as_u64()?;
    let text = value.get("text")?.as_str()?.to_owned();
    let mut choice = Choice::default();
    choice.extra.insert("token_ids".into(), Value::from(vec![id]));
    choice.delta.content = Field::Value(Content::Text(text));
    Some(Chunk { choices: vec![choice], ..Chunk::default() })
}

/// Returns the chunk that a value is: a chunk, a whole response, or text of the legacy completions.
#[must_use]
pub fn chunk_from(value: Value) -> Option<Chunk> {
    let mut chunk = if value.pointer("/choices/0/message").is_some() {
        Completion::into_chunk(serde_json::from_value(value).ok()?)
    } else {
        value.into_chunk().ok()?
    };
    for choice in &mut chunk.choices {
        // The legacy completions API has `text` in place of a delta.
        if let Some(Value::String(text)) = choice.extra.shift_remove("text") {
            choice.delta.content = Field::Value(Content::Text(text));
        }
    }
    Some(chunk)
}

/// Returns the `message` of a server's error, or all of it.
#[must_use]
pub fn error_message(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    message.map_or_else(|| error.to_string(), str::to_owned)
}
