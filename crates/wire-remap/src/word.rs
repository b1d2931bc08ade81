//! The words of a pair: its markers, and the forms derived from them.

use alloc::{string::String, vec, vec::Vec};

use crate::{
    error::{Problem, TableError},
    pair::{Mode, Pair, Settings, Truncated},
    spelling,
};

/// Where a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    Canonical,
    /// The wire marker as declared (nonce included).
    Wire,
    /// A garbled spelling of the wire marker.
    Garbled,
    /// The wire marker without its last character.
    NoLast,
    /// The wire marker without its first character.
    NoFirst,
}

#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// The pair it belongs to.
    pub(crate) entry: usize,
    pub(crate) kind: WordKind,
    pub(crate) text: String,
    /// Where escapes are inserted.
    pub(crate) point: usize,
    /// The word with one escape: its literal form on the wire.
    pub(crate) literal: String,
    /// Two escapes and the rest of the word: what replaces the rest when one more level is due.
    pub(crate) deeper: String,
}

impl Word {
    /// What follows the escapes.
    pub(crate) fn rest(&self) -> &str {
        &self.text[self.point..]
    }

    pub(crate) fn is_truncated(&self) -> bool {
        matches!(self.kind, WordKind::NoLast | WordKind::NoFirst)
    }
}

/// All words of one pair.
pub(crate) fn words_of(
    entry: usize,
    pair: &Pair,
    settings: &Settings,
) -> Result<Vec<Word>, TableError> {
    let fail = |marker: &str, problem| Err(TableError { entry, marker: marker.into(), problem });
    for marker in [&pair.canonical, &pair.wire] {
        if marker.is_empty() {
            return fail(marker, Problem::Empty);
        }
    }
    if settings.mode == Mode::Exact && spelling::escape_point(&pair.wire).is_none() {
        return fail(&pair.wire, Problem::TooShort);
    }
    let word = |kind, text: &str| {
        let point = spelling::escape_point(text).unwrap_or(0);
        Word {
            entry,
            kind,
            point,
            literal: spelling::escaped(text, point, settings.escape, 1),
            deeper: spelling::escaped(&text[point..], 0, settings.escape, 2),
            text: text.into(),
        }
    };
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
    Ok(words)
}

/// Whether decoding may put something else in this word's place, so that its literal occurrences
/// need an escape.
pub(crate) fn is_escapable(kind: WordKind, settings: &Settings) -> bool {
    match kind {
        WordKind::Wire | WordKind::Garbled => true,
        WordKind::NoLast => settings.truncated == Truncated::Recover,
        WordKind::NoFirst | WordKind::Canonical => false,
    }
}
