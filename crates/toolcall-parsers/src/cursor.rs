//! Reading at a position of a text that may be cut: literals, alternatives, white space.
//!
//! Where the text is too short to decide, the functions return [`Undecided`]. The reader then
//! leaves the cursor before the undecided text, which is offered again with more text after it:
//!
//! ```text
//! longest_prefix("</to", ["</tool>", "</turn>"])      Err(Undecided)
//! longest_prefix("</tool>", ["</tool>", "</turn>"])   Ok(Some(0))
//! longest_prefix("text", ["</tool>", "</turn>"])      Ok(None)
//! ```

use crate::limits::MAX_BLANKS;

/// The result of comparing a literal with the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// The text begins with the literal.
    Match,
    /// The text cannot begin with the literal.
    Mismatch,
    /// The text ends inside the literal.
    Partial,
}

/// The text is too short to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided;

/// Returns the first result that was found. If none was, but one was undecided, returns
/// [`Undecided`].
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

/// Returns the result of `look` in the first `most` bytes of `text`, rounded up to a whole
/// character. If `text` is longer, an undecided result is `false`, so that the limit does not
/// depend on chunks.
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

/// Returns `most`, rounded down to a character boundary, or `None` if `text` is shorter.
pub(crate) fn filled(text: &str, most: usize) -> Option<usize> {
    let boundary = || (0..=most).rev().find(|&at| text.is_char_boundary(at));
    if text.len() < most { None } else { boundary() }
}

/// The progress of a reader. The position is in the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The reader needs more text; the text after the cursor is offered again.
    More,
    /// The reader is finished.
    Done,
    /// The character after the cursor is not allowed there.
    Bad,
}

/// A position in the text that is being fed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextCursor<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
}

impl<'t> TextCursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the text after the cursor.
    #[inline]
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Returns the next byte.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves forward by `len` bytes.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        debug_assert!(self.text.is_char_boundary(self.at + len), "{} and {len}", self.at);
        self.at += len;
    }

    /// Moves back by `len` bytes.
    #[inline]
    pub(crate) fn back(&mut self, len: usize) {
        debug_assert!(len <= self.at, "{len} back from {}", self.at);
        self.at -= len;
    }

    /// Moves forward by one character, if there is one.
    pub(crate) fn skip_char(&mut self) {
        self.advance(self.rest().chars().next().map_or(0, char::len_utf8));
    }

    /// Skips ASCII whitespace and returns its length.
    pub(crate) fn skip_blanks(&mut self) -> usize {
        let blanks = blanks(self.rest());
        self.advance(blanks);
        blanks
    }
}

/// Compares the start of `text` with `literal`.
#[inline]
pub(crate) fn match_prefix(text: &str, literal: &str) -> Prefix {
    let (text, literal) = (text.as_bytes(), literal.as_bytes());
    let n = text.len().min(literal.len());
    // Comparing the first byte is cheaper than the call that compares both texts.
    if n > 0 && text[0] != literal[0] || text[..n] != literal[..n] {
        Prefix::Mismatch
    } else if n == literal.len() {
        Prefix::Match
    } else {
        Prefix::Partial
    }
}

/// Returns the index of the longest of `literals` that `text` begins with. Undecided while a longer
/// one may follow.
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
            // The text ends inside this literal, so it is longer than every match.
            Prefix::Partial => partial = true,
            Prefix::Match | Prefix::Mismatch => {}
        }
    }
    if partial { Err(Undecided) } else { Ok(best.map(|(i, _)| i)) }
}

/// Returns the length of the ASCII whitespace at the start of `text`.
#[inline]
pub(crate) fn blanks(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_whitespace).count()
}

/// Returns the length of the ASCII whitespace at the start of `text`, up to one byte more than
/// [`MAX_BLANKS`]. Reading a long run to its end would take quadratic time if it is offered again at
/// each byte.
#[inline]
pub(crate) fn few_blanks(text: &str) -> usize {
    text.bytes().take(MAX_BLANKS.saturating_add(1)).take_while(u8::is_ascii_whitespace).count()
}

/// Returns `text` after its leading ASCII whitespace, or `None` if that exceeds [`MAX_BLANKS`].
pub(crate) fn after_blanks(text: &str) -> Option<&str> {
    let blank = few_blanks(text);
    if blank > MAX_BLANKS { None } else { text.get(blank..) }
}
