//! What a caller learns beside the text: a call or a channel that a server told apart itself.

use super::{
    Driver,
    window::{Cursor, Mode, Window},
};
use crate::{
    body::BodyParsers, channel::Channel, limits::LimitError, sink::Sink, whitespace::Boundary,
};

/// What stands between two pieces of text without being text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// A call that was told from the text before.
    Call,
    /// Text that follows belongs to this channel, until told otherwise.
    Channel(Channel),
}

/// Whether a server told reasoning of the message apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    Never,
    /// Text goes to it now.
    Now,
    Before,
}

impl Driver {
    /// Takes note of what stands here. No marker and no candidate spans it: what is held as such
    /// is text and comes out first; whitespace that is held frames it as it would frame markup.
    ///
    /// `false` if nothing was done: a call of the text is open, which goes on behind this place,
    /// or a body halted.
    ///
    /// # Errors
    /// As [`Driver::push`].
    pub fn aside<B: BodyParsers + ?Sized>(
        &mut self,
        what: Aside,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<bool, LimitError> {
        match self.mode {
            Mode::Failed(error) => return Err(error),
            Mode::Committed | Mode::Halted(_) => return Ok(false),
            Mode::Text | Mode::Candidate(_) => {}
        }
        self.settle(bodies, sink)?;
        if !matches!(self.mode, Mode::Text) {
            // What was held made a call, or ended the text.
            return Ok(false);
        }
        match what {
            Aside::Call => {
                self.emitter.boundary(Boundary::Call, self.channel(), sink);
                self.emitter.call_ended();
            }
            Aside::Channel(channel) if channel == self.channel() => {
                self.told(channel);
                return Ok(true);
            }
            Aside::Channel(channel) => {
                while !self.stack.is_empty() {
                    self.leave(sink);
                }
                if channel != Channel::CONTENT {
                    self.enter(channel, 0, sink);
                }
                self.told(channel);
            }
        }
        (self.quiet, self.swallow) = (false, 0);
        self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
        self.check_reasoning(sink)?;
        Ok(true)
    }

    fn told(&mut self, channel: Channel) {
        self.apart = match (channel, self.apart) {
            (Channel::REASONING, _) => Apart::Now,
            (_, Apart::Never) => Apart::Never,
            _ => Apart::Before,
        };
    }

    /// Decides about everything held but whitespace, as if no marker went on.
    fn settle<B: BodyParsers + ?Sized>(
        &mut self,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.quiet = false;
        if !self.buf.is_empty() && matches!(self.mode, Mode::Text) {
            self.process_held(None, true, bodies, sink)?;
        }
        while let Mode::Candidate(candidate) = self.mode {
            let mut text = core::mem::take(&mut self.buf);
            let window = Window { text: &text, base: self.base, ended: None, settled: true };
            let mut cursor = Cursor::at(0);
            cursor.pos = candidate.fed;
            self.refute(candidate, &window, &mut cursor, text.len(), sink);
            bodies.end();
            let keep = self.process_from(cursor, window, bodies, sink)?;
            self.base += keep as u64;
            text.drain(..keep);
            self.buf = text;
        }
        Ok(())
    }
}
