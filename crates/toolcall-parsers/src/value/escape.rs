//! Escaping of text for JSON strings, in few output fragments.

#![expect(
    clippy::indexing_slicing,
    reason = "tables have an entry for each byte or half of a byte; `from` and `len` are indexes of \
              the text or its length; `put` makes room first"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "all numbers are indexes of a text, or at most `COLLECTED_LEN`, which exceeds \
              `COLLECTED_PIECE_LEN`"
)]

/// Maximum length of a piece that is collected instead of emitted directly.
const COLLECTED_PIECE_LEN: usize = 64;
/// Maximum length of collected pieces. Text with many quotes and newlines then needs one fragment
/// per few hundred bytes, instead of one per escape.
const COLLECTED_LEN: usize = 512;
/// Length of a copy with a fixed size, which is one instruction. Most pieces of code between quotes
/// and newlines are shorter.
const COPY_LEN: usize = 16;

/// An output that joins short pieces. Long pieces are emitted directly.
pub(super) struct Batch<'o> {
    out: &'o mut dyn FnMut(&str),
    collected: [u8; COLLECTED_LEN],
    len: usize,
}

impl<'o> Batch<'o> {
    pub(super) fn new(out: &'o mut dyn FnMut(&str)) -> Self {
        Self { out, collected: [0; COLLECTED_LEN], len: 0 }
    }

    /// Emits or collects `piece`.
    pub(super) fn put(&mut self, piece: &str) {
        if piece.len() > COLLECTED_PIECE_LEN {
            self.flush();
            return (self.out)(piece);
        }
        if piece.len() > COLLECTED_LEN - self.len {
            self.flush();
        }
        self.collected[self.len..self.len + piece.len()].copy_from_slice(piece.as_bytes());
        self.len += piece.len();
    }

    /// Writes text as the inside of a JSON string.
    pub(super) fn put_escaped(&mut self, text: &str) {
        let mut from = 0;
        while from < text.len() {
            let rest = &text.as_bytes()[from..];
            let plain = plain_len(rest);
            if plain > COPY_LEN || !self.copy(rest, plain) {
                self.put(&text[from..from + plain]);
            }
            from += plain;
            if let Some(&byte) = text.as_bytes().get(from) {
                escape_byte(byte, &mut |piece| self.put(piece));
                from += 1;
            }
        }
    }

    /// Collects `len` bytes, at most [`COPY_LEN`], with a copy of fixed length. Returns `false` if
    /// there are too few bytes or too little room for that copy.
    fn copy(&mut self, bytes: &[u8], len: usize) -> bool {
        let room = self.collected.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut);
        let (Some(room), Some(bytes)) = (room, bytes.first_chunk::<COPY_LEN>()) else {
            return false;
        };
        *room = *bytes;
        self.len += len;
        true
    }

    /// Emits the collected text. Must be called before the value is dropped.
    pub(super) fn flush(&mut self) {
        if let (1.., Ok(piece)) = (self.len, core::str::from_utf8(&self.collected[..self.len])) {
            (self.out)(piece);
        }
        self.len = 0;
    }
}

/// Writes `text` as the inside of a JSON string, without quotes. Text that needs no escape is
/// passed as one slice.
pub(crate) fn escape(text: &str, mut out: impl FnMut(&str)) {
    if is_plain(text) {
        if !text.is_empty() {
            out(text);
        }
        return;
    }
    let mut batch = Batch::new(&mut out);
    batch.put_escaped(text);
    batch.flush();
}

/// Writes the escape of a quote, a backslash or a control character.
pub(super) fn escape_byte(byte: u8, out: &mut impl FnMut(&str)) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0C => "\\f",
        _ => {
            let code =
                [b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            return out(core::str::from_utf8(&code).unwrap_or(""));
        }
    });
}

/// For each byte, whether it is unchanged inside a JSON string.
static PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        plain[byte] = false;
        byte += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// Returns whether `text` is unchanged inside a JSON string.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        // A short text, such as a token: the loop over words would not pay.
        [_, _, _, _, _, _, _, _, ..] => plain_len(bytes) == bytes.len(),
        few => few.iter().all(|&b| PLAIN[usize::from(b)]),
    }
}

