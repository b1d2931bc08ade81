//! What a filter counted, and an estimate of tokens from it.

use jail_match::Channel;

/// Counts of a message. No text in them, and the same whatever the chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes of content that was emitted.
    pub content_bytes: u64,
    /// Bytes of reasoning that was emitted.
    pub reasoning_bytes: u64,
    /// Spans of reasoning that were not empty.
    pub spans: u64,
    /// Spans the end of the stream cut: 0 or 1 for each message.
    pub unclosed: u64,
    /// Closers removed with nothing open.
    pub stray_closers: u64,
    /// Repeated openers removed.
    pub echoes: u64,
}

impl Counts {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "they count bytes of one stream, and no stream has 2^64 of them"
    )]
    pub(crate) fn add(&mut self, channel: Channel, text: &str) {
        if channel == Channel::REASONING {
            self.reasoning_bytes += text.len() as u64;
        } else {
            self.content_bytes += text.len() as u64;
        }
    }
}

/// Guesses how many tokens so many bytes of reasoning are.
///
/// A function of the total, so that the guess depends on no chunk. Where the backend tells the
/// number, that one is right.
pub type TokenEstimate = fn(u64) -> u64;

/// Four bytes to a token, rounded up: what text in English comes to.
#[must_use]
pub fn four_bytes_a_token(reasoning_bytes: u64) -> u64 {
    reasoning_bytes.div_ceil(4)
}
