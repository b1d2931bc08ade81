//! Machines that read converted bytes.
//!
//! ```text
//! upstream   {"model":"m","response":"Hi","done":false}
//! converter  data: {"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}
//! machine    reads the converter's bytes
//! ```

use llm_stream_guard::chat::ChatSseError;
use serde_json::Value;

use super::Machine;
use crate::error::Fault;

/// Capacity up to which a buffer is kept for the next bytes.
const KEPT_BUFFER_BYTES: usize = 64 << 10;

/// A conversion of upstream's bytes before a machine reads them.
pub(crate) trait Converter: Send + 'static {
    /// Converts the next bytes.
    fn push(&mut self, bytes: &[u8], converted: &mut Vec<u8>);

    /// Converts the bytes that were held, because upstream's have ended.
    fn finish(&mut self, converted: &mut Vec<u8>);

    /// Returns the number of bytes held back.
    fn held(&self) -> usize;
}

/// A machine that reads what a converter makes of upstream's bytes.
pub(crate) struct Converted<C> {
    converter: C,
    inner: Box<dyn Machine>,
    bytes: Vec<u8>,
}

impl<C: Converter> Converted<C> {
    pub(crate) fn new(inner: Box<dyn Machine>, converter: C) -> Self {
        Self { converter, inner, bytes: Vec::new() }
    }

    /// Feeds what was converted to the inner machine.
    fn feed(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        let Self { inner, bytes, .. } = self;
        let fed = if bytes.is_empty() { Ok(()) } else { inner.push(bytes, out) };
        match bytes.capacity() > KEPT_BUFFER_BYTES {
            true => *bytes = Vec::new(),
            false => bytes.clear(),
        }
        fed
    }
}

impl<C: Converter> Machine for Converted<C> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        self.converter.push(bytes, &mut self.bytes);
        self.feed(out)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), ChatSseError> {
        self.converter.finish(&mut self.bytes);
        self.feed(out)?;
        self.inner.finish(out)
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
        self.converter.held().saturating_add(self.inner.held())
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
