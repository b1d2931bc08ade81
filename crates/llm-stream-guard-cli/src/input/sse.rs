//! A push reader of server-sent events over bytes, as lenient as clients in the wild are.
//!
//! Beyond the standard: an event the end of the input cuts is given out, a line that is a bare
//! JSON object counts as `data`, and `data` lines that are complete JSON each are events of their
//! own even if no blank line separates them.

use crate::input::lines::{Line, Lines, MAX_LINE};

/// What the reader found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SseItem<'i> {
    /// An event with data.
    Event {
        /// Its `event` field; empty if it has none.
        name: &'i str,
        /// Its `data` fields, joined by newlines.
        data: &'i [u8],
    },
    /// Data longer than [`MAX_LINE`] was dropped: its length.
    TooLong(u64),
    /// A line that is no field was ignored: its length.
    Ignored(u64),
}

/// Reads server-sent events from bytes in arbitrary pieces.
///
/// Holds at most [`MAX_LINE`] bytes of a line and as many of an event's data.
#[derive(Debug, Clone, Default)]
pub struct SseReader {
    lines: Lines,
    event: Event,
}

#[derive(Debug, Clone, Default)]
struct Event {
    name: String,
    data: Vec<u8>,
    /// How many `data` lines it has.
    rows: usize,
    /// Bytes dropped because the data grew too long.
    dropped: u64,
}

impl SseReader {
    /// Feeds bytes; `on` receives what is complete.
    pub fn push(&mut self, bytes: &[u8], mut on: impl FnMut(SseItem<'_>)) {
        let Self { lines, event } = self;
        lines.push(bytes, |line| event.line(line, &mut on));
    }

    /// Ends the input; a cut event is given out.
    pub fn finish(&mut self, mut on: impl FnMut(SseItem<'_>)) {
        let Self { lines, event } = self;
        lines.finish(|line| event.line(line, &mut on));
        event.dispatch(&mut on);
    }
}

impl Event {
    fn line(&mut self, line: Line<'_>, on: &mut impl FnMut(SseItem<'_>)) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong(bytes) => return on(SseItem::TooLong(bytes)),
        };
        if line.is_empty() {
            return self.dispatch(on);
        }
        if line.starts_with(b"{") {
            return self.data(line, on);
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.data(value, on),
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"" | b"id" | b"retry" => {}
            _ => on(SseItem::Ignored(line.len() as u64)),
        }
    }

    fn data(&mut self, value: &[u8], on: &mut impl FnMut(SseItem<'_>)) {
        // Only behind a single row, so that many rows are not read again and again.
        if self.rows == 1 && is_whole(&self.data) {
            self.dispatch(on);
        }
        self.rows += 1;
        if self.dropped > 0 || self.data.len() + value.len() >= MAX_LINE {
            self.dropped += (self.data.len() + value.len()) as u64;
            self.data = Vec::new();
            return;
        }
        if self.rows > 1 {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }

    fn dispatch(&mut self, on: &mut impl FnMut(SseItem<'_>)) {
        if self.dropped > 0 {
            on(SseItem::TooLong(self.dropped));
        } else if self.rows > 0 {
            on(SseItem::Event { name: &self.name, data: &self.data });
        }
        self.data.clear();
        self.name.clear();
        (self.rows, self.dropped) = (0, 0);
    }
}

fn is_whole(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{SseItem, SseReader};

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut seen) = (SseReader::default(), Vec::new());
        let mut on = |item: SseItem<'_>| {
            seen.push(match item {
                SseItem::Event { name, data } => {
                    format!("{name}={}", String::from_utf8_lossy(data))
                }
                other => format!("{other:?}"),
            });
        };
        pieces.iter().for_each(|piece| reader.push(piece, &mut on));
        reader.finish(&mut on);
        seen
    }

    #[test]
    fn fields_comments_and_line_ends_at_every_split() {
        let input = ": hi\r\ndata: {\"a\":\ndata:  1}\r\n\r\nevent: error\nid: 7\ndata:x\n\n\
                     event: nothing\n\nbogus\ndata: {}\ndata: [DONE]\n{\"error\":1}"
            .as_bytes();
        let expected =
            ["={\"a\":\n 1}", "error=x", "Ignored(5)", "={}", "=[DONE]", "={\"error\":1}"];
        for at in 0..=input.len() {
            assert_eq!(events(&[&input[..at], &input[at..]]), expected, "at {at}");
        }
        assert_eq!(events(&input.chunks(1).collect::<Vec<_>>()), expected);
    }
}
