//! Streams whose chunks have the client's name of the model.

use llm_stream_guard::sse::{Decoder, SseItem, SseLimitPolicy, SseLimits};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::converted::Converter;

/// A converter of chunks, which replaces their `model`.
///
/// The chunk `data: {"model": "Qwen/Qwen3-8B", ..}` reaches the machine as
/// `data: {"model": "claude-x", ..}`; events without such a field pass unchanged.
pub(crate) struct Renamed {
    decoder: Decoder,
    /// The model's name as JSON.
    name: String,
}

#[derive(Deserialize)]
struct Named<'d> {
    #[serde(borrow, default)]
    model: Option<&'d RawValue>,
}

impl Renamed {
    pub(crate) fn new(name: &str) -> Self {
        let limits = SseLimits::default().policy(SseLimitPolicy::Release);
        let decoder = Decoder::new().lenient().limits(limits);
        Self { decoder, name: Value::from(name).to_string() }
    }

    /// Writes an item with `name` as its model.
    fn rename(item: &SseItem<'_>, name: &str, out: &mut Vec<u8>) {
        if let SseItem::Event(event) = item
            && let Some(data) = event.data.and_then(|data| std::str::from_utf8(data).ok())
            && let Some(model) = model_of(data)
        {
            // Data of one line is a part of the raw bytes. All other bytes stay unchanged.
            if let Some([before, after]) = around(event.raw, model.as_bytes()) {
                return [before, name.as_bytes(), after].iter().for_each(|it| out.extend(*it));
            }
            if let Some([before, after]) = around(data.as_bytes(), model.as_bytes()) {
                return event.with_data(&[before, name.as_bytes(), after].concat(), out);
            }
        }
        out.extend_from_slice(item.raw());
    }
}

/// Returns the value of the field `model` in a chunk, as JSON.
fn model_of(chunk: &str) -> Option<&str> {
    // Text without the key is not parsed.
    if !chunk.contains("\"model\"") {
        return None;
    }
    Some(serde_json::from_str::<Named<'_>>(chunk).ok()?.model?.get())
}

/// Returns the bytes before and after `part`, if it is a slice of `whole` and not of a copy.
fn around<'w>(whole: &'w [u8], part: &[u8]) -> Option<[&'w [u8]; 2]> {
    let at = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = at.checked_add(part.len())?;
    // Compare the bytes too, since the address may belong to another buffer.
    (whole.get(at..end)? == part).then_some([whole.get(..at)?, whole.get(end..)?])
}

impl Converter for Renamed {
    fn push(&mut self, bytes: &[u8], converted: &mut Vec<u8>) {
        let Self { decoder, name } = self;
        // Events beyond the limits pass, because the machine has its own limits.
        let _ = decoder.push(bytes, |item| Self::rename(&item, name, converted));
    }

    fn finish(&mut self, converted: &mut Vec<u8>) {
        let Self { decoder, name } = self;
        let _ = decoder.finish(|item| Self::rename(&item, name, converted));
    }

    fn held(&self) -> usize {
        self.decoder.held()
    }
}
