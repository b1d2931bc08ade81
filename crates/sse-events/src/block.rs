//! The event being read, as indices into its raw bytes.
//!
//! Reading `id: 7`, `data: a`, `data: b` and a blank line:
//!
//! ```text
//! line         state after it
//! id: 7        id is 3..5 ("7")
//! data: a      rows: one, borrowed
//! data: b      rows: many, joined in a buffer as "a\nb"
//! (blank)      the event ends, closed
//! ```

use std::ops::Range;

use crate::{
    BYTE_ORDER_MARK,
    event::{Dialect, SseEvent},
    limits::{Limit, SseLimits},
    lines::{Line, LineEnds, OpenLine},
};

/// The result of reading more text.
pub(crate) enum Read {
    /// All text was read, and the event continues.
    More,
    /// The event ends before this index.
    Ends(usize),
}

/// The settings of a reading, with facts about the text around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) limits: SseLimits,
    pub(crate) dialect: Dialect,
    /// Whether the event is the first of the stream.
    pub(crate) first: bool,
    /// Whether the byte after the text is not an LF.
    pub(crate) decided: bool,
    /// Whether the text is the end of the input.
    pub(crate) ended: bool,
}

/// The event being read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// The current line, whose end was not found.
    line: OpenLine,
    /// The limit that the event exceeds, if any. The decoder passes on or drops the bytes of such
    /// an event after each reading, and only the event's end is searched for.
    over: Option<Limit>,
    /// Whether the decoder already removed bytes of the current line.
    begun: bool,
    rows: Rows,
    joined: Vec<u8>,
    name: Option<Range<usize>>,
    id: Option<Range<usize>>,
    retry: Option<u64>,
    fields: bool,
    closed: bool,
    /// Whether a line without a field name was read as data.
    bare: bool,
    ignored: u64,
}

/// The `data` lines of an event.
#[derive(Debug, Clone, Default)]
enum Rows {
    #[default]
    None,
    One(Range<usize>),
    /// Several lines, joined in a buffer.
    Many,
}

/// Effect of a line on the event.
enum LineEffect {
    Continues,
    Ends,
    /// The event ended before this line.
    EndedBefore,
}

impl Block {
    /// Reads on in `text`, which begins with the first byte of the event that the decoder still
    /// holds.
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
                LineEffect::Continues => self.line = OpenLine::starting_at(line.next),
                LineEffect::Ends => {
                    self.closed = line.next > line.end;
                    return Read::Ends(line.next);
                }
                LineEffect::EndedBefore => return Read::Ends(line.start),
            }
        }
    }

    /// Checks the length of a line, and the length `event` of its event.
    fn measure(&mut self, line: Range<usize>, event: usize, limits: SseLimits) {
        if self.over.is_none() {
            let long_line = line.len() > limits.line;
            // The limit that is reached first in the stream counts, for every cut.
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
            // A comment outside of an event is complete without a blank line.
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
            // Only the first row is parsed, so that events of many rows are not parsed repeatedly.
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

    /// Returns the event, whose raw bytes are `raw`.
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

    /// Forgets the bytes before `seen`, which the decoder removes, and returns their number.
    pub(crate) fn remove_seen(&mut self) -> usize {
        let OpenLine { start, seen } = std::mem::take(&mut self.line);
        self.begun |= seen > start;
        seen
    }

    /// Returns the exceeded limit, if there is one.
    pub(crate) fn over(&self) -> Option<Limit> {
        self.over
    }

    /// Returns whether `text` ends with a CR that may be half of a line end.
    pub(crate) fn is_undecided(&self, text: &[u8]) -> bool {
        self.line.seen < text.len()
    }

    /// Returns the number of buffered bytes in addition to the raw bytes.
    pub(crate) fn kept(&self) -> usize {
        self.joined.len()
    }

    /// Clears the event and keeps its buffer.
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

/// Returns whether data is complete JSON or `[DONE]`, so that another row begins a new event.
#[cfg(feature = "lenient")]
fn is_whole(data: &[u8]) -> bool {
    data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<serde::de::IgnoredAny>(data).is_ok()
}

/// Returns `false`, because this build does not read JSON.
#[cfg(not(feature = "lenient"))]
fn is_whole(_: &[u8]) -> bool {
    false
}
