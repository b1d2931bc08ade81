//! Ends of turns at the end of a text: as the last text of a message they belong to no value.
//!
//! ```text
//! ends: <|im_end|>
//! "so far"             none
//! "so far<|im"         may become one, from the 7th byte on
//! "so far<|im_end|>"   one, if the message ends here
//! ```

use alloc::{boxed::Box, vec::Vec};

/// The ends of turns that no tag of a call contains.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnEnds {
    texts: Vec<Box<str>>,
    first_bytes: Vec<u8>,
    longest: usize,
}

impl TurnEnds {
    pub(crate) fn new(texts: Vec<Box<str>>) -> Self {
        let mut first_bytes: Vec<u8> =
            texts.iter().filter_map(|text| text.bytes().next()).collect();
        first_bytes.sort_unstable();
        first_bytes.dedup();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        Self { texts, first_bytes, longest }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Returns the index from which `text` ends with an end of a turn, whole or cut.
    #[inline]
    pub(crate) fn start_in(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let from = bytes.len().saturating_sub(self.longest);
        let may_start = self.first_bytes.iter().any(|first| bytes[from..].contains(first));
        if may_start { self.search(bytes, from) } else { None }
    }

    fn search(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut places = (from..bytes.len()).filter(|&at| self.first_bytes.contains(&bytes[at]));
        places.find(|&at| self.iter().any(|end| end.as_bytes().starts_with(&bytes[at..])))
    }

    /// Returns whether `text` is a whole end of a turn.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.iter().any(|end| end == text)
    }

    /// Replaces each end by what `change` makes of it.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Vec<Box<str>>)) {
        let mut texts = core::mem::take(&mut self.texts);
        change(&mut texts);
        *self = Self::new(texts);
    }
}
