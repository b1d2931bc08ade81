//! The event being read: its lines as indices into its raw bytes.

#![expect(
    clippy::indexing_slicing,
    reason = "lines, and the ranges of fields in them, are of the text that is read and stay \
              until it is given away or the event is over; an event beyond the limits, of which \
              something was given away, is never made"
)]

use std::ops::Range;

use crate::{
    BYTE_ORDER_MARK,
    event::{Dialect, Event},
    limits::{Limit, Limits},
    lines::{Line, LineEnds, NoLine},
};

/// What reading on came to.
pub(crate) enum Read {
    /// Everything was read, and the event is not over.
    More,
    /// The event ends before this index.
    Ends(usize),
}

/// What stays the same while an event is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) limits: Limits,
    pub(crate) dialect: Dialect,
    /// The event is the first of the stream.
    pub(crate) first: bool,
    /// No LF follows.
    pub(crate) decided: bool,
    /// Nothing follows.
    pub(crate) ended: bool,
}

/// The event being read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// Where the current line starts.
    line: usize,
    /// The current line has no end before this index.
    seen: usize,
    /// The event is too long. Its bytes up to `seen` are given away after each reading, and it is
    /// only looked through for its end.
    over: Option<Limit>,
    /// The current line had bytes that were given away.
    begun: bool,
    rows: Rows,
    joined: Vec<u8>,
    name: Option<Range<usize>>,
    id: Option<Range<usize>>,
    retry: Option<u64>,
    fields: bool,
    closed: bool,
    /// A line without a field's name was taken for data.
    bare: bool,
    ignored: u64,
}

/// The `data` lines.
#[derive(Debug, Clone, Default)]
enum Rows {
    #[default]
    None,
    One(Range<usize>),
    /// Joined in a buffer.
    Many,
}

/// What a line means for the event.
enum Then {
    GoesOn,
    Ends,
    /// The event ended before this line.
    EndedBefore,
}

impl Block {
    /// Reads on in `text`, which begins with the event's first byte that was not given away.
    pub(crate) fn read(&mut self, text: &[u8], ends: &mut LineEnds, how: Reading) -> Read {
        loop {
            let line = match ends.next(text, self.line, self.seen, how.decided) {
                Ok(line) => line,
                Err(NoLine { start, .. }) if how.ended && start < text.len() => {
                    Line { start, end: text.len(), next: text.len() }
                }
                Err(NoLine { start, seen }) => {
                    (self.line, self.seen) = (start, seen);
                    self.measure(start..seen, text.len(), how.limits);
                    return Read::More;
                }
            };
            self.measure(line.start..line.end, line.next, how.limits);
            let begun = std::mem::take(&mut self.begun);
            let then = match self.over {
                Some(_) if begun || line.end > line.start => Then::GoesOn,
                Some(_) => Then::Ends,
                None => self.take(text, line, how),
            };
            match then {
                Then::GoesOn => (self.line, self.seen) = (line.next, line.next),
                Then::Ends => {
                    self.closed = line.next > line.end;
                    return Read::Ends(line.next);
                }
                Then::EndedBefore => return Read::Ends(line.start),
            }
        }
    }

