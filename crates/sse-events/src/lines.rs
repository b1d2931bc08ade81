//! Where lines end: LF, CR or CRLF, the same for every cut.

use memchr::memchr2;

/// A line and its end, as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    /// Behind its last byte.
    pub(crate) end: usize,
    /// Behind its line end.
    pub(crate) next: usize,
}

/// The line does not end yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OpenLine {
    /// Where it starts.
    pub(crate) start: usize,
    /// Where the next search for its end may begin.
    pub(crate) seen: usize,
}

/// What is known about the line ends of a stream.
///
/// A CR may be the first half of a line end, so that its line is complete only with the byte
/// behind it. In a stream of lone CRs that would keep each event until the next one comes: once a
/// CR was seen to stand alone, a CR ends its line at once, and a LF behind it is the beginning of
/// the next line's bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineEnds {
    style: Style,
    /// A CR just ended a line by itself: a LF now is its second half.
    absorb: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Style {
    #[default]
    Paired,
    Lone,
}

impl OpenLine {
    /// Creates a line that starts at `start`, of which nothing was searched.
    pub(crate) fn at(start: usize) -> Self {
        Self { start, seen: start }
    }
}

impl LineEnds {
    /// The line of `text` that starts at `start`, which has no line end before `seen`.
    ///
    /// `decided` says that no LF follows `text`.
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

    /// How many of `bytes` complete a line behind text that ends in an undecided CR if `after_cr`.
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

/// Index of the first byte that ends a line.
pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
    memchr2(b'\n', b'\r', bytes)
}
