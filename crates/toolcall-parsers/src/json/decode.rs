//! Decoding the inside of a JSON string, incrementally.

use super::scan::{EscapeFault, decode_escape};

/// Where a decoding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// The string goes on; `used` bytes are done with, the rest is an unfinished escape.
    More { used: usize },
    /// The closing quote was the last of `used` bytes.
    End { used: usize },
    /// The escape at `at` is none.
    Bad { at: usize },
}

/// Decodes `text`, the inside of a string up to its closing quote, into `out`. Raw control
/// characters pass. `out` also gets the index at which the piece stands in `text`. Stateless: what is left over comes again with more behind it.
pub(crate) fn decode(text: &str, mut out: impl FnMut(&str, usize)) -> Decoded {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let stop = memchr::memchr2(b'"', b'\\', &bytes[from..]).map(|at| from + at);
        let end = stop.unwrap_or(bytes.len());
        if end > from {
            out(&text[from..end], from);
        }
        match stop {
            None => return Decoded::More { used: end },
            Some(at) if bytes[at] == b'"' => return Decoded::End { used: at + 1 },
            Some(at) => match decode_escape(&bytes[at..]) {
                Ok((scalar, len)) => {
                    out(scalar.encode_utf8(&mut [0; 4]), at);
                    from = at + len;
                }
                Err(EscapeFault::Cut) => return Decoded::More { used: at },
                Err(EscapeFault::Bad) => return Decoded::Bad { at },
            },
        }
    }
}
