//! The cursor: the driver and the bodies it hands control to.

use jail_match::{Diagnostic, DiagnosticKind, Driver, End, Held, LimitError, Sink};
use wire_remap::Piece;

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

    /// Reads text of which a wire decoder knows whether its markers are markers.
    pub(super) fn read<S: Sink + ?Sized>(
        &mut self,
        piece: Piece<'_>,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        let text = piece.text();
        match piece {
            // Escaped on the wire, or quoted: it looks like a delimiter and is none.
            Piece::Literal(_) => return self.literal(text, sink),
            Piece::Marker(marker) if !marker.counts => return self.literal(text, sink),
            Piece::Suspect(suspect) => {
                let (kind, at) = (DiagnosticKind::DamagedMarker, self.driver.position());
                sink.event(Diagnostic::new(kind, at, suspect.text.len() as u64).into());
            }
            _ => {}
        }
        self.push(text, sink)
    }

    fn literal<S: Sink + ?Sized>(&mut self, text: &str, sink: &mut S) -> Result<(), LimitError> {
        self.driver.push_literal(text, &mut self.bodies, sink)
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
