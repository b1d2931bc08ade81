//! The decoder, which turns bytes into events.
//!
//! ```text
//! chunk              reported items               held after it
//! ": ping\nda"       event ": ping\n" (comment)   "da"
//! "ta: a\n\nda"      event "data: a\n\n"          "da"
//! ```

use crate::{
    block::{Block, Read, Reading},
    event::{Dialect, SseEvent},
    limits::{SseLimitPolicy, SseLimits, TooLong},
    lines::LineEnds,
};

/// An item of the decoded stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'i> {
    /// An event, or a block of lines without data.
    Event(SseEvent<'i>),
    /// The next bytes of an event beyond the limits.
    Raw(&'i [u8]),
    /// An event beyond the limits was dropped.
    Dropped {
        /// Length of the event in bytes.
        bytes: u64,
    },
}

impl<'i> SseItem<'i> {
    /// Returns the bytes of the item, to be forwarded. A dropped event has none.
    ///
    /// The bytes of all items, in order, are the input, unless [`SseLimitPolicy::Drop`] drops an
    /// event.
    #[must_use]
    pub fn raw(&self) -> &'i [u8] {
        match *self {
            Self::Event(event) => event.raw,
            Self::Raw(bytes) => bytes,
            Self::Dropped { .. } => &[],
        }
    }
}

/// A decoder of server-sent events, which takes bytes in arbitrary pieces.
///
/// The decoder holds the bytes of an incomplete event, at most [`SseLimits::event`], and a copy of
/// the event's data if that has several lines. If lines end with CRLF, an event is complete with
/// the LF.
///
/// ```
/// use sse_events::{Decoder, SseItem};
/// let (mut decoder, mut seen) = (Decoder::new(), Vec::new());
/// for chunk in ["event: delta\nda", "ta: one\n\ndata: t", "wo\n\n"] {
///     decoder.push(chunk.as_bytes(), |item| {
///         if let SseItem::Event(event) = item {
///             seen.push((event.name.map(<[u8]>::to_vec), event.data.map(<[u8]>::to_vec)));
///         }
///     })?;
/// }
/// assert_eq!(seen[0], (Some(b"delta".to_vec()), Some(b"one".to_vec())));
/// assert_eq!(seen[1], (None, Some(b"two".to_vec())));
/// # Ok::<(), sse_events::TooLong>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    limits: SseLimits,
    dialect: Dialect,
    ends: LineEnds,
    block: Block,
    /// Raw bytes of the event being read.
    held: Vec<u8>,
    /// Stream offset of the event's first byte.
    at: u64,
    /// Number of bytes of an event beyond the limits that were passed on or dropped.
    given: u64,
    failed: Option<TooLong>,
    /// Number of bytes received.
    received: u64,
    /// Whether bytes are being read. At the start of a call it is set only if the caller's function
    /// panicked in the last one.
    reading: bool,
}

impl Decoder {
    /// Creates a decoder that follows the standard, with one exception: an event that the end of
    /// the input cuts is reported as not closed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of lines and events.
    #[must_use]
    pub fn limits(self, limits: SseLimits) -> Self {
        Self { limits, ..self }
    }

    /// Makes the decoder accept common deviations of servers.
    ///
    /// A line that begins with `{` is data. A `data` line with complete JSON or `[DONE]` is an
    /// event, even if another `data` line follows without a blank line.
    #[cfg(feature = "lenient")]
    #[must_use]
    pub fn lenient(self) -> Self {
        Self { dialect: Dialect::Lenient, ..self }
    }

    /// Feeds bytes and reports the items that are complete.
    ///
    /// # Errors
    /// Returns an error if an event exceeds the limits under [`SseLimitPolicy::Error`]. The decoder
    /// then stops, and every later push returns the same error.
    pub fn push(&mut self, bytes: &[u8], mut on: impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        self.begin_reading();
        self.received += bytes.len() as u64;
        let pushed = self.push_all(bytes, &mut on);
        self.reading = false;
        pushed
    }

