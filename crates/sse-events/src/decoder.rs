//! Bytes to events.

use crate::{
    block::{Block, Read, Reading},
    event::{Dialect, SseEvent},
    limits::{SseLimitPolicy, SseLimits, TooLong},
    lines::LineEnds,
};

/// What a decoder found, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem<'i> {
    /// An event, or a block of lines that is none.
    Event(SseEvent<'i>),
    /// The next bytes of an event beyond the limits.
    Raw(&'i [u8]),
    /// An event beyond the limits was dropped.
    Dropped {
        /// Its length.
        bytes: u64,
    },
}

impl<'i> SseItem<'i> {
    /// The bytes the item came in, to be forwarded; none if they were dropped. Those of all items, in
    /// order, are the input, unless [`SseLimitPolicy::Drop`] drops an event.
    #[must_use]
    pub fn raw(&self) -> &'i [u8] {
        match *self {
            Self::Event(event) => event.raw,
            Self::Raw(bytes) => bytes,
            Self::Dropped { .. } => &[],
        }
    }
}

/// Reads server-sent events from bytes in arbitrary pieces.
///
/// Held are the bytes of an unfinished event, at most [`SseLimits::event`] of them, with a copy of
/// its data if that has several lines; of a stream whose lines end in CR LF an event is finished
/// with the LF.
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
    /// Bytes of a too long event that were given away.
    given: u64,
    failed: Option<TooLong>,
}

impl Decoder {
    /// A decoder that reads as the standard says, but for an event that the end of the input
    /// cuts: that comes out, not closed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with other bounds.
    #[must_use]
    pub fn limits(self, limits: SseLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same, reading as servers write: a line that begins with `{` is data, and a `data` line
    /// that is a whole JSON text or `[DONE]` is an event of its own even if another `data` line
    /// follows it without a blank line.
    #[cfg(feature = "lenient")]
    #[must_use]
    pub fn lenient(self) -> Self {
        Self { dialect: Dialect::Lenient, ..self }
    }

    /// Feeds bytes; `on` receives what is complete.
    ///
    /// # Errors
    /// Only under [`SseLimitPolicy::Error`], when an event is beyond the limits: nothing more is
    /// read, and every later push returns the same error.
    pub fn push(&mut self, bytes: &[u8], mut on: impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        let mut rest = bytes;
        let mut held = std::mem::take(&mut self.held);
        // No more than a line at a time, to go on in the caller's bytes soon.
        while !held.is_empty() && !rest.is_empty() {
            let taken = self.ends.completing(rest, self.block.is_undecided(&held));
            held.extend_from_slice(&rest[..taken]);
            rest = &rest[taken..];
            let known = if rest.is_empty() { Known::Nothing } else { Known::NoLf };
            let read = self.read(&held, known, &mut on)?;
            held.drain(..read);
        }
        if held.is_empty() {
            let read = self.read(rest, Known::Nothing, &mut on)?;
            held.extend_from_slice(&rest[read..]);
        }
        self.held = held;
        Ok(())
    }

    /// Ends the input; an event that is cut comes out.
    ///
    /// # Errors
    /// As [`Decoder::push`].
    pub fn finish(&mut self, mut on: impl FnMut(SseItem<'_>)) -> Result<(), TooLong> {
        let held = std::mem::take(&mut self.held);
        let read = self.read(&held, Known::End, &mut on)?;
        if self.given > 0 || read < held.len() {
            self.complete(&held[read..], &mut on)?;
        }
        Ok(())
    }

    /// Makes the decoder as new; limits and leniency stay.
    pub fn reset(&mut self) {
        let (limits, dialect) = (self.limits, self.dialect);
        *self = Self { limits, dialect, ..Self::default() };
    }

    /// Bytes held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len() + self.block.kept()
    }

    /// Reads every event of `text`; how much of it is done with.
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
                    let given = self.block.give_away();
                    if self.limits.policy == SseLimitPolicy::Release && given > 0 {
                        on(SseItem::Raw(&text[from..from + given]));
                    }
                    self.given += given as u64;
                    return Ok(from + given);
                }
            }
        }
    }

    /// Fails if an event beyond the limits is an error.
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

    /// The event ended with `raw`.
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

/// What is known about the bytes behind some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// They do not begin with a LF.
    NoLf,
    /// There are none.
    End,
}
