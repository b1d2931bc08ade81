//! Text that is known to hold no markers.

use super::{
    Driver,
    window::{Cursor, Mode, Window},
};
use crate::{body::BodyParsers, limits::LimitError, sink::Sink};

impl Driver {
    /// Feeds text in which nothing is a marker, whatever it looks like: an escaped delimiter,
    /// or text a caller knows not to be special tokens. Inside a call it is data like any other.
    ///
    /// What was held as the possible start of a marker is settled first.
    ///
    /// # Errors
    /// As [`Driver::push`].
    pub fn push_literal<S, B>(
        &mut self,
        text: &str,
        bodies: &mut B,
        sink: &mut S,
    ) -> Result<(), LimitError>
    where
        S: Sink + ?Sized,
        B: BodyParsers<S> + ?Sized,
    {
        if matches!(self.mode, Mode::Text) && !self.buf.is_empty() {
            self.process_held(None, true, bodies, sink)?;
        }
        if !matches!(self.mode, Mode::Text) {
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
}
