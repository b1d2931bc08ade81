//! One event, borrowed from the bytes it came in.

use super::{
    MARK,
    decoder::Dialect,
    encode::rows,
    lines::{Line, LineEnds, NoLine},
};

/// An event, or a block of lines that is none: comments, an id, a blank line.
///
/// Values are bytes as they came; the standard reads them as UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'e> {
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
    pub(super) dialect: Dialect,
    /// The raw bytes begin with a byte order mark.
    pub(super) marked: bool,
}

impl Event<'_> {
    /// Writes the event with other data: the lines that are no data stay as they came, where
    /// they stood, and line ends are those the event has.
    ///
    /// Line ends inside `data` begin further `data` lines. What is written is closed.
    pub fn with_data(&self, data: &[u8], out: &mut Vec<u8>) {
        let mut ends = LineEnds::default();
        let (mut at, mut written) = (0, false);
        let mut eol: Option<&[u8]> = None;
        while at < self.raw.len() {
            let last = |NoLine { start, seen }| Line { start, end: seen, next: seen };
            let line = ends.next(self.raw, at, at, true).unwrap_or_else(last);
            let mut content = &self.raw[line.start..line.end];
            if at == 0 && self.marked {
                content = content.strip_prefix(MARK).unwrap_or(content);
            }
            at = line.next;
            if line.end == line.start {
                continue;
            }
            let end = &self.raw[line.end..line.next];
            let eol = *eol.get_or_insert(if end.is_empty() { b"\n" } else { end });
            match content {
                _ if self.is_data(content) => {
                    if !std::mem::replace(&mut written, true) {
                        rows(data, eol, out);
                    }
                }
                _ => {
                    out.extend_from_slice(&self.raw[line.start..line.end]);
                    out.extend_from_slice(eol);
                }
            }
        }
        let eol = eol.unwrap_or(b"\n");
        if !written {
            rows(data, eol, out);
        }
        out.extend_from_slice(eol);
    }

    fn is_data(&self, line: &[u8]) -> bool {
        match line.strip_prefix(b"data") {
            Some(rest) => matches!(rest.first(), None | Some(b':')),
            None => self.dialect == Dialect::Lenient && line.starts_with(b"{"),
        }
    }
}
