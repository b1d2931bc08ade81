//! Writing text as the inside of a JSON string, in few pieces.

/// Pieces up to this long are gathered rather than handed out by themselves.
const SHORT: usize = 64;
/// Bytes that are gathered before they are handed out: text full of quotes and newlines then
/// takes a fragment for some hundred bytes, not one for each of them.
const ROOM: usize = 512;

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
        each_piece(text, |piece| self.put(piece));
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

fn each_piece(text: &str, mut out: impl FnMut(&str)) {
    let mut from = 0;
    while from < text.len() {
        let plain = plain_len(&text.as_bytes()[from..]);
        if plain > 0 {
            out(&text[from..from + plain]);
        }
        from += plain;
        if let Some(&byte) = text.as_bytes().get(from) {
            escape_byte(byte, &mut out);
            from += 1;
        }
    }
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
    plain_len(text.as_bytes()) == text.len()
}

/// Bytes at the head of a string's inside that are the same in JSON.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    const FEW: usize = 32;
    const BLOCK: usize = 256;
    // The next stop is near in text that is full of them.
    let head = &bytes[..bytes.len().min(FEW)];
    if let Some(stop) = head.iter().position(|&b| !PLAIN[usize::from(b)]) {
        return stop;
    }
    // Block by block, so that a text full of stops is not searched to its end for each.
    let mut base = head.len();
    for block in bytes[base..].chunks(BLOCK) {
        let end = memchr::memchr2(b'"', b'\\', block).unwrap_or(block.len());
        // Control characters are rare: one pass that the compiler can vectorise.
        if block[..end].iter().fold(false, |any, &b| any | (b < 0x20)) {
            return base + block[..end].iter().position(|&b| b < 0x20).unwrap_or(end);
        }
        if end < block.len() {
            return base + end;
        }
        base += block.len();
    }
    base
}
