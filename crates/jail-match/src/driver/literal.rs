//! Text of which a caller knows more than the driver can see.

use super::{
    Driver,
    window::{Cursor, Mode, Window},
};
use crate::{body::BodyParsers, limits::LimitError, sink::Sink, stretch::Stretch};

impl Driver {
    /// Says how a stretch of the stream is to be read, before any of it is fed: behind every
    /// stretch said so far, and not before [`Driver::position`]. An empty one says nothing.
    ///
    /// In a literal stretch nothing is a marker, whatever it looks like: an escaped delimiter, or
    /// text a caller knows not to be special tokens. Inside a call it is data like any other. What
    /// is shown in place of a stretch is emitted where that is text, and nowhere else; lines,
    /// fences and offsets go by what was fed.
    pub fn mark(&mut self, stretch: Stretch) {
        debug_assert!(stretch.from >= self.base);
        self.stretches.forget_until(self.base);
        if stretch.from < stretch.to {
            self.quiet = false;
            self.stretches.push(stretch);
        }
    }

    /// Feeds text in which nothing is a marker: [`Driver::mark`], and a push.
    ///
    /// What was held as the possible start of a marker is settled first.
    ///
    /// # Errors
    /// As [`Driver::push`].
    pub fn push_literal<B: BodyParsers + ?Sized>(
        &mut self,
        text: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        if matches!(self.mode, Mode::Text) && !self.buf.is_empty() {
            self.process_held(None, true, bodies, sink)?;
        }
        let from = self.position();
        if !matches!(self.mode, Mode::Text) {
            self.mark(Stretch { from, to: from + text.len() as u64, literal: true, shown: None });
            return self.push(text, bodies, sink);
        }
        self.counters.bytes_in += text.len() as u64;
        self.counters.examined += text.len() as u64;
        self.quiet = false;
        self.swallow = 0;
        let window = Window { text, base: self.base, ended: None, settled: true };
        let mut cursor = Cursor::at(0);
        self.flush_text(&window, &mut cursor, text.len(), sink);
        self.base += text.len() as u64;
        Ok(())
    }

    /// Emits `from..to` of the window in the current channel, with what is shown in place of it.
    pub(super) fn emit(&mut self, w: &Window<'_>, from: usize, to: usize, sink: &mut dyn Sink) {
        let channel = self.channel();
        let Self { stretches, emitter, .. } = self;
        let (mut done, end) = (w.base + from as u64, w.base + to as u64);
        let piece = |from: u64, to: u64| &w.text[(from - w.base) as usize..(to - w.base) as usize];
        for stretch in stretches.in_range_mut(done, end) {
            let Some(shown) = &mut stretch.shown else { continue };
            if stretch.from >= done {
                emitter.emit(channel, piece(done, stretch.from), done, sink);
                emitter.emit(channel, shown, stretch.from, sink);
                // What is left of it, if it is cut here, was shown.
                shown.clear();
            } else if !shown.is_empty() {
                // It began as markup: the rest is itself.
                continue;
            }
            done = stretch.to.min(end);
        }
        emitter.emit(channel, piece(done, end), done, sink);
    }
}
