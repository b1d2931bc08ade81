//! A recording: the model's text in the pieces it came in, and what the server said besides.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    time::Duration,
};

use llm_stream_guard::{
    End, Profile, Utf8,
    chat::{ChatChunk as _, Choice, Chunk, Content},
    explain::RecordedNote,
};
use serde_json::Value;

use crate::{
    args::ReadingArgs,
    error::{Error, misuse},
    input::Patience,
    lookup::{self, FIRST_LINE},
    parse::{
        self, InputFeed, Intake, MAX_TOKENS, ceil_char_boundary, chunk_from, error_message,
        token_chunk,
    },
};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// An item of a choice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// Text that the model wrote.
    Text {
        /// The text of this item.
        text: String,
        /// The ids of its tokens, if the chunk has some.
        ids: Option<Vec<u32>>,
        /// Time of arrival, if the chunk has a number `ms`.
        time: Option<Duration>,
    },
    /// Another item from the server.
    Note(RecordedNote),
}

/// The items of each choice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recording {
    choices: BTreeMap<u32, Vec<Item>>,
    finished: BTreeMap<u32, End>,
    /// Fields with text that the server had separated.
    native: BTreeSet<(u32, &'static str)>,
    utf8: Utf8,
    /// The longest piece of text.
    most: Option<usize>,
    chunks: bool,
    broken: bool,
    /// The beginning, which may name the family.
    head: Vec<u8>,
}

