//! The guard of one message.

use llm_stream_guard::{Guard, Ids, LimitError, Profile, Sink, Token, TokenKind, all_names};
use wasm_bindgen::prelude::*;

use crate::{
    call_text::call_text,
    events::{EventList, message_json},
    fault,
    settings::{self, Settings},
};

/// Turns the raw text of one message into events.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NativeGuard {
    guard: Guard,
    profile: Profile,
}

/// Returns the events that `read` emits. All calls use one type of sink, so that the parser is
/// compiled once.
fn events(read: impl FnOnce(&mut dyn Sink) -> Result<(), LimitError>) -> String {
    let mut events = EventList::default();
    let error = read(&mut events).err();
    events.finish(error.map(|error| error.to_string()))
}

#[wasm_bindgen]
impl NativeGuard {
    /// Creates a guard from settings.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> Result<NativeGuard, JsValue> {
        let (profile, guard) = Settings::read(settings)?.guard()?;
        Ok(Self { guard, profile })
    }

    /// Feeds the next piece of text and returns the events that are certain.
    pub fn push(&mut self, text: &str) -> String {
        events(|sink| self.guard.push(text, sink))
    }

    /// Feeds the next bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> String {
        events(|sink| self.guard.push_bytes(bytes, sink))
    }

    /// Feeds a marker token.
    pub fn push_marker(&mut self, text: &str) -> String {
        let token = Token { id: 0, text, kind: TokenKind::Marker };
        events(|sink| self.guard.push_token(token, sink))
    }

    /// Ends the message and returns the last events.
    pub fn finish(&mut self, end: &str) -> Result<String, JsValue> {
        let end = settings::end(end)?;
        Ok(events(|sink| self.guard.finish(end, sink)))
    }

    /// Parses a whole text as a clone of this guard would.
    pub fn parse(&self, text: &str, end: &str) -> Result<String, JsValue> {
        let message = self.guard.parse(text, settings::end(end)?).map_err(fault)?;
        Ok(message_json(&message))
    }

    /// Returns the part of a message's text that is the call with this index.
    pub fn call_text(&self, text: &str, index: u32) -> Option<String> {
        call_text(self.guard.clone(), text, index).map(str::to_owned)
    }

    /// Resets the guard for a new message.
    pub fn reset(&mut self) {
        self.guard.reset();
    }

    /// Number of bytes held back because their meaning is not certain yet.
    pub fn held(&self) -> usize {
        self.guard.held().bytes
    }

    /// Name of the profile.
    pub fn family(&self) -> String {
        self.profile.name.clone()
    }

    /// Returns whether the server must be asked to keep special tokens in the text.
    pub fn needs_special_tokens(&self) -> bool {
        self.guard.needs_special_tokens()
    }
}

/// Sets the seed of generated ids. The loader calls this once, before any id is generated.
#[wasm_bindgen(js_name = seedIds)]
pub fn seed_ids(seed: u64) {
    Ids::seed_process(seed);
}

/// Names of all families, aliases included, sorted.
#[wasm_bindgen]
pub fn families() -> Vec<String> {
    all_names()
}
