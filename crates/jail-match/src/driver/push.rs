//! Going through text: the caller's chunk, with what was held before it.

use super::{
    Driver, candidate,
    window::{Cursor, Mode, Window},
};
use crate::{
    body::{BodyParsers, End, Feed, Resume},
    channel::Channel,
    chars::ceil_char_boundary,
    limits::LimitError,
    sink::{Sink, SpanKind},
};

impl Driver {
    /// The way of the steady state inside a call: the body takes the chunk as it is.
    #[inline]
    pub(super) fn push_committed<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.counters.bytes_in += chunk.len() as u64;
        let feed = bodies.feed(chunk, sink);
        self.counters.examined += candidate::looked_at(feed, chunk, bodies);
        let (used, done) = match feed {
            // Almost every chunk of a long call: nothing of it stays here.
            Feed::Committed { used } if used == chunk.len() => {
                self.base += used as u64;
                self.account_body(self.base, bodies.held(), sink);
                return Ok(());
            }
            Feed::More { used } | Feed::Committed { used } => (used, None),
            Feed::Done { used, then } | Feed::Markup { used, then } => (used, Some(then)),
            // Against the contract; what was committed stays so.
            Feed::Text { .. } | Feed::Mismatch { .. } | Feed::Literal { .. } => {
                (0, Some(Resume::SameChannel))
            }
        };
        self.base += used as u64;
        match done {
            None => {
                self.account_body(self.base, bodies.held(), sink);
                self.buf.push_str(&chunk[used..]);
                self.counters.held_max = self.counters.held_max.max(self.buffered());
            }
            Some(then) => {
                self.account_body(self.base, 0, sink);
                self.body_done(then, true, self.base, sink);
                bodies.end();
                return self.push_slow(&chunk[used..], bodies, sink);
            }
        }
        Ok(())
    }

    pub(super) fn push_slow<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.quiet = false;
        if let Mode::Failed(error) = self.mode {
            return Err(error);
        }
        let mut rest = chunk;
        let mut step = self.table.longest().max(16) + 4;
        while !rest.is_empty() {
            if self.buf.is_empty() {
                let window = Window { text: rest, base: self.base, ended: None, settled: false };
                let keep = self.process(window, bodies, sink)?;
                self.buf.push_str(&rest[keep..]);
                self.base += keep as u64;
                break;
            }
            // Something is held: decide about it with as little of the chunk as will do.
            let cut = ceil_char_boundary(rest, step);
            step *= 2;
            let before = self.buf.len();
            self.buf.push_str(&rest[..cut]);
            let keep = self.process_held(None, false, bodies, sink)?;
            if cut == rest.len() {
                break;
            }
            if keep >= before {
                // What is still held came from this chunk: go on there, without copying.
                self.buf.clear();
                rest = &rest[keep - before..];
            } else {
                rest = &rest[cut..];
            }
        }
        self.counters.held_max = self.counters.held_max.max(self.buffered());
        self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
        self.stretches.forget_until(self.base);
        self.quiet = matches!(self.mode, Mode::Text)
            && self.buf.is_empty()
            && self.stretches.is_empty()
            && self.swallow == 0
            && self.emitter.passes(self.channel())
            && self.channel() != Channel::HIDDEN
            && (!self.tracks() || self.code.is_settled());
        Ok(())
    }

    /// Processes the held text; returns how much of it is no longer held.
    pub(super) fn process_held<B: BodyParsers + ?Sized>(
        &mut self,
        ended: Option<End>,
        settled: bool,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<usize, LimitError> {
        let mut text = core::mem::take(&mut self.buf);
        let window = Window { text: &text, base: self.base, ended, settled };
        let keep = self.process(window, bodies, sink)?;
        self.base += keep as u64;
        text.drain(..keep);
        self.buf = text;
        Ok(keep)
    }

    /// Goes through a window; returns the index from which its text must be held.
    fn process<B: BodyParsers + ?Sized>(
        &mut self,
        w: Window<'_>,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<usize, LimitError> {
        let mut c = Cursor::at(0);
        if let Mode::Candidate(candidate) = self.mode {
            c.pos = candidate.fed;
        }
        self.process_from(c, w, bodies, sink)
    }

    /// The same from a place in the window.
    pub(super) fn process_from<B: BodyParsers + ?Sized>(
        &mut self,
        mut c: Cursor,
        w: Window<'_>,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<usize, LimitError> {
        loop {
            let in_body = self.is_in_body();
            let stepped = match self.mode {
                Mode::Text => Ok(self.scan_text(&w, &mut c, bodies, sink)),
                Mode::Candidate(candidate) => {
                    self.feed_candidate(candidate, &w, &mut c, bodies, sink)
                }
                Mode::Committed => Ok(self.feed_committed(&w, &mut c, bodies, sink)),
                Mode::Halted(_) => {
                    self.account(SpanKind::Dropped, &w, c.out, w.text.len(), sink);
                    return Ok(w.text.len());
                }
                Mode::Failed(error) => return Err(error),
            };
            if in_body && !self.is_in_body() {
                bodies.end();
            }
            let go_on = stepped?;
            self.check_reasoning(sink)?;
            if !go_on {
                return Ok(c.out);
            }
        }
    }
}
