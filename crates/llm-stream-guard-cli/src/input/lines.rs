//! Splits bytes that arrive in arbitrary pieces into lines of limited length.

use crate::limits::MAX_LINE;
/// A line, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// The bytes of the line.
    Whole(&'l [u8]),
    /// Length of a line longer than [`MAX_LINE`].
    TooLong(u64),
}

/// Splits bytes into lines that end in LF, CR or CRLF. A byte order mark at the very start is
/// removed.
///
/// Holds at most [`MAX_LINE`] bytes of an unfinished line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    /// Length of the line that is being dropped.
    dropping: u64,
    /// Whether the last byte was a CR. An LF after it belongs to the same line end.
    after_cr: bool,
    /// Whether a line was seen. No byte order mark can follow.
    begun: bool,
}

impl Lines {
    /// Feeds bytes, and calls `on` with the complete lines.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut on: impl FnMut(Line<'_>)) {
        if self.after_cr && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_cr = false;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let line = &bytes[..end];
            if self.held.is_empty() && self.dropping == 0 && line.len() <= MAX_LINE {
                on(Line::Whole(self.without_mark(line)));
            } else {
                self.hold(line);
                self.flush(&mut on);
            }
            let cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.after_cr = cr && bytes.is_empty();
            if cr {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.hold(bytes);
    }

    /// Ends the input. The remaining bytes are the last line.
    pub(crate) fn finish(&mut self, mut on: impl FnMut(Line<'_>)) {
        if !self.held.is_empty() || self.dropping > 0 {
            self.flush(&mut on);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.dropping == 0 && self.held.len() + bytes.len() <= MAX_LINE {
            self.held.extend_from_slice(bytes);
            return;
        }
        self.dropping += (self.held.len() + bytes.len()) as u64;
        self.held = Vec::new();
    }

    fn flush(&mut self, on: &mut impl FnMut(Line<'_>)) {
        if self.dropping > 0 {
            on(Line::TooLong(std::mem::take(&mut self.dropping)));
            self.begun = true;
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        on(Line::Whole(self.without_mark(&held)));
        held.clear();
        self.held = held;
    }

    fn without_mark<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let begun = std::mem::replace(&mut self.begun, true);
        if begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines, MAX_LINE};

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut seen) = (Lines::default(), Vec::new());
        let mut on = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong(bytes) => format!("{bytes} bytes"),
            });
        };
        pieces.iter().for_each(|piece| lines.push(piece, &mut on));
        lines.finish(&mut on);
        seen
    }

    #[test]
    fn every_line_end_is_read_at_every_cut() {
        let input = b"\xEF\xBB\xBFa\r\n\rb\n\nc\r\r\nd".as_slice();
        let expected = ["a", "", "b", "", "c", "", "d"];
        for first in 0..=input.len() {
            for second in first..=input.len() {
                let pieces = [&input[..first], &input[first..second], &input[second..]];
                assert_eq!(lines(&pieces), expected, "{first} {second}");
            }
        }
    }

    #[test]
    fn line_over_the_limit_is_counted_and_the_next_line_is_complete() {
        let long = vec![b'x'; MAX_LINE];
        assert_eq!(
            lines(&[&long, b"y", b"z\nnext\n"]),
            [format!("{} bytes", MAX_LINE + 2), "next".into()]
        );
    }
}
