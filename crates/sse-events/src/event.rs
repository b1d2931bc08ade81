//! One event, borrowed from the bytes it came in.

use crate::{
    BYTE_ORDER_MARK,
    encode::rows,
    lines::{Line, LineEnds, OpenLine},
};

/// How strictly lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// As the standard says.
    #[default]
    Standard,
    /// As clients in the wild do.
    #[cfg(feature = "lenient")]
    Lenient,
}

impl Dialect {
    pub(crate) fn is_lenient(self) -> bool {
        self != Self::Standard
    }
}

/// An event, or a block of lines that is none: comments, an id, a blank line.
///
/// Values are bytes as they came; the standard reads them as UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'e> {
    /// Everything it came in, its blank line included.
    pub raw: &'e [u8],
    /// The last `event` field.
    pub name: Option<&'e [u8]>,
    /// The `data` fields, joined by `\n`. Without one, a client dispatches nothing.
    pub data: Option<&'e [u8]>,
    /// The last `id` field that is one.
    pub id: Option<&'e [u8]>,
    /// The last `retry` field that is one, in milliseconds.
    pub retry: Option<u64>,
    /// Whether a blank line ended it (a comment by itself needs none). Only then do the raw bytes
    /// keep it apart from what follows.
    pub closed: bool,
    /// How many bytes the lines have that are no field of the standard.
    pub ignored: u64,
    pub(crate) dialect: Dialect,
    pub(crate) bare: bool,
    /// The raw bytes begin with a byte order mark.
    pub(crate) marked: bool,
}

impl<'e> SseEvent<'e> {
    /// Whether the raw bytes, forwarded, are this event to a reader that follows the standard.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.closed && !self.bare
    }

    /// Writes the event with other data: the lines that are no data stay as they came, where
    /// they stood, and line ends are those the event has.
    ///
    /// Line ends inside `data` begin further `data` lines. What is written is closed.
    pub fn with_data(&self, data: &[u8], out: &mut Vec<u8>) {
        let eol = self.write_lines(Some(data), out).unwrap_or(b"\n");
        out.extend_from_slice(eol);
    }

    /// Writes the event without its data, closed; nothing if it has no other lines.
    pub fn without_data(&self, out: &mut Vec<u8>) {
        let before = out.len();
        let eol = self.write_lines(None, out).unwrap_or(b"\n");
        if out.len() > before {
            out.extend_from_slice(eol);
        }
    }

    /// Writes an event of the same name with other data and nothing else, in lines that end as
    /// this one's do.
    pub fn again(&self, data: &[u8], out: &mut Vec<u8>) {
        let eol = self.lines().next().map_or(b"\n".as_slice(), |line| line.eol);
        if let Some(name) = self.name {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(name);
            out.extend_from_slice(eol);
        }
        rows(data, eol, out);
        out.extend_from_slice(eol);
    }

    /// The event as if it had no name.
    #[must_use]
    pub fn without_name(self) -> Self {
        Self { name: None, ..self }
    }

    /// Writes `data` in place of the event's; the line end that goes with it.
    fn write_lines(&self, data: Option<&[u8]>, out: &mut Vec<u8>) -> Option<&'e [u8]> {
        let mut left = data;
        let mut last = None;
        for Content { line, content, eol } in self.lines() {
            last.get_or_insert(eol);
            if !self.is_data(content) {
                out.extend_from_slice(line);
                out.extend_from_slice(eol);
            } else if let Some(data) = left.take() {
                rows(data, eol, out);
            }
        }
        if let Some(data) = left {
            rows(data, last.unwrap_or(b"\n"), out);
        }
        last
    }

    /// The lines that are not blank, all with the line end of the first.
    fn lines(&self) -> impl Iterator<Item = Content<'e>> {
        let (raw, marked) = (self.raw, self.marked);
        let (mut ends, mut at) = (LineEnds::default(), 0);
        let mut eol: Option<&[u8]> = None;
        std::iter::from_fn(move || {
            while at < raw.len() {
                let last = |OpenLine { start, seen }| Line { start, end: seen, next: seen };
                let line = ends.next(raw, OpenLine::at(at), true).unwrap_or_else(last);
                let (first, end) = (at == 0 && marked, &raw[line.end..line.next]);
                at = line.next;
                if line.end == line.start {
                    continue;
                }
                let eol = *eol.get_or_insert(if end.is_empty() { b"\n" } else { end });
                let line = &raw[line.start..line.end];
                let content = if first { line.strip_prefix(BYTE_ORDER_MARK) } else { None };
                return Some(Content { line, content: content.unwrap_or(line), eol });
            }
            None
        })
    }

    fn is_data(&self, line: &[u8]) -> bool {
        match line.strip_prefix(b"data") {
            Some(rest) => matches!(rest.first(), None | Some(b':')),
            None => self.dialect.is_lenient() && line.starts_with(b"{"),
        }
    }
}

/// A line of an event.
struct Content<'e> {
    line: &'e [u8],
    /// The line without a byte order mark.
    content: &'e [u8],
    /// The line end to write.
    eol: &'e [u8],
}
