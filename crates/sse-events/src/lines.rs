//! Line ends: LF, CR or CRLF, found in the same way at every cut.
//!
//! A CR at the end of a chunk may be the first half of a CRLF:
//!
//! ```text
//! chunk           line            state after it
//! "data: a\r"     none yet        undecided
//! "\n"            "data: a"       pairs
//! "data: b\rx"    "data: b"       lone: a CR ends its line at once
//! ```

use memchr::memchr2;

/// A line and its end, as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    /// Index after the last byte of the line.
    pub(crate) end: usize,
    /// Index after the line end.
    pub(crate) next: usize,
}

/// A line whose end was not found yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OpenLine {
    /// Index of the first byte.
    pub(crate) start: usize,
    /// Index before which the line does not end.
    pub(crate) seen: usize,
}

/// The kind of line ends of a stream, once it is known.
///
/// A CR may be the first half of a CRLF, so its line is complete only after the next byte. In a
/// stream whose lines end with CR alone, that would delay each event until the next one arrives.
/// After the first lone CR, a CR therefore ends its line at once. An LF after it is skipped, and
/// its byte belongs to the next line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineEnds {
    style: Style,
    /// Whether a lone CR just ended a line. An LF that comes next is its second half.
    absorb: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Style {
    #[default]
    Paired,
    Lone,
}

impl OpenLine {
    /// Creates a line that starts at `start` and was not searched yet.
    pub(crate) fn starting_at(start: usize) -> Self {
        Self { start, seen: start }
    }
}

impl LineEnds {
    /// Returns the line `open` of `text` with its end, or the open line if the end is not in
    /// `text`.
    ///
    /// `decided` states that the byte after `text` is not an LF.
    pub(crate) fn next(
        &mut self,
        text: &[u8],
        open: OpenLine,
        decided: bool,
    ) -> Result<Line, OpenLine> {
        let OpenLine { mut start, seen } = open;
        if let (true, Some(&first)) = (self.absorb, text.get(start)) {
            self.absorb = false;
            if first == b'\n' {
                self.style = Style::Paired;
                start += 1;
            }
        }
        let from = seen.max(start);
        let Some(end) = find(&text[from..]).map(|at| from + at) else {
            return Err(OpenLine { start, seen: text.len() });
        };
        let next = match (text[end], text.get(end + 1)) {
            (b'\n', _) => end + 1,
            (_, _) if self.style == Style::Lone => {
                self.absorb = true;
                end + 1
            }
            (_, Some(b'\n')) => end + 2,
            (_, None) if !decided => return Err(OpenLine { start, seen: end }),
            _ => {
                self.style = Style::Lone;
                end + 1
            }
        };
        Ok(Line { start, end, next })
    }

    /// Returns the number of `bytes` that complete a line of earlier text.
    ///
    /// `after_cr` states that the earlier text ends with an undecided CR.
    pub(crate) fn completing(self, bytes: &[u8], after_cr: bool) -> usize {
        if after_cr {
            return usize::from(bytes.first() == Some(&b'\n'));
        }
        match find(bytes) {
            None => bytes.len(),
            Some(at) => {
                let pair = self.style == Style::Paired && bytes[at..].starts_with(b"\r\n");
                at + 1 + usize::from(pair)
            }
        }
    }
}

/// Returns the index of the first byte that ends a line.
pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
    memchr2(b'\n', b'\r', bytes)
}
