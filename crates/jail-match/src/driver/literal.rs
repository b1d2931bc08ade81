//! Text that the caller knows to hold no markers.

use super::{
    Driver,
    window::{Cursor, DriverState, Follows, Scan, Window},
};
use crate::{body::BodyParsers, limits::LimitError, sink::Sink, stretch::Stretch};

impl Driver {
    /// Announces a stretch of the stream in which nothing is a marker, before any of it is fed.
    ///
    /// The stretch must start at or after [`Driver::position`] and after every stretch announced so
    /// far. An empty stretch has no effect.
    ///
    /// Use it for an escaped delimiter, or for text that is known not to be special tokens. Inside
    /// a call the stretch is data like any other.
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
            self.mark(Stretch { from, to: from + text.len() as u64 });
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
}
