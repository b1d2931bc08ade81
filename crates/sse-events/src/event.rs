//! An event, borrowed from its bytes.

use crate::{
    BYTE_ORDER_MARK,
    encode::rows,
    lines::{Line, LineEnds, OpenLine},
};

/// Strictness of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// Lines are read as in the standard.
    #[default]
    Standard,
    /// Lines are read as common clients do: a line that begins with `{` is data.
    #[cfg(feature = "lenient")]
    Lenient,
}

impl Dialect {
    pub(crate) fn is_lenient(self) -> bool {
        self != Self::Standard
    }
}

/// An event, or a block of lines without data: comments, an id, a blank line.
///
/// Values are the received bytes, which the standard reads as UTF-8. [`Decoder`](crate::Decoder)
/// has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'e> {
    /// All bytes of the event, including its blank line.
    pub raw: &'e [u8],
    /// Value of the last `event` field.
    pub name: Option<&'e [u8]>,
    /// Values of the `data` fields, joined by `\n`. Clients dispatch an event only if it has one.
    pub data: Option<&'e [u8]>,
    /// Value of the last valid `id` field.
    pub id: Option<&'e [u8]>,
    /// Value of the last valid `retry` field, in milliseconds.
    pub retry: Option<u64>,
    /// Whether a blank line ended the event, or the event is a comment. Only then do the raw bytes
    /// separate it from the next event.
    pub closed: bool,
    /// Number of bytes in lines with unknown fields.
    pub ignored: u64,
    pub(crate) dialect: Dialect,
    /// Whether a line without a field name was read as data.
    pub(crate) bare: bool,
    /// Whether the raw bytes begin with a byte order mark.
    pub(crate) marked: bool,
}

impl<'e> SseEvent<'e> {
    /// Returns whether a reader that follows the standard reads the raw bytes as this event.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.closed && !self.bare
    }

    /// Writes the event with other data.
    ///
    /// Other lines keep their bytes and places. New lines end like the lines of the event. Line
    /// ends inside `data` begin further `data` lines. The written event is closed.
    pub fn with_data(&self, data: &[u8], out: &mut Vec<u8>) {
        let eol = self.write_lines(Some(data), out).unwrap_or(b"\n");
        out.extend_from_slice(eol);
    }

    /// Writes the event without its data, as a closed event. Writes nothing if the event has no other
    /// lines.
    pub fn without_data(&self, out: &mut Vec<u8>) {
        let before = out.len();
        let eol = self.write_lines(None, out).unwrap_or(b"\n");
        if out.len() > before {
            out.extend_from_slice(eol);
        }
    }

    /// Writes a new event with the same name and other data. Its lines end like those of this
    /// event.
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

    /// Returns the event without its name.
    #[must_use]
    pub fn without_name(self) -> Self {
        Self { name: None, ..self }
    }

    /// Writes `data` instead of the data of the event. Returns the line end for the closing blank
    /// line.
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

    /// Iterates over the lines that are not blank, all with the line end of the first.
    fn lines(&self) -> impl Iterator<Item = Content<'e>> {
        let (raw, marked) = (self.raw, self.marked);
        let (mut ends, mut at) = (LineEnds::default(), 0);
        let mut eol: Option<&[u8]> = None;
        std::iter::from_fn(move || {
            while at < raw.len() {
                let last = |OpenLine { start, seen }| Line { start, end: seen, next: seen };
                let line = ends.next(raw, OpenLine::starting_at(at), true).unwrap_or_else(last);
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

/// A line of an event, to be written again.
struct Content<'e> {
    line: &'e [u8],
    /// The line without a byte order mark.
    content: &'e [u8],
    /// The line end to write.
    eol: &'e [u8],
}
