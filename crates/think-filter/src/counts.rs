//! Counts of a message, and an estimate of its reasoning tokens.

use jail_match::Channel;

/// Counts of a message. They contain no text and do not depend on chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes of emitted content.
    pub content_bytes: u64,
    /// Bytes of emitted reasoning.
    pub reasoning_bytes: u64,
    /// Spans of reasoning, without empty ones.
    pub spans: u64,
    /// Spans that the end of a message left open: 0 or 1 for each message.
    pub unclosed: u64,
    /// Closers that were removed although no reasoning was open.
    pub stray_closers: u64,
    /// Repeated openers that were removed.
    pub echoes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, channel: Channel, text: &str) {
        let bytes = match channel {
            Channel::REASONING => &mut self.reasoning_bytes,
            _ => &mut self.content_bytes,
        };
        *bytes = bytes.saturating_add(text.len() as u64);
    }
}

/// A function that estimates the number of tokens in a number of bytes of reasoning.
///
/// The argument is the total of the message, so that the estimate does not depend on chunks. Prefer
/// a number that the server reports.
pub type TokenEstimate = fn(u64) -> u64;

/// Returns a quarter of the bytes, rounded up: four bytes for each token are typical of English
/// text.
#[must_use]
pub fn four_bytes_a_token(reasoning_bytes: u64) -> u64 {
    reasoning_bytes.div_ceil(4)
}
