//! The suffix that all markers of a stream have: `<think:opensource>`, where the table has `<think>`.

use super::Driver;
use crate::{
    edge::Edge,
    suffix::{self, LearntSuffix, SuffixRule},
};

impl Driver {
    /// Returns whether `text` may be the edge's marker with the suffix of the stream's markers.
    pub(super) fn suffix_fits(&self, edge: &Edge, text: &[u8]) -> bool {
        if edge.suffix == SuffixRule::None || self.suffix.is_empty() {
            return true;
        }
        let (head, close) =
            edge.marker.as_bytes().split_at(suffix::suffix_place(edge.marker.as_bytes()));
        let tail = text.get(head.len()..).unwrap_or_default();
        self.suffix.as_bytes().iter().chain(close).zip(tail).all(|(a, b)| a == b)
    }

    /// Returns the suffix of the edge's marker in `text`.
    pub(super) fn suffix_in(&self, edge: usize, text: &[u8]) -> LearntSuffix {
        let edge = &self.table.edges()[edge];
        match edge.suffix {
            SuffixRule::None => LearntSuffix::NONE,
            SuffixRule::Optional => LearntSuffix::found_in(edge.marker.as_bytes(), text),
        }
    }

    /// Records that the edge acted with `text` as its marker. Keeps the stream's first suffix.
    pub(super) fn spend(&mut self, edge: usize, text: &[u8]) {
        self.message.interrupt(&self.table);
        self.message.spent |= self.table.use_bit(edge);
        self.suffix = self.suffix.or(self.suffix_in(edge, text));
    }
}
