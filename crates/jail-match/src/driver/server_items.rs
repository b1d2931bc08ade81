//! Items a server already separated from the text: calls, and text of another channel.

use super::{
    Driver,
    value_text::ValueText,
    window::{Cursor, DriverState, Follows, Scan},
};
use crate::{
    body::BodyParsers, channel::Channel, limits::LimitError, sink::Sink, whitespace::Boundary,
};

/// A call or a change of channel that a server reports outside of the message's text.
///
/// A server that parses reasoning or calls sends them in fields of their own, without markers. The
/// host passes each one to [`Driver::server_item`]. Whitespace and anchors then behave as if a
/// marker had been there:
///
/// ```text
/// Channel(REASONING)   text "hm"   Channel(CONTENT)   text "so"   Call   text "\n"
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerItem {
    /// A call that the server separated from the text before it.
    Call,
    /// The text that follows belongs to this channel, until the next such item.
    Channel(Channel),
}

impl Driver {
    /// Records an item between two pieces of text.
    ///
    /// No marker and no candidate spans the item: text held for one is emitted first. Held
    /// whitespace is treated as whitespace next to markup.
    ///
    /// Returns `false` without recording the item if a call in the text is open or a body halted.
    /// The call continues after the item.
    ///
    /// # Errors
    /// See [`Driver::push`].
    pub fn server_item<B: BodyParsers + ?Sized>(
        &mut self,
        item: ServerItem,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<bool, LimitError> {
        match self.state {
            DriverState::Failed(error) => return Err(error),
            DriverState::Committed | DriverState::Halted(_) => return Ok(false),
            DriverState::Candidate(_) if item != ServerItem::Call && bodies.keeps_call() => {
                return Ok(false);
            }
            DriverState::Text | DriverState::Candidate(_) => {}
        }
        self.settle(bodies, sink)?;
        if !matches!(self.state, DriverState::Text) {
            // The held text turned out to be a call, or ended the message.
            return Ok(false);
        }
        self.message.interrupt(&self.table);
        self.message.value = ValueText::default();
        match item {
            ServerItem::Call => {
                self.emitter.boundary(Boundary::Call, self.channel(), sink);
                self.emitter.call_ended();
            }
            ServerItem::Channel(channel) if channel == self.channel() => {
                self.message.separate(channel);
                return Ok(true);
            }
            ServerItem::Channel(channel) => {
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

    /// Decides about all pending text. No marker in it may continue in the text to come.
    fn settle<B: BodyParsers + ?Sized>(
        &mut self,
        bodies: &mut B,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        self.quiet = false;
        if core::mem::take(&mut self.reading) {
            self.recover(0, bodies);
        }
        if !self.pending.is_empty() && matches!(self.state, DriverState::Text) {
            self.process_pending(Follows::NoMarker, bodies, sink)?;
        }
        while let DriverState::Candidate(candidate) = self.state {
            self.rescan_pending(Follows::NoMarker, |driver, window| {
                let cursor = Cursor { pos: window.text.len(), ..Cursor::at(0) };
                let scan = &mut Scan { window, cursor, bodies: &mut *bodies, sink: &mut *sink };
                driver.refute(candidate, scan);
                scan.bodies.end();
                driver.process_from(scan)
            })?;
        }
        Ok(())
    }
}
