//! Chat-completion event streams, bytes in and bytes out.

use llm_stream_guard::chat::{ChatNote, ChatSse, SseSink};
use wasm_bindgen::prelude::*;

use crate::{
    fault,
    settings::{self, Settings},
};

/// Cleans the bytes of a chat-completion event stream.
#[wasm_bindgen]
#[derive(Debug)]
pub struct NativeSse {
    sse: ChatSse,
    bytes: Bytes,
}

/// A sink that keeps bytes.
#[derive(Debug, Default)]
struct Bytes(Vec<u8>);

impl SseSink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn note(&mut self, _: ChatNote) {}
}

#[wasm_bindgen]
impl NativeSse {
    /// Creates a guard from settings.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> Result<NativeSse, JsValue> {
        let sse = ChatSse::new(Settings::read(settings)?.chat()?);
        Ok(Self { sse, bytes: Bytes::default() })
    }

    /// Feeds bytes of the stream. `take` returns the clean bytes, even after an error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        self.sse.push(bytes, &mut self.bytes).map_err(fault)
    }

    /// Ends the event stream.
    pub fn finish(&mut self, end: &str) -> Result<(), JsValue> {
        self.sse.finish(settings::end(end)?, &mut self.bytes).map_err(fault)
    }

    /// Returns the clean bytes so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.0)
    }
}