/// Returns whether `text` is long and not plain at its end. There the end of a string often is, so
/// that the text need not be searched for it in vain.
#[inline]
pub(crate) fn is_long_and_ends(text: &str) -> bool {
    const LONG: usize = 256;
    const TAIL: usize = 32;
    let tail = text.as_bytes().last_chunk::<TAIL>().filter(|_| text.len() > LONG);
    tail.is_some_and(|tail| tail.iter().any(|&b| !PLAIN[usize::from(b)]))
}

/// Returns the number of bytes at the start that are unchanged inside a JSON string.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    const WORD_BYTES: usize = 32;
    const BLOCK: usize = 64;
    let (mut base, mut rest) = (0, bytes);
    loop {
        // In text with many escapes the next one is near, so begin with single words.
        let words = base + WORD_BYTES;
        while base < words {
            let Some((word, following)) = rest.split_first_chunk() else {
                return base + rest.iter().take_while(|&&b| PLAIN[usize::from(b)]).count();
            };
            let stops = stops(u64::from_le_bytes(*word));
            if stops != 0 {
                return base + stops.trailing_zeros() as usize / 8;
            }
            (base, rest) = (base + word.len(), following);
        }
        while let Some((block, following)) = rest.split_first_chunk::<BLOCK>() {
            if has_stop(block) {
                break;
            }
            (base, rest) = (base + BLOCK, following);
        }
    }
}

/// Returns whether a byte of the block needs an escape. Comparing all bytes lets the compiler use
/// vector instructions.
fn has_stop(block: &[u8; 64]) -> bool {
    let stop = |b: u8| u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\');
    block.iter().fold(0, |any, &b| any | stop(b)) != 0
}

/// Returns a mask of the bytes of `word` that need an escape. Only the lowest bit that is set is
/// reliable.
#[inline]
fn stops(word: u64) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = EACH << 7;
    // Sets the high bit of each byte less than `than`. Bytes after the first such byte may be
    // wrong.
    let less = |word: u64, than: u8| word.wrapping_sub(EACH * u64::from(than)) & !word & HIGH;
    let is = |byte: u8| less(word ^ (EACH * u64::from(byte)), 1);
    less(word, 0x20) | is(b'"') | is(b'\\')
}

/// Returns the number of bytes at the start of a JSON string's inside that are plain text or
/// escapes of one letter.
#[inline]
pub(super) fn escaped_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    loop {
        len += plain_len(&bytes[len..]);
        match bytes[len..] {
            [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => len += 2,
            _ => return len,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::{PLAIN, escape, escaped_len, plain_len};

    #[test]
    fn first_byte_to_escape_is_found_at_every_offset() {
        for byte in 0..=255 {
            for at in 0..200 {
                let mut text = Vec::from([b'a'; 200]);
                // All later bytes are also of this kind.
                text[at..].fill(byte);
                assert_eq!(plain_len(&text), if PLAIN[usize::from(byte)] { 200 } else { at });
                text[at..].fill(byte ^ 1);
                text[at] = byte;
                assert_eq!(plain_len(&text) > at, PLAIN[usize::from(byte)], "{byte} at {at}");
            }
        }
    }

    #[test]
    fn single_letter_escapes_are_copied_unchanged() {
        assert_eq!(escaped_len(br#"a\n\\\"b"c"#), 8);
        assert_eq!(escaped_len(br"a\u0041"), 1);
        assert_eq!(escaped_len(br"a\"), 1);
        assert_eq!(escaped_len(b"a\nb"), 1);
    }

    #[test]
    fn escaped_text_is_exact_for_pieces_of_every_length() {
        for len in 0..70 {
            let piece: String = ('a'..='z').cycle().take(len).chain(['é', '"']).collect();
            let (text, mut escaped) = (piece.repeat(40), String::new());
            escape(&text, |piece| escaped.push_str(piece));
            assert_eq!(escaped, text.replace('"', "\\\""), "{len}");
        }
    }
}
