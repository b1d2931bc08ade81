//! The text before the cursor. It shows whether a marker is quoted, or is part of a word.
//!
//! ```text
//! Yes.<|start|>assistant<|message|>       `<|start|>` follows text: a marker
//! Write `<|start|>assistant<|message|>`   `<|start|>` follows an opening quotation mark: text
//! potato=s or to=s                        `to=` begins a word: a marker
//! ```

use crate::table::FirstBytes;

/// The last characters since markup, and the quotes they are in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preceding {
    /// The last eight bytes, which hold at least two characters. [`NOTHING`] comes first if there
    /// are fewer.
    last: [u8; 8],
    /// The closing mark of the quotes that the text is in, its last byte last; zeros if it is in
    /// none.
    closing: [u8; 3],
}

/// A byte that text does not contain.
const NOTHING: u8 = 0xff;

impl Default for Preceding {
    fn default() -> Self {
        Self { last: [NOTHING; 8], closing: [0; 3] }
    }
}

/// Returns the bytes of `few`, at most seven, as one number. A loop over them would cost more than the
/// search for markers in a text that short.
#[inline]
fn joined(few: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (few.first_chunk(), few.last_chunk()) {
        let first = u64::from(u32::from_be_bytes(*first)) << (8 * (few.len() - 4));
        return first | u64::from(u32::from_be_bytes(*last));
    }
    few.iter().fold(0, |all, &byte| all << 8 | u64::from(byte))
}

/// Marks that open quotes, and the mark that closes each.
const QUOTES: [(char, char); 7] =
    [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('„', '“'), ('«', '»')];

impl Preceding {
    /// Adds the text that follows, which may be cut inside a character.
    ///
    /// Quotes count only if they begin with a byte that may begin a marker. They end at the closing
    /// mark or with the line.
    #[inline]
    pub(super) fn advance(&mut self, text: &[u8], begins_marker: &FirstBytes) {
        let none = !text.iter().any(|&byte| begins_marker.has(byte));
        self.pass(text, begins_marker, none);
    }

    /// Adds the text that follows, as [`Preceding::advance`] does. `none` states that no byte of it may
    /// begin a marker.
    #[inline]
    pub(super) fn pass(&mut self, text: &[u8], begins_marker: &FirstBytes, none: bool) {
        if none && self.closing == [0; 3] {
            self.push(text);
        } else {
            self.advance_quotes(text, begins_marker);
        }
    }

    /// Adds text that is in quotes, or may have some.
    fn advance_quotes(&mut self, text: &[u8], begins_marker: &FirstBytes) {
        let mut rest = text;
        while !rest.is_empty() {
            let next = match self.closing {
                [0, 0, 0] => rest.iter().position(|&byte| begins_marker.has(byte)),
                _ => Some(0),
            };
            let Some((&byte, after)) = next.and_then(|at| {
                let (before, from) = rest.split_at_checked(at)?;
                self.push(before);
                from.split_first()
            }) else {
                return self.push(rest);
            };
            let opened = if self.closing == [0; 3] { self.opened() } else { None };
            self.push(&[byte]);
            if let Some(closing) = opened {
                self.closing = closing;
            } else if byte == b'\n' || self.closes() {
                self.closing = [0; 3];
            }
            rest = after;
        }
    }

    fn push(&mut self, text: &[u8]) {
        self.last = match text {
            [.., _, _, _, _, _, _, _, _] => *text.last_chunk().unwrap_or(&self.last),
            few => (u64::from_be_bytes(self.last) << (8 * few.len()) | joined(few)).to_be_bytes(),
        };
    }

    /// Returns whether `marker` may act here: outside of quotes, and not inside a word.
    /// `after_markup` states that only whitespace came since markup.
    pub(super) fn admits(self, marker: &str, after_markup: bool) -> bool {
        let in_word = || !after_markup && self.last_two()[0].is_some_and(|it| !it.is_whitespace());
        !(self.is_quoted() || marker.starts_with(char::is_alphanumeric) && in_word())
    }

    /// Returns whether a marker here is in quotes.
    pub(super) fn is_quoted(self) -> bool {
        self.closing != [0; 3] || self.opened().is_some()
    }

    /// Returns the bytes of the mark that closes the quotes, if the last character opens some.
    fn opened(self) -> Option<[u8; 3]> {
        let [last, before] = self.last_two();
        let (open, close) = QUOTES.into_iter().find(|(open, _)| last == Some(*open))?;
        let begins = |before: char| before.is_whitespace() || matches!(before, '(' | '[' | '{');
        // An apostrophe after a letter opens no quotes: a mark without a direction must follow a
        // blank
        // or a bracket.
        if open == close && !before.is_none_or(begins) {
            return None;
        }
        let (mut closing, mut buffer) = ([0; 3], [0; 4]);
        let bytes = close.encode_utf8(&mut buffer).bytes();
        closing.iter_mut().rev().zip(bytes.rev()).for_each(|(to, byte)| *to = byte);
        Some(closing)
    }

    /// Returns whether the quotes end with the last byte.
    fn closes(self) -> bool {
        let ends = self.last.iter().rev().zip(self.closing.iter().rev());
        ends.take_while(|(_, byte)| **byte != 0).all(|(last, byte)| last == byte)
    }

    /// Returns the last two characters, the last one first.
    fn last_two(self) -> [Option<char>; 2] {
        // The eight bytes may begin inside a character.
        let whole = (0..self.last.len()).find_map(|at| {
            let bytes = self.last.get(at..)?;
            core::str::from_utf8(bytes).ok()
        });
        let mut back = whole.unwrap_or_default().chars().rev();
        [back.next(), back.next()]
    }
}
