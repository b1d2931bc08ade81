//! The prefix letters of Python strings, and adjacent strings.
//!
//! ```text
//! r'\d'         raw
//! 'a' f'b'      one string: `f'b'` continues `'a'`
//! ```

/// The prefix letters before a string's quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct StringPrefix {
    pub(super) raw: bool,
    pub(super) format: bool,
    pub(super) bytes: bool,
}

impl StringPrefix {
    /// The maximum number of letters.
    const MAX_LETTERS: usize = 2;

    /// Returns the prefix that `letters` spell, if they are one.
    pub(super) fn parse(letters: &str) -> Option<Self> {
        let mut prefix = Self::default();
        for byte in letters.bytes() {
            let flag = match byte {
                b'r' | b'R' => &mut prefix.raw,
                b'f' | b'F' => &mut prefix.format,
                b'b' | b'B' => &mut prefix.bytes,
                b'u' | b'U' if letters.len() == 1 => return Some(prefix),
                _ => return None,
            };
            if core::mem::replace(flag, true) {
                return None;
            }
        }
        (!(prefix.format && prefix.bytes)).then_some(prefix)
    }
}

/// The text after a string.
pub(super) enum Continued {
    No,
    /// Another string: its prefix, the length of the prefix, and its quote.
    By(StringPrefix, usize, u8),
}

/// Returns whether `text` begins with another string, or `None` if undecided.
pub(super) fn continues(text: &str) -> Option<Continued> {
    let letters = |b: &u8| b.is_ascii_alphabetic();
    let len = text.bytes().take(StringPrefix::MAX_LETTERS + 1).take_while(letters).count();
    match (text.as_bytes().get(len), StringPrefix::parse(&text[..len])) {
        (None, Some(_)) => None,
        (Some(&quote @ (b'\'' | b'"')), Some(prefix)) => Some(Continued::By(prefix, len, quote)),
        _ => Some(Continued::No),
    }
}
