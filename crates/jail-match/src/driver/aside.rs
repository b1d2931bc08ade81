//! Items a server already separated from the text: calls, and text of another channel.

use super::{
    Driver,
    window::{Cursor, DriverState, Follows, Scan, Window},
};
use crate::{
    body::BodyParsers, channel::Channel, limits::LimitError, sink::Sink, whitespace::Boundary,
};

/// An item between two pieces of text that is not text itself.
///
/// A server that parses reasoning sends it apart from the content. The host reports each change
/// with [`Driver::aside`], so that whitespace and anchors behave as if a marker had been there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// A call that the server separated from the text before it.
    Call,
    /// The text that follows belongs to this channel, until the next such item.
    Channel(Channel),
}

impl Driver {
    /// Records an item between two pieces of text.
    ///
    /// No marker and no candidate spans it: text held as such is emitted first. Whitespace that is
    /// held frames the item as it would frame markup.
    ///
    /// Returns `false` without recording the item if a call of the text is open, which continues
    /// after the item, or if a body halted.
    ///
    /// # Errors
    /// See [`Driver::push`].
    pub fn aside<B: BodyParsers + ?Sized>(
        &mut self,
        what: Aside,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<bool, LimitError> {
        match self.state {
            DriverState::Failed(error) => return Err(error),
            DriverState::Committed | DriverState::Halted(_) => return Ok(false),
            DriverState::Text | DriverState::Candidate(_) => {}
        }
        self.settle(bodies, sink)?;
        if !matches!(self.state, DriverState::Text) {
            // The text held was a call, or ended the message.
            return Ok(false);
        }
        self.message.interrupt(&self.table);
        match what {
            Aside::Call => {
                self.emitter.boundary(Boundary::Call, self.channel(), sink);
                self.emitter.call_ended();
            }
            Aside::Channel(channel) if channel == self.channel() => {
                self.message.separate(channel);
                return Ok(true);
            }
            Aside::Channel(channel) => {
                while !self.message.open.is_empty() {
                    self.leave(sink);
                }
                if channel != Channel::CONTENT {
                    self.enter(channel, 0, sink);
                }
                self.message.separate(channel);
            }
        }
        (self.quiet, self.message.swallow) = (false, 0);
        self.counters.reasoning_bytes = self.emitter.reasoning_bytes();
        self.check_reasoning(sink)?;
        Ok(true)
    }

    /// Decides about all pending text, as if no marker continued after it.
    fn settle<B: BodyParsers + ?Sized>(
        &mut self,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.quiet = false;
        if !self.pending.is_empty() && matches!(self.state, DriverState::Text) {
            self.process_pending(Follows::NoMarker, bodies, sink)?;
        }
        while let DriverState::Candidate(candidate) = self.state {
            let mut pending = core::mem::take(&mut self.pending);
            let base = self.base;
            let keep = pending.rescan(|text| {
                let window = Window { text, base, follows: Follows::NoMarker };
                let cursor = Cursor { pos: text.len(), ..Cursor::at(0) };
                let scan = &mut Scan { window, cursor, bodies: &mut *bodies, sink: &mut *sink };
                self.refute(candidate, scan);
                scan.bodies.end();
                self.process_from(scan)
            });
            self.pending = pending;
            self.base += keep? as u64;
        }
        Ok(())
    }
}
