//! The possible tail of a stream: a usage chunk without choices, and chunks after it.

use super::chunk::Chunk;

/// Maximum number of chunks without choices in a tail.
const MOST: usize = 16;

/// Chunks without choices that wait until it is known whether choices follow, each with the number
/// of its input.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Vec<(Chunk, u64)>);

impl Tail {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.len() > MOST
    }

    /// Whether usage arrived and no choice followed.
    pub(super) fn has_usage(&self) -> bool {
        self.0.iter().any(|(chunk, _)| chunk.usage.value().is_some())
    }

    pub(super) fn push(&mut self, chunk: Chunk, seq: u64) {
        self.0.push((chunk, seq));
    }

    pub(super) fn take(&mut self) -> Vec<(Chunk, u64)> {
        std::mem::take(&mut self.0)
    }

    /// The numbers of the inputs.
    pub(super) fn since(&self) -> impl Iterator<Item = u64> + Clone {
        self.0.iter().map(|(_, seq)| *seq)
    }
}