    /// Notices a line that is too long, or an event of `event` bytes that is.
    fn measure(&mut self, line: Range<usize>, event: usize, limits: Limits) {
        if self.over.is_none() {
            let long_line = line.len() > limits.line;
            // Of two limits the one whose end comes first: which is seen first depends on cuts.
            let first = line.start.saturating_add(limits.line) <= limits.event;
            self.over = match (long_line, event > limits.event) {
                (false, false) => None,
                (true, long_event) if first || !long_event => Some(Limit::Line),
                _ => Some(Limit::Event),
            };
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a mark, a colon and a blank were found in the line, and the range ends with it; \
                  `ignored` counts bytes of a stream with 64 bits"
    )]
    fn take(&mut self, text: &[u8], line: Line, how: Reading) -> Then {
        let mut start = line.start;
        if how.first && start == 0 && text[..line.end].starts_with(BYTE_ORDER_MARK) {
            start += BYTE_ORDER_MARK.len();
        }
        let content = &text[start..line.end];
        match content.first() {
            None => return Then::Ends,
            // A comment by itself waits for nothing.
            Some(b':') if !self.fields => return Then::Ends,
            Some(b':') => return Then::GoesOn,
            Some(b'{') if how.dialect == Dialect::Lenient => {
                let then = self.data(text, start..line.end, how.dialect);
                self.bare |= !matches!(then, Then::EndedBefore);
                return then;
            }
            Some(_) => {}
        }
        let (field, value) = match memchr::memchr(b':', content) {
            Some(colon) => {
                let space = usize::from(content[colon + 1..].starts_with(b" "));
                (&content[..colon], start + colon + 1 + space..line.end)
            }
            None => (content, line.end..line.end),
        };
        match field {
            b"data" => return self.data(text, value, how.dialect),
            b"event" => self.name = Some(value),
            b"id" if text[value.clone()].contains(&0) => {}
            b"id" => self.id = Some(value),
            b"retry" => self.retry = number(&text[value]).or(self.retry),
            _ => self.ignored += content.len() as u64,
        }
        self.fields = true;
        Then::GoesOn
    }

    fn data(&mut self, text: &[u8], value: Range<usize>, dialect: Dialect) -> Then {
        match &self.rows {
            Rows::None => self.rows = Rows::One(value),
            // Only behind a single row, so that many rows are not read again and again.
            Rows::One(row) if dialect == Dialect::Lenient && is_whole(&text[row.clone()]) => {
                return Then::EndedBefore;
            }
            Rows::One(row) => {
                self.joined.clear();
                self.joined.extend_from_slice(&text[row.clone()]);
                self.rows = Rows::Many;
                self.join(&text[value]);
            }
            Rows::Many => self.join(&text[value]),
        }
        self.fields = true;
        Then::GoesOn
    }

    fn join(&mut self, row: &[u8]) {
        self.joined.push(b'\n');
        self.joined.extend_from_slice(row);
    }

    /// The event, whose raw bytes are `raw`.
    pub(crate) fn event<'e>(&'e self, raw: &'e [u8], dialect: Dialect, first: bool) -> Event<'e> {
        let at = |range: &Option<Range<usize>>| range.clone().map(|range| &raw[range]);
        Event {
            raw,
            name: at(&self.name),
            data: match &self.rows {
                Rows::None => None,
                Rows::One(row) => Some(&raw[row.clone()]),
                Rows::Many => Some(&self.joined),
            },
            id: at(&self.id),
            retry: self.retry,
            closed: self.closed,
            ignored: self.ignored,
            dialect,
            bare: self.bare,
            marked: first && raw.starts_with(BYTE_ORDER_MARK),
        }
    }

    /// Bytes before `seen` are given away: how many they are.
    pub(crate) fn give_away(&mut self) -> usize {
        self.begun |= self.seen > self.line;
        self.line = 0;
        std::mem::take(&mut self.seen)
    }

    /// The limit that the event is beyond.
    pub(crate) fn over(&self) -> Option<Limit> {
        self.over
    }

    /// Whether `text` ends in a CR that may be half of a line end.
    pub(crate) fn is_undecided(&self, text: &[u8]) -> bool {
        self.seen < text.len()
    }

    /// Bytes kept beyond the raw ones.
    pub(crate) fn kept(&self) -> usize {
        self.joined.len()
    }

    /// Makes it as new, and keeps the buffer.
    pub(crate) fn reset(&mut self) {
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        *self = Self::default();
        self.joined = joined;
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let number = digits.iter().all(u8::is_ascii_digit).then_some(digits)?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Whether data is complete by itself, so that a further row cannot be part of it.
#[cfg(feature = "lenient")]
fn is_whole(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
}

/// No data is, where nothing reads JSON.
#[cfg(not(feature = "lenient"))]
fn is_whole(_: &[u8]) -> bool {
    false
}
