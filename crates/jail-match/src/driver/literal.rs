//! Text that the caller knows more about than its bytes show.

use super::{
    Driver,
    window::{Cursor, DriverState, Follows, Scan, Window},
};
use crate::{
    body::BodyParsers, limits::LimitError, sink::Sink, stretch::Stretch, whitespace::TextPiece,
};

impl Driver {
    /// Announces how a stretch of the stream is to be read, before any of it is fed.
    ///
    /// The stretch must start at or after [`Driver::position`] and after every stretch announced so
    /// far. An empty stretch has no effect.
    ///
    /// In a literal stretch nothing is a marker: it is an escaped delimiter, or text known not to
    /// be special tokens. Inside a call it is data like any other. The replacement of a stretch is
    /// emitted where the stretch is text, and nowhere else. Lines, fences and offsets follow the
    /// text that was fed.
    pub fn mark(&mut self, stretch: Stretch) {
        debug_assert!(stretch.from >= self.base);
        self.stretches.forget_until(self.base);
        if stretch.from < stretch.to {
            self.quiet = false;
            self.stretches.push(stretch);
        }
    }

    /// Feeds text in which nothing is a marker: [`Driver::mark`] and [`Driver::push`] in one.
    ///
    /// Text held as the possible start of a marker is decided first.
    ///
    /// # Errors
    /// See [`Driver::push`].
    pub fn push_literal<B: BodyParsers + ?Sized>(
        &mut self,
        text: &str,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        if matches!(self.state, DriverState::Text) && !self.pending.is_empty() {
            self.process_pending(Follows::NoMarker, bodies, sink)?;
        }
        let from = self.position();
        if !matches!(self.state, DriverState::Text) {
            self.mark(Stretch { from, to: from + text.len() as u64, literal: true, shown: None });
            return self.push(text, bodies, sink);
        }
        self.counters.bytes_in += text.len() as u64;
        self.counters.examined += text.len() as u64;
        self.quiet = false;
        self.message.swallow = 0;
        let window = Window { text, base: self.base, follows: Follows::NoMarker };
        self.flush_text(&mut Scan { window, cursor: Cursor::at(0), bodies, sink }, text.len());
        self.base += text.len() as u64;
        Ok(())
    }

    /// Emits the text up to `to`, with the replacements of its stretches.
    pub(super) fn emit_stretches<B: ?Sized>(&mut self, scan: &mut Scan<'_, B>, to: usize) {
        let channel = self.channel();
        let Self { stretches, emitter, .. } = self;
        let Window { text, base, .. } = scan.window;
        let (mut done, end) = (scan.window.offset(scan.cursor.out), scan.window.offset(to));
        let piece = |from: u64, to: u64| {
            let text = &text[(from - base) as usize..(to - base) as usize];
            TextPiece { channel, text, at: from }
        };
        for stretch in stretches.in_range_mut(done, end) {
            let Some(shown) = &mut stretch.shown else { continue };
            if stretch.from >= done {
                emitter.emit(piece(done, stretch.from), scan.sink);
                emitter.emit(TextPiece { channel, text: shown, at: stretch.from }, scan.sink);
                // The rest of the stretch, if the window cuts it, is already shown.
                shown.clear();
            } else if !shown.is_empty() {
                // The stretch began as markup: its rest is emitted unchanged.
                continue;
            }
            done = stretch.to.min(end);
        }
        emitter.emit(piece(done, end), scan.sink);
    }
}
