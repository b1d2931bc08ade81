//! Words: the markers of a pair and the forms derived from them.

use alloc::{string::String, vec, vec::Vec};

use crate::{
    pair::{MarkerPair, Mode, Settings, Truncated},
    spelling,
};

/// Origin of a word: declared, or derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// The canonical marker, `<tool_call>`.
    Canonical,
    /// The declared wire marker with its nonce, `[[CALL]]`.
    Wire,
    /// A garbled spelling of the wire marker, `[[ call ]]`.
    Garbled,
    /// The wire marker without its last character, `[[CALL]`.
    NoLast,
    /// The wire marker without its first character, `[CALL]]`.
    NoFirst,
}

/// A marker of a table, or a form derived from one.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// Index of the pair this word belongs to.
    pub(crate) entry: usize,
    pub(crate) kind: WordKind,
    pub(crate) text: String,
    /// Byte offset at which escapes are inserted.
    pub(crate) point: usize,
    /// The word with one escape: its literal form on the wire.
    pub(crate) literal: String,
    /// Two escapes and the rest of the word. They replace the rest to escape one level deeper.
    pub(crate) deeper: String,
}

impl Word {
    fn new(entry: usize, kind: WordKind, text: &str, escape: char) -> Self {
        let point = spelling::escape_point(text).unwrap_or(0);
        Self {
            entry,
            kind,
            point,
            literal: spelling::escaped(text, point, escape, 1),
            deeper: spelling::escaped(&text[point..], 0, escape, 2),
            text: text.into(),
        }
    }

    /// Returns all words of the pairs, in the order of the pairs.
    pub(crate) fn of_pairs(pairs: &[MarkerPair], settings: &Settings) -> Vec<Self> {
        let pairs = pairs.iter().enumerate();
        pairs.flat_map(|(entry, pair)| Self::of_pair(entry, pair, settings)).collect()
    }

    fn of_pair(entry: usize, pair: &MarkerPair, settings: &Settings) -> Vec<Self> {
        let word = |kind, text: &str| Self::new(entry, kind, text, settings.escape);
        let mut words =
            vec![word(WordKind::Canonical, &pair.canonical), word(WordKind::Wire, &pair.wire)];
        if settings.garbled {
            let forms = spelling::garbled(&pair.wire);
            words.extend(forms.iter().map(|form| word(WordKind::Garbled, form)));
        }
        if settings.truncated != Truncated::Ignore {
            let last = spelling::without_last(&pair.wire);
            words.extend(last.map(|text| word(WordKind::NoLast, text)));
            let first = spelling::without_first(&pair.wire);
            words.extend(first.map(|text| word(WordKind::NoFirst, text)));
        }
        words
    }

    /// Returns the part after the escapes.
    pub(crate) fn rest(&self) -> &str {
        &self.text[self.point..]
    }

    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self.kind, WordKind::NoLast | WordKind::NoFirst)
    }

    /// Returns whether decoding may replace this word, so that encoding must escape literal text
    /// that equals it.
    pub(crate) fn is_escapable(&self, settings: &Settings) -> bool {
        settings.mode == Mode::Exact
            && match self.kind {
                WordKind::Wire | WordKind::Garbled => true,
                WordKind::NoLast => settings.truncated == Truncated::Recover,
                WordKind::NoFirst | WordKind::Canonical => false,
            }
    }
}
