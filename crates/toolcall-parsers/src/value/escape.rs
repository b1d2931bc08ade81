//! Writing text as the inside of a JSON string, in few pieces.

#![expect(
    clippy::indexing_slicing,
    reason = "tables have an entry for each byte, or each half of one; `from` and `len` are \
              places in the text or its end; `put` makes room before it gathers"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in a text in memory; what is gathered is at most `ROOM`, and a piece that is \
              gathered at most `SHORT`, which is less"
)]

/// Pieces up to this long are gathered rather than handed out by themselves.
const SHORT: usize = 64;
/// Bytes that are gathered before they are handed out: text full of quotes and newlines then
/// takes a fragment for some hundred bytes, not one for each of them.
const ROOM: usize = 512;
/// Bytes that one register copies: most pieces of code between quotes and newlines fit.
const COPIED: usize = 16;

/// Gathers short pieces of output; long ones pass as they are.
pub(super) struct Batch<'o> {
    out: &'o mut dyn FnMut(&str),
    gathered: [u8; ROOM],
    len: usize,
}

impl<'o> Batch<'o> {
    pub(super) fn new(out: &'o mut dyn FnMut(&str)) -> Self {
        Self { out, gathered: [0; ROOM], len: 0 }
    }

    pub(super) fn put(&mut self, piece: &str) {
        if piece.len() > SHORT {
            self.flush();
            return (self.out)(piece);
        }
        if piece.len() > ROOM - self.len {
            self.flush();
        }
        self.gathered[self.len..self.len + piece.len()].copy_from_slice(piece.as_bytes());
        self.len += piece.len();
    }

    /// Writes text of a JSON string.
    pub(super) fn put_escaped(&mut self, text: &str) {
        let mut from = 0;
        while from < text.len() {
            let rest = &text.as_bytes()[from..];
            let plain = plain_len(rest);
            if plain > COPIED || !self.copy(rest, plain) {
                self.put(&text[from..from + plain]);
            }
            from += plain;
            if let Some(&byte) = text.as_bytes().get(from) {
                escape_byte(byte, &mut |piece| self.put(piece));
                from += 1;
            }
        }
    }

    /// Gathers `len` bytes, at most [`COPIED`], by a copy whose length the compiler knows; not where
    /// there are fewer bytes, or less room, than that copy takes.
    fn copy(&mut self, bytes: &[u8], len: usize) -> bool {
        let room = self.gathered.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut);
        let (Some(room), Some(bytes)) = (room, bytes.first_chunk::<COPIED>()) else { return false };
        *room = *bytes;
        self.len += len;
        true
    }

    /// Hands out what was gathered; must be called before the value is dropped.
    pub(super) fn flush(&mut self) {
        if let (1.., Ok(piece)) = (self.len, core::str::from_utf8(&self.gathered[..self.len])) {
            (self.out)(piece);
        }
        self.len = 0;
    }
}

/// Calls `out` with pieces that together are `text` as the inside of a JSON string, quotes not
/// included. Text that needs no escape comes as one slice.
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

/// Whether a byte passes as it is inside a string.
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

/// Whether `text` passes inside a string as it is.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        // A token: shorter than what is looked at together.
        [_, _, _, _, _, _, _, _, ..] => plain_len(bytes) == bytes.len(),
        few => few.iter().all(|&b| PLAIN[usize::from(b)]),
    }
}

/// Bytes at the head of a string's inside that are the same in JSON.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    const FEW: usize = 32;
    const BLOCK: usize = 64;
    let (mut base, mut rest) = (0, bytes);
    loop {
        // The next stop is near in text that is full of them.
        let words = base + FEW;
        while base < words {
            let Some((word, behind)) = rest.split_first_chunk() else {
                return base + rest.iter().take_while(|&&b| PLAIN[usize::from(b)]).count();
            };
            let stops = stops(u64::from_le_bytes(*word));
            if stops != 0 {
                return base + stops.trailing_zeros() as usize / 8;
            }
            (base, rest) = (base + word.len(), behind);
        }
        while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
            if has_stop(block) {
                break;
            }
            (base, rest) = (base + BLOCK, behind);
        }
    }
}

/// Whether some byte does not pass: all are compared, which takes registers full at a time.
fn has_stop(block: &[u8; 64]) -> bool {
    let stop = |b: u8| u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\');
    block.iter().fold(0, |any, &b| any | stop(b)) != 0
}

/// The bytes of `word` that do not pass: the lowest bit that is set is in the first of them.
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

/// Returns the number of bytes at the start of a JSON string's inside that are valid JSON
/// unchanged: plain text and escapes of one letter.
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
                // Bytes after the text do not matter.
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
