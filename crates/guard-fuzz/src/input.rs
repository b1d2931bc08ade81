//! The reading of bytes as options and text, so that a changed byte changes one decision.
//!
//! The first bytes are options, with one byte for each decision. Zero or a missing byte is the
//! default. The text after them can grow and shrink without changing their meaning.
//!
//! In the text, a byte below 0x80 is itself, and any other byte selects a piece such as a marker. A
//! few hundred bytes are then text of realistic length, and a mutation inserts whole markers.

use arbitrary::Unstructured;
use stream_laws::CutPlan;

/// The maximum length of the text made of an input. Pieces are longer than the bytes that select
/// them.
const MAX_TEXT_BYTES: usize = 6 * 1024;

/// The bytes that select pieces.
pub(crate) const PIECES: usize = 0x80;

/// The bytes of an input, as a target reads them.
pub(crate) struct Input<'a> {
    options: Unstructured<'a>,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Reads the first `options` bytes as options, and the others as text.
    pub(crate) fn new(data: &'a [u8], options: usize) -> Self {
        let (head, rest) = data.split_at(options.min(data.len()));
        Self { options: Unstructured::new(head), rest }
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.options.arbitrary().unwrap_or_default()
    }

    /// Returns a number below `bound`, which is at most 256.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    /// Returns `true` for one byte value in `share`, and never for zero.
    pub(crate) fn one_in(&mut self, share: u8) -> bool {
        self.byte() % share == 1 % share
    }

    pub(crate) fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// Returns a few cuts, those of random lengths by a seed of the input.
    pub(crate) fn cuts(&mut self) -> CutPlan {
        let seed = u64::from(self.byte());
        CutPlan { two_way_up_to: 32, three_way_up_to: 0, random: 3, seed }
    }

    /// Returns the bytes after the options.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the text, in which each byte of 0x80 or above is replaced by one of `pieces`.
    pub(crate) fn text<S: AsRef<str>>(&self, pieces: &[S]) -> String {
        let mut text = String::new();
        for &byte in self.rest {
            if text.len() > MAX_TEXT_BYTES {
                break;
            }
            match pieces.len() {
                0 => text.push(char::from(byte)),
                _ if byte.is_ascii() => text.push(char::from(byte)),
                many => text.push_str(pieces[(usize::from(byte) - PIECES) % many].as_ref()),
            }
        }
        text
    }
}

/// Returns bytes that [`Input::text`] reads as `text`, or as a similar text if pieces are missing.
pub(crate) fn spelled<S: AsRef<str>>(text: &str, pieces: &[S]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    let few = &pieces[..pieces.len().min(PIECES)];
    while let Some(scalar) = rest.chars().next() {
        let fits = |piece: &&(usize, &str)| piece.1.len() > 1 && rest.starts_with(piece.1);
        let listed: Vec<_> = few.iter().map(AsRef::as_ref).enumerate().collect();
        let len = match listed.iter().filter(fits).max_by_key(|piece| piece.1.len()) {
            Some((at, piece)) => {
                bytes.push((PIECES + at) as u8);
                piece.len()
            }
            None => {
                bytes.push(if scalar.is_ascii() { scalar as u8 } else { b'?' });
                scalar.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    bytes
}

/// Returns each of `words` once: whole, without its end, and without its beginning.
pub(crate) fn halved(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in words {
        let middle = word.chars().count() / 2;
        let head: String = word.chars().take(middle).collect();
        let tail: String = word.chars().skip(middle).collect();
        for piece in [word, head, tail] {
            if !piece.is_empty() && !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Input, halved, spelled};

    #[test]
    fn spelled_input_decodes_to_its_options_and_text() {
        let pieces = ["<tool_call>", "é", "</tool_call>"];
        let text = "a <tool_call>{}é</tool_call>\n";
        let data = [&[7, 0][..], &spelled(text, &pieces)].concat();
        let mut input = Input::new(&data, 2);
        assert_eq!((input.byte(), input.byte(), input.byte()), (7, 0, 0));
        assert_eq!(input.text(&pieces), text);
        assert_eq!(data.len(), 2 + "a ".len() + 1 + "{}".len() + 2 + 1);
    }

    #[test]
    fn dictionary_contains_words_and_their_halves_once() {
        let words = ["<ab>".to_owned(), "<a".to_owned()];
        assert_eq!(halved(words), ["<ab>", "<a", "b>", "<", "a"]);
    }
}
