//! Reading of text that may end too early: literals, alternatives, white space.
//!
//! Only this module returns "undecided": text that a reader leaves after the cursor is offered to
//! it again with more text.

use crate::limits::MAX_BLANKS;

/// The result of comparing a literal with the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// The text begins with the literal.
    Match,
    /// The text cannot begin with the literal.
    Mismatch,
    /// The text ends inside it.
    Partial,
}

/// More text is needed to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided;

/// The first of what is looked for that is there; undecided if none is, and one may yet be.
pub(crate) fn first_found<T>(
    looks: impl IntoIterator<Item = Result<Option<T>, Undecided>>,
) -> Result<Option<T>, Undecided> {
    let mut none = Ok(None);
    for look in looks {
        match look {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(Undecided) => none = Err(Undecided),
        }
    }
    none
}

/// Returns the result of `look` in the first `most` bytes of `text`, extended to the end of the
/// scalar there, so that the limit does not depend on chunks. An undecided result within these
/// bytes is a miss.
pub(crate) fn within(
    most: usize,
    text: &str,
    look: impl FnOnce(&str) -> Result<bool, Undecided>,
) -> Result<bool, Undecided> {
    match (most..text.len()).find(|&at| text.is_char_boundary(at)) {
        Some(end) => Ok(look(&text[..end]).unwrap_or(false)),
        None => look(text),
    }
}

/// Where the first `most` bytes of `text` end, less a part of a scalar; none if there are fewer.
pub(crate) fn filled(text: &str, most: usize) -> Option<usize> {
    let boundary = || (0..=most).rev().find(|&at| text.is_char_boundary(at));
    if text.len() < most { None } else { boundary() }
}

/// The progress of a reader. The cursor has the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The reader needs more text; the text after the cursor is offered again.
    More,
    /// The reader is finished.
    Done,
    /// The scalar after the cursor is not allowed there.
    Bad,
}

/// A place in the text that is being fed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The text from here on.
    #[inline]
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Returns the next byte.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves over `len` bytes of what was found here.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        debug_assert!(self.text.is_char_boundary(self.at + len), "{} and {len}", self.at);
        self.at += len;
    }

    /// Moves back over `len` bytes that were just read.
    #[inline]
    pub(crate) fn back(&mut self, len: usize) {
        debug_assert!(len <= self.at, "{len} back from {}", self.at);
        self.at -= len;
    }

    /// Moves over the next character, if there is one.
    pub(crate) fn skip_char(&mut self) {
        self.advance(self.rest().chars().next().map_or(0, char::len_utf8));
    }

    /// Skips ASCII whitespace; how much there was.
    pub(crate) fn skip_blanks(&mut self) -> usize {
        let blanks = blanks(self.rest());
        self.advance(blanks);
        blanks
    }
}

/// Whether `text` begins with `literal`.
#[inline]
pub(crate) fn match_prefix(text: &str, literal: &str) -> Prefix {
    let (text, literal) = (text.as_bytes(), literal.as_bytes());
    let n = text.len().min(literal.len());
    // Most differ in their first byte, which costs less to see than a call to compare them.
    if n > 0 && text[0] != literal[0] || text[..n] != literal[..n] {
        Prefix::Mismatch
    } else if n == literal.len() {
        Prefix::Match
    } else {
        Prefix::Partial
    }
}

/// The longest of `literals` at the head of `text`: its position in the list, unless a longer one
/// may still come.
pub(crate) fn longest_prefix<'a>(
    text: &str,
    literals: impl IntoIterator<Item = &'a str>,
) -> Result<Option<usize>, Undecided> {
    let mut best: Option<(usize, usize)> = None;
    let mut partial = false;
    for (i, literal) in literals.into_iter().enumerate() {
        match match_prefix(text, literal) {
            Prefix::Match if best.is_none_or(|(_, len)| literal.len() > len) => {
                best = Some((i, literal.len()));
            }
            // Longer than any that is whole already, since the text ends inside it.
            Prefix::Partial => partial = true,
            Prefix::Match | Prefix::Mismatch => {}
        }
    }
    if partial { Err(Undecided) } else { Ok(best.map(|(i, _)| i)) }
}

/// Bytes of ASCII whitespace at the head of `text`.
#[inline]
pub(crate) fn blanks(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_whitespace).count()
}

/// Bytes of ASCII whitespace at the head of `text`, counted up to [`MAX_BLANKS`] and one more. Where
/// more of them decide, the rest of a long run is not looked at: it would be again from its next byte.
#[inline]
pub(crate) fn few_blanks(text: &str) -> usize {
    text.bytes().take(MAX_BLANKS.saturating_add(1)).take_while(u8::is_ascii_whitespace).count()
}

/// Returns `text` without the ASCII whitespace at its head, or `None` if that is longer than
/// [`MAX_BLANKS`].
pub(crate) fn after_blanks(text: &str) -> Option<&str> {
    let blank = few_blanks(text);
    if blank > MAX_BLANKS { None } else { text.get(blank..) }
}