    /// Begins to read. If the caller's function panicked in the last call, the event being read is
    /// lost, and the next one begins here.
    fn begin_reading(&mut self) {
        if std::mem::replace(&mut self.reading, true) {
            self.block.reset();
            self.held.clear();
            (self.at, self.given) = (self.received, 0);
        }
    }

    fn push_all(&mut self, bytes: &[u8], on: &mut impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        let mut rest = bytes;
        let mut held = std::mem::take(&mut self.held);
        // Only as much as completes a line is copied, so that reading soon continues in the
        // caller's bytes.
        while !held.is_empty() && !rest.is_empty() {
            let taken = self.ends.completing(rest, self.block.is_undecided(&held));
            held.extend_from_slice(&rest[..taken]);
            rest = &rest[taken..];
            let known = if rest.is_empty() { Known::Nothing } else { Known::NoLf };
            let read = self.read(&held, known, on)?;
            held.drain(..read);
        }
        if held.is_empty() {
            let read = self.read(rest, Known::Nothing, on)?;
            held.extend_from_slice(&rest[read..]);
        }
        self.held = held;
        Ok(())
    }

    /// Ends the input and reports an event that the end cuts.
    ///
    /// # Errors
    /// See [`Decoder::push`].
    pub fn finish(&mut self, mut on: impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        self.begin_reading();
        let finished = self.finish_all(&mut on);
        self.reading = false;
        finished
    }

    fn finish_all(&mut self, on: &mut impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        let held = std::mem::take(&mut self.held);
        let read = self.read(&held, Known::End, on)?;
        if self.given > 0 || read < held.len() {
            self.complete(&held[read..], on)?;
        }
        Ok(())
    }

    /// Forgets the stream and keeps the settings.
    pub fn reset(&mut self) {
        let (limits, dialect) = (self.limits, self.dialect);
        *self = Self { limits, dialect, ..Self::default() };
    }

    /// Returns the number of bytes held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len() + self.block.kept()
    }

    /// Reads every event of `text`. Returns the number of bytes that are processed.
    fn read(
        &mut self,
        text: &[u8],
        known: Known,
        on: &mut impl FnMut(SseItem<'_>),
    ) -> Result<usize, TooLong> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut from = 0;
        loop {
            let how = Reading {
                limits: self.limits,
                dialect: self.dialect,
                first: self.at == 0,
                decided: known != Known::Nothing,
                ended: known == Known::End,
            };
            match self.block.read(&text[from..], &mut self.ends, how) {
                Read::Ends(end) => {
                    self.complete(&text[from..from + end], on)?;
                    from += end;
                }
                Read::More if self.block.over().is_none() => return Ok(from),
                Read::More => {
                    self.check()?;
                    let given = self.block.remove_seen();
                    if self.limits.policy == SseLimitPolicy::Release && given > 0 {
                        on(SseItem::Raw(&text[from..from + given]));
                    }
                    self.given += given as u64;
                    return Ok(from + given);
                }
            }
        }
    }

    /// Returns an error if the event exceeds the limits under the error policy.
    fn check(&mut self) -> Result<(), TooLong> {
        match (self.block.over(), self.limits.policy) {
            (Some(limit), SseLimitPolicy::Error) => {
                let error = TooLong { limit, at: self.at };
                self.failed = Some(error);
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Reports the event that ended with `raw`.
    fn complete(&mut self, raw: &[u8], on: &mut impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        self.check()?;
        let bytes = self.given + raw.len() as u64;
        match self.block.over() {
            None => on(SseItem::Event(self.block.event(raw, self.dialect, self.at == 0))),
            Some(_) if self.limits.policy == SseLimitPolicy::Release => {
                if !raw.is_empty() {
                    on(SseItem::Raw(raw));
                }
            }
            Some(_) => on(SseItem::Dropped { bytes }),
        }
        self.block.reset();
        self.at += bytes;
        self.given = 0;
        Ok(())
    }
}

/// The knowledge about the byte after a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// The next byte is not an LF.
    NoLf,
    /// The text is the end of the input.
    End,
}