impl Recording {
    /// Reads everything `input` gives; `progress` hears how many bytes were read.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn read(
        args: &ReadingArgs,
        input: &mut dyn Read,
        patience: Patience,
        mut progress: impl FnMut(u64),
    ) -> Result<Self, Error> {
        let most = args.chunk.map(|bytes| bytes as usize);
        let kind = args.input_kind();
        let mut feed = InputFeed::new(kind, patience, Self { most, ..Self::default() });
        let (mut piece, mut read) = (vec![0; PIECE], 0);
        let mut head = Vec::new();
        loop {
            match input.read(&mut piece) {
                Ok(0) => break,
                Ok(len) => {
                    let came = piece.get(..len).unwrap_or(&piece);
                    // Markers are looked for in all tokens.
                    let most = if args.tokens.is_some() { MAX_TOKENS } else { FIRST_LINE };
                    let room =
                        usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(head.len());
                    head.extend(came.iter().take(room));
                    feed.push(came);
                    read += len as u64;
                    progress(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(misuse(format!("{}: {error}", args.path().display()))),
            }
        }
        feed.finish(None, false);
        Ok(Self { head, ..feed.into_intake() })
    }

    /// The choices by index, each in the order of the recording; at least the first.
    pub(crate) fn choices(&self) -> impl Iterator<Item = (&u32, &[Item])> {
        self.choices.iter().map(|(index, items)| (index, &items[..]))
    }

    /// The bytes of the recording: all of them if they are tokens, else the first.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.head
    }

    /// The family that its first line names.
    #[must_use]
    pub(crate) fn named(&self) -> Option<Profile> {
        lookup::recorded(&self.head)
    }

    /// Whether a chunk of the choice has token ids.
    pub(crate) fn has_ids(&self, choice: u32) -> bool {
        let items = self.choices.get(&choice).into_iter().flatten();
        items.into_iter().any(|item| matches!(item, Item::Text { ids: Some(_), .. }))
    }

    /// The text of each choice.
    #[must_use]
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |item: &Item| match item {
            Item::Text { text, .. } => Some(text.clone()),
            Item::Note(_) => None,
        };
        self.choices.values().map(|items| items.iter().filter_map(text).collect()).collect()
    }

    /// Returns how a choice ended, as far as the recording shows.
    #[must_use]
    pub(crate) fn end(&self, choice: u32) -> End {
        match self.finished.get(&choice) {
            Some(&end) => end,
            // A server that ends a choice sends a finish reason.
            None if self.chunks || self.broken => End::Aborted,
            None => End::Stop,
        }
    }

    fn note_all(&mut self, note: &RecordedNote) {
        if self.choices.is_empty() {
            self.choices.insert(0, Vec::new());
        }
        for items in self.choices.values_mut() {
            items.push(Item::Note(note.clone()));
        }
    }

    fn text(&mut self, choice: u32, text: &str, time: Option<Duration>) {
        let items = self.choices.entry(choice).or_default();
        let mut rest = text;
        while !rest.is_empty() {
            let most = self.most.map_or(rest.len(), |most| most.min(rest.len()));
            let (piece, more) = rest.split_at(ceil_char_boundary(rest, most));
            items.push(Item::Text { text: piece.to_owned(), ids: None, time });
            rest = more;
        }
    }

    fn chunk(&mut self, chunk: &Chunk) {
        let ms = chunk.fields.get("ms").and_then(Value::as_f64);
        let time = ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
        self.chunks |= !chunk.choices.is_empty();
        for (at, choice) in chunk.choices.iter().enumerate() {
            self.choice(choice, chunk.token_ids(at), time);
        }
        if chunk.usage.value().is_some() {
            self.note_all(&RecordedNote::Usage);
        }
    }

    fn choice(
        &mut self,
        Choice { index, delta, finish_reason, .. }: &Choice,
        ids: Option<Vec<u32>>,
        time: Option<Duration>,
    ) {
        self.choices.entry(*index).or_default();
        let reasoning = delta.reasoning_text().is_some_and(|text| !text.is_empty());
        let native =
            [("reasoning_content", reasoning), ("tool_calls", !delta.tool_calls.is_empty())];
        for (field, _) in native.into_iter().filter(|(_, there)| *there) {
            // One note per field is enough.
            if self.native.insert((*index, field)) {
                let note = Item::Note(RecordedNote::Native { field });
                self.choices.entry(*index).or_default().push(note);
            }
        }
        match delta.content.value() {
            Some(Content::Text(text)) => match ids {
                // Tokens may have no text.
                Some(ids) if self.most.is_none() => {
                    let item = Item::Text { text: text.clone(), ids: Some(ids), time };
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
            self.choices.entry(*index).or_default().push(Item::Note(note));
        }
    }

    fn error(&mut self, message: String) {
        self.broken = true;
        self.note_all(&RecordedNote::Error { message });
    }
}

impl Intake for Recording {
    fn bytes(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        self.utf8.push(bytes, |piece| text.push_str(piece));
        self.text(0, &text, None);
    }

    fn json(&mut self, name: &str, data: &[u8]) {
        let text = String::from_utf8_lossy(data);
        let text = text.trim();
        if matches!(text, "" | "[DONE]") {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if name == "error" || value.is_error() => {
                let error = value.get("error").unwrap_or(&value);
                self.error(error_message(error));
                if let Some(chunk) = chunk_from(value) {
                    self.chunk(&chunk);
                }
            }
            Ok(Value::String(text)) => self.text(0, &text, None),
            // Tokens do not show how a stream ended, as text does not.
            Ok(value) if let Some(token) = token_chunk(&value) => {
                for (at, choice) in token.choices.iter().enumerate() {
                    self.choice(choice, token.token_ids(at), None);
                }
            }
            Ok(value) => {
                if let Some(chunk) = chunk_from(value) {
                    self.chunk(&chunk);
                }
            }
            Err(error) => {
                self.note_all(&RecordedNote::Error { message: format!("not JSON: {error}") });
            }
        }
    }

    fn note(&mut self, note: parse::Remark<'_>) {
        let message = match note.bytes {
            Some(bytes) => format!("{}: {bytes} bytes of the recording were left out", note.kind),
            None => format!("{}: {}", note.kind, note.message.unwrap_or_default()),
        };
        self.note_all(&RecordedNote::Error { message });
    }

    fn finish(&mut self, _: Option<End>, broken: bool) {
        let mut text = String::new();
        self.utf8.finish(|piece| text.push_str(piece));
        self.text(0, &text, None);
        self.choices.entry(0).or_default();
        self.broken |= broken;
    }
}
