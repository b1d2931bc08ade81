//! Decoding of UTF-8 that arrives in pieces.
//!
//! | bytes pushed | text | held |
//! |---|---|---|
//! | `C3` | | `C3`: the first byte of a scalar |
//! | `A9 FF` | `é�` | nothing: `FF` is invalid and was replaced |
//! | `E2 96`, then the end | `�` | nothing: the scalar was cut |

/// A decoder of UTF-8 that arrives in arbitrary pieces.
///
/// ```
/// use jail_match::Utf8;
/// let (mut utf8, mut text) = (Utf8::default(), String::new());
/// for piece in [&b"caf\xC3"[..], b"\xA9 \xFF!"] {
///     utf8.push(piece, |piece| text.push_str(piece));
/// }
/// utf8.finish(|piece| text.push_str(piece));
/// assert_eq!(text, "café \u{FFFD}!");
/// assert_eq!(utf8.replaced(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Utf8 {
    held: [u8; 4],
    len: usize,
    replaced: u64,
}

impl Utf8 {
    /// Feeds bytes. `on` receives the text of complete scalars.
    #[inline]
    pub fn push(&mut self, bytes: &[u8], mut on: impl FnMut(&str)) {
        if self.len > 0 {
            return self.push_cut(bytes, &mut on);
        }
        match core::str::from_utf8(bytes) {
            Ok("") => {}
            Ok(text) => on(text),
            Err(_) => self.push_cut(bytes, &mut on),
        }
    }

    /// Feeds bytes that begin or end inside a scalar, or contain invalid sequences.
    #[inline(never)]
    fn push_cut(&mut self, mut bytes: &[u8], on: &mut dyn FnMut(&str)) {
        while self.len > 0 && !bytes.is_empty() {
            self.held[self.len] = bytes[0];
            let held = self.held;
            match core::str::from_utf8(&held[..=self.len]) {
                Ok(text) => {
                    self.len = 0;
                    on(text);
                }
                Err(error) if error.error_len().is_none() => self.len += 1,
                Err(_) => {
                    // The held bytes are invalid; this byte begins another sequence.
                    self.replace(on);
                    continue;
                }
            }
            bytes = &bytes[1..];
        }
        loop {
            match core::str::from_utf8(bytes) {
                Ok("") => return,
                Ok(text) => return on(text),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    if let Ok(text) = core::str::from_utf8(valid)
                        && !text.is_empty()
                    {
                        on(text);
                    }
                    let Some(invalid) = error.error_len() else {
                        self.held[..rest.len()].copy_from_slice(rest);
                        self.len = rest.len();
                        return;
                    };
                    self.replace(on);
                    bytes = &rest[invalid..];
                }
            }
        }
    }

    /// Ends the input. An incomplete sequence is replaced.
    pub fn finish(&mut self, mut on: impl FnMut(&str)) {
        if self.len > 0 {
            self.replace(&mut on);
        }
    }

    /// Returns the number of bytes held: at most 3.
    #[must_use]
    pub fn held(&self) -> usize {
        self.len
    }

    /// Returns the number of invalid sequences that were replaced by U+FFFD.
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    fn replace(&mut self, on: &mut dyn FnMut(&str)) {
        self.len = 0;
        self.replaced = self.replaced.saturating_add(1);
        on("\u{FFFD}");
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use std::vec::Vec;

    use super::Utf8;

    fn decode(pieces: &[&[u8]]) -> (String, u64) {
        let (mut utf8, mut text) = (Utf8::default(), String::new());
        for piece in pieces {
            utf8.push(piece, |piece| text.push_str(piece));
        }
        utf8.finish(|piece| text.push_str(piece));
        (text, utf8.replaced())
    }

    #[test]
    fn utf8_decoding_equals_the_standard_library_at_every_cut() {
        let inputs: &[&[u8]] = &[
            "plain".as_bytes(),
            "é日本🎉".as_bytes(),
            b"\xF0\x9F\x8E",
            b"a\xF0\x9F\x8Eb",
            b"\xC3\xC3\xA9",
            b"\xE0\x80\x80x",
            b"\xED\xA0\x80",
            b"\xFF\xFE",
            b"\xF4\x90\x80\x80",
        ];
        for input in inputs {
            let whole = decode(&[input]);
            assert_eq!(whole.0, String::from_utf8_lossy(input), "{input:?}");
            for at in 0..=input.len() {
                assert_eq!(decode(&[&input[..at], &input[at..]]), whole, "{input:?} at {at}");
            }
            let bytes: Vec<&[u8]> = input.chunks(1).collect();
            assert_eq!(decode(&bytes), whole, "{input:?} by bytes");
        }
    }
}
