//! The event being read: its lines as indices into its raw bytes.

use std::ops::Range;

use crate::{
    BYTE_ORDER_MARK,
    event::{Dialect, SseEvent},
    limits::{Limit, SseLimits},
    lines::{Line, LineEnds, OpenLine},
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
    pub(crate) limits: SseLimits,
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
    /// The current line.
    line: OpenLine,
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
enum LineEffect {
    Continues,
    Ends,
    /// The event ended before this line.
    EndedBefore,
}

impl Block {
    /// Reads on in `text`, which begins with the event's first byte that was not given away.
    pub(crate) fn read(&mut self, text: &[u8], ends: &mut LineEnds, how: Reading) -> Read {
        loop {
            let line = match ends.next(text, self.line, how.decided) {
                Ok(line) => line,
                Err(OpenLine { start, .. }) if how.ended && start < text.len() => {
                    Line { start, end: text.len(), next: text.len() }
                }
                Err(open) => {
                    self.line = open;
                    self.measure(open.start..open.seen, text.len(), how.limits);
                    return Read::More;
                }
            };
            self.measure(line.start..line.end, line.next, how.limits);
            let begun = std::mem::take(&mut self.begun);
            let then = match self.over {
                Some(_) if begun || line.end > line.start => LineEffect::Continues,
                Some(_) => LineEffect::Ends,
                None => self.take(text, line, how),
            };
            match then {
                LineEffect::Continues => self.line = OpenLine::at(line.next),
                LineEffect::Ends => {
                    self.closed = line.next > line.end;
                    return Read::Ends(line.next);
                }
                LineEffect::EndedBefore => return Read::Ends(line.start),
            }
        }
    }

    /// Notices a line that is too long, or an event of `event` bytes that is.
    fn measure(&mut self, line: Range<usize>, event: usize, limits: SseLimits) {
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

    fn take(&mut self, text: &[u8], line: Line, how: Reading) -> LineEffect {
        let mut start = line.start;
        if how.first && start == 0 && text[..line.end].starts_with(BYTE_ORDER_MARK) {
            start += BYTE_ORDER_MARK.len();
        }
        let content = &text[start..line.end];
        match content.first() {
            None => return LineEffect::Ends,
            // A comment by itself waits for nothing.
            Some(b':') if !self.fields => return LineEffect::Ends,
            Some(b':') => return LineEffect::Continues,
            Some(b'{') if how.dialect.is_lenient() => {
                let then = self.data(text, start..line.end, how.dialect);
                self.bare |= !matches!(then, LineEffect::EndedBefore);
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
        LineEffect::Continues
    }

    fn data(&mut self, text: &[u8], value: Range<usize>, dialect: Dialect) -> LineEffect {
        match &self.rows {
            Rows::None => self.rows = Rows::One(value),
            // Only behind a single row, so that many rows are not read again and again.
            Rows::One(row) if dialect.is_lenient() && is_whole(&text[row.clone()]) => {
                return LineEffect::EndedBefore;
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
        LineEffect::Continues
    }

    fn join(&mut self, row: &[u8]) {
        self.joined.push(b'\n');
        self.joined.extend_from_slice(row);
    }

    /// The event, whose raw bytes are `raw`.
    pub(crate) fn event<'e>(
        &'e self,
        raw: &'e [u8],
        dialect: Dialect,
        first: bool,
    ) -> SseEvent<'e> {
        let at = |range: &Option<Range<usize>>| range.clone().map(|range| &raw[range]);
        SseEvent {
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
        let OpenLine { start, seen } = std::mem::take(&mut self.line);
        self.begun |= seen > start;
        seen
    }

    /// The limit that the event is beyond.
    pub(crate) fn over(&self) -> Option<Limit> {
        self.over
    }

    /// Whether `text` ends in a CR that may be half of a line end.
    pub(crate) fn is_undecided(&self, text: &[u8]) -> bool {
        self.line.seen < text.len()
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
