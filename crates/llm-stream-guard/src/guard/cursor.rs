//! The cursor: the driver and the bodies it hands control to.

use jail_match::{Driver, End, Held, LimitError, Sink};

use super::payload::GuidedParser;

/// Reads the text of a message, all input stages passed.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    pub(super) driver: Driver,
    pub(super) bodies: GuidedParser,
}

impl Cursor {
    pub(super) fn reset(&mut self) {
        self.driver.reset();
        self.bodies.reset();
    }

    #[inline]
    pub(super) fn push<S: Sink + ?Sized>(
        &mut self,
        text: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        self.driver.push(text, &mut self.bodies, sink)
    }

    pub(super) fn finish<S: Sink + ?Sized>(
        &mut self,
        end: End,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        self.driver.finish(end, &mut self.bodies, sink)
    }

    pub(super) fn held(&self) -> Held {
        toolcall_parsers::held(&self.driver, self.bodies.buffered())
    }

    pub(super) fn buffered(&self) -> usize {
        self.driver.buffered() + self.bodies.buffered()
    }
}
