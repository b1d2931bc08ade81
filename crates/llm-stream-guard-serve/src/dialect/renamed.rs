//! Streams whose chunks have the client's name of the model.

use llm_stream_guard::{
    chat::ChatSseError,
    sse::{Decoder, SseItem, SseLimitPolicy, SseLimits},
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::Machine;
use crate::error::Fault;

/// A machine that is fed with chunks whose `model` is replaced.
///
/// The chunk `data: {"model": "Qwen/Qwen3-8B", ..}` reaches the inner machine as
/// `data: {"model": "claude-x", ..}`; events without such a field pass unchanged.
pub(crate) struct Renamed {
    decoder: Decoder,
    /// The model's name as JSON.
    name: String,
    inner: Box<dyn Machine>,
    changed: Vec<u8>,
}

#[derive(Deserialize)]
struct Named<'d> {
    #[serde(borrow, default)]
    model: Option<&'d RawValue>,
}

impl Renamed {
    pub(crate) fn new(inner: Box<dyn Machine>, name: &str) -> Self {
        let limits = SseLimits::default().policy(SseLimitPolicy::Release);
        let decoder = Decoder::new().lenient().limits(limits);
        Self { decoder, name: Value::from(name).to_string(), inner, changed: Vec::new() }
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

impl Machine for Renamed {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, name, inner, changed } = self;
        changed.clear();
        // Events beyond the limits pass, because the inner machine has its own limits.
        let _ = decoder.push(bytes, |item| Self::rename(&item, name, changed));
        match changed.is_empty() {
            true => Ok(()),
            false => inner.push(changed, out),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { decoder, name, inner, changed } = self;
        changed.clear();
        let _ = decoder.finish(|item| Self::rename(&item, name, changed));
        if !changed.is_empty() {
            inner.push(changed, out)?;
        }
        inner.finish(out)
    }

    fn fail(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.inner.fail(fault, out);
    }

    fn keep_alive(&self, out: &mut Vec<u8>) {
        self.inner.keep_alive(out);
    }

    fn usage(&self) -> Option<&Value> {
        self.inner.usage()
    }

    fn held(&self) -> usize {
        self.decoder.held().saturating_add(self.inner.held())
    }

    fn stopped(&self) -> usize {
        self.inner.stopped()
    }

    fn uncalled(&self) -> usize {
        self.inner.uncalled()
    }

    fn is_over(&self) -> bool {
        self.inner.is_over()
    }

    fn upstream_failed(&self) -> bool {
        self.inner.upstream_failed()
    }
}
