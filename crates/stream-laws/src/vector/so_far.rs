//! The value of JSON text that stops early.
//!
//! `{"a": [1, 2` is `{"a": [1, 2]}` so far, and `{"a": 1, "b` is `{"a": 1}`.

use crate::json::{self, JsonValue};

/// Returns the value of `text` once everything open is closed. A key without a value, an unfinished
/// literal and a cut escape are left out; no text at all is an empty object.
pub(super) fn value_so_far(text: &str) -> Option<JsonValue> {
    if text.trim().is_empty() {
        return json::parse("{}").ok();
    }
    let scan = Scan::of(text);
    // A cut escape goes first, of a surrogate pair both halves.
    let ends = core::iter::once(text.len()).chain(scan.escapes.iter().rev().copied());
    let whole = ends.take(3).find_map(|end| {
        let quote = if scan.in_string { "\"" } else { "" };
        json::parse(&closed(&text[..end], quote, &scan.open)).ok()
    });
    whole.or_else(|| {
        // The last member is not one yet.
        let (end, open) = scan.safe?;
        json::parse(&closed(&text[..end], "", &open)).ok()
    })
}

fn closed(text: &str, quote: &str, open: &[u8]) -> String {
    let closers = open.iter().rev().map(|&opener| if opener == b'{' { '}' } else { ']' });
    [text, quote].concat() + &closers.collect::<String>()
}

#[derive(Default)]
struct Scan {
    open: Vec<u8>,
    in_string: bool,
    /// Where the escapes of the open string begin.
    escapes: Vec<usize>,
    /// Where the text could end if what follows were dropped, and what is open there.
    safe: Option<(usize, Vec<u8>)>,
}

impl Scan {
    fn of(text: &str) -> Self {
        let mut scan = Self::default();
        let mut bytes = text.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' if scan.in_string => {
                    scan.escapes.push(at);
                    bytes.next();
                }
                b'"' => {
                    scan.in_string = !scan.in_string;
                    scan.escapes.clear();
                }
                _ if scan.in_string => {}
                b'{' | b'[' => {
                    scan.open.push(byte);
                    scan.safe = Some((at + 1, scan.open.clone()));
                }
                b'}' | b']' => {
                    scan.open.pop();
                }
                b',' => scan.safe = Some((at, scan.open.clone())),
                _ => {}
            }
        }
        scan
    }
}

/// Returns `text` without the whitespace outside of its strings.
pub(super) fn without_blanks(text: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    text.chars()
        .filter(|&scalar| {
            let blank = !in_string && matches!(scalar, ' ' | '\t' | '\n' | '\r');
            match scalar {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                _ => {}
            }
            !blank
        })
        .collect()
}
