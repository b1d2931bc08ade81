//! Ends of turns at the end of a text: as the last text of a message they belong to no value.
//!
//! ```text
//! ends: <|im_end|>
//! "so far"             none
//! "so far<|im"         may become one, from the 7th byte on
//! "so far<|im_end|>"   one, if the message ends here
//! ```

use alloc::{boxed::Box, vec::Vec};

use super::compile::respell::Respell;
use crate::texts::{Bytes, Speller};

/// The ends of turns that no tag of a call contains.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnEnds {
    texts: Vec<Box<str>>,
    first_bytes: Bytes,
    longest: usize,
}

impl TurnEnds {
    pub(crate) fn new(texts: Vec<Box<str>>) -> Self {
        let first = texts.iter().filter_map(|text| text.as_bytes().first());
        let first_bytes = first.fold(Bytes::default(), |bytes, &byte| bytes.with(byte));
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
        let mut places = (from..bytes.len()).filter(|&at| self.first_bytes.has(bytes[at]));
        places.find(|&at| self.iter().any(|end| end.as_bytes().starts_with(&bytes[at..])))
    }

    /// Returns whether `text` is a whole end of a turn.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.iter().any(|end| end == text)
    }
}

impl Respell for TurnEnds {
    fn respell(&mut self, speller: &Speller<'_>) {
        let mut texts = core::mem::take(&mut self.texts);
        texts.respell(speller);
        *self = Self::new(texts);
    }
}
