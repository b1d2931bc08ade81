//! Feeding text: the caller's chunk, with the pending text before it.

use super::{
    Driver, candidate,
    value_text::ValueText,
    window::{Cursor, DriverState, Follows, Scan, Window},
};
use crate::{
    body::{BodyParsers, Verdict},
    channel::Channel,
    limits::LimitError,
    sink::{Sink, SpanKind},
};

impl Driver {
    /// Feeds a chunk to a committed body that has nothing pending: the steady state inside a call.
    #[inline]
    pub(super) fn push_committed<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.counters.bytes_in += chunk.len() as u64;
        if self.reading {
            return self.push_slow(chunk, bodies, sink);
        }
        self.reading = true;
        let feed = bodies.feed(chunk, sink);
        self.counters.examined += candidate::looked_at(feed, chunk, bodies);
        if matches!(feed.verdict, Verdict::Certain) && feed.used == chunk.len() {
            // The common case: almost every chunk of a long call is consumed whole.
            self.base += chunk.len() as u64;
            self.account_body(self.base, bodies.held(), sink);
            self.reading = false;
            return Ok(());
        }
        let (used, done) = feed.of_committed();
        self.base += used as u64;
        match done {
            None => {
                self.account_body(self.base, bodies.held(), sink);
                self.pending.keep(&chunk[used..]);
                self.counters.held_max = self.counters.held_max.max(self.buffered());
            }
            Some(then) => {
                self.account_body(self.base, 0, sink);
                self.body_done(then, self.base, sink);
                bodies.end();
                self.reading = false;
                return self.push_slow(&chunk[used..], bodies, sink);
            }
        }
        self.reading = false;
        Ok(())
    }

    /// Begins to read a chunk of `len` bytes, or the pending text. If the sink or a body panicked in
    /// the last call, what the driver held is lost, an open body ends, and the text is read in the
    /// same channel.
    fn begin_reading<B: BodyParsers + ?Sized>(&mut self, len: usize, bodies: &mut B) {
        if core::mem::replace(&mut self.reading, true) {
            self.recover(len, bodies);
        }
    }

    #[cold]
    pub(super) fn recover<B: BodyParsers + ?Sized>(&mut self, len: usize, bodies: &mut B) {
        self.pending.clear();
        self.base = self.counters.bytes_in.saturating_sub(len as u64);
        self.stretches.clear();
        self.emitter.reset();
        (self.message.swallow, self.message.value) = (0, ValueText::default());
        if self.is_in_body() {
            bodies.end();
            self.state = DriverState::Text;
        }
    }

    /// Feeds a chunk in any state.
    pub(super) fn push_slow<B: BodyParsers + ?Sized>(
        &mut self,
        chunk: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.quiet = false;
        if let DriverState::Failed(error) = self.state {
            return Err(error);
        }
        self.begin_reading(chunk.len(), bodies);
        let step = self.table.longest().max(16) + 4;
        let mut pending = core::mem::take(&mut self.pending);
        let pushed = pending.push(chunk, step, |text| {
            let window = Window { text, base: self.base, follows: Follows::More };
            let keep = self.process(window, bodies, sink)?;
            self.base += keep as u64;
            Ok(keep)
        });
        self.pending = pending;
        self.reading = false;
        pushed?;
        self.counters.held_max = self.counters.held_max.max(self.buffered());
        self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
        self.stretches.forget_until(self.base);
        self.quiet = matches!(self.state, DriverState::Text)
            && self.pending.is_empty()
            && self.stretches.is_empty()
            && self.message.swallow == 0
            && self.message.mentions.is_settled()
            && self.message.value.is_over()
            && self.emitter.passes(self.channel())
            && self.channel() != Channel::HIDDEN
            && (!self.tracks() || self.message.code.is_settled());
        Ok(())
    }

    /// Reads the pending text again with the knowledge of what follows it.
    pub(super) fn process_pending<B: BodyParsers + ?Sized>(
        &mut self,
        follows: Follows,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.begin_reading(0, bodies);
        self.rescan_pending(follows, |driver, window| driver.process(window, bodies, sink))
    }

    /// Reads the pending text with `read`, which returns the index from which it stays pending.
    pub(super) fn rescan_pending(
        &mut self,
        follows: Follows,
        read: impl FnOnce(&mut Self, Window<'_>) -> Result<usize, LimitError>,
    ) -> Result<(), LimitError> {
        self.reading = true;
        let mut pending = core::mem::take(&mut self.pending);
        let base = self.base;
        let keep = pending.rescan(|text| read(self, Window { text, base, follows }));
        self.pending = pending;
        self.reading = false;
        self.base += keep? as u64;
        Ok(())
    }

    /// Reads a window and returns the index from which its text must stay pending.
    fn process<B: BodyParsers + ?Sized>(
        &mut self,
        window: Window<'_>,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<usize, LimitError> {
        let mut cursor = Cursor::at(0);
        if let DriverState::Candidate(candidate) = self.state {
            cursor.pos = candidate.fed;
        }
        self.process_from(&mut Scan { window, cursor, bodies, sink })
    }

    /// Reads a window from the scan's cursor on.
    pub(super) fn process_from<B: BodyParsers + ?Sized>(
        &mut self,
        scan: &mut Scan<'_, B>,
    ) -> Result<usize, LimitError> {
        self.message.value.look(scan.window.bytes(), scan.window.base);
        loop {
            let in_body = self.is_in_body();
            let stepped = match self.state {
                DriverState::Text => Ok(self.scan_text(scan)),
                DriverState::Candidate(candidate) => self.feed_candidate(candidate, scan),
                DriverState::Committed => Ok(self.feed_committed(scan)),
                DriverState::Halted(_) => {
                    let end = scan.window.text.len();
                    scan.account(SpanKind::Dropped, scan.cursor.out..end);
                    return Ok(end);
                }
                DriverState::Failed(error) => return Err(error),
            };
            if in_body && !self.is_in_body() {
                scan.bodies.end();
            }
            let go_on = stepped?;
            self.check_reasoning(scan.sink)?;
            if !go_on {
                return Ok(scan.cursor.out);
            }
        }
    }
}
