//! Accounting: the bytes that the machine holds, and the size of its buffers.

use super::{call::Machine, state::MachineState};
use crate::{calls::Calls, decoded::Decoder};

impl Machine {
    /// Returns the number of bytes that were read but not emitted, beyond those in the driver. For
    /// a started call these are the bytes held by the reader of its arguments. Otherwise they are
    /// all bytes of the call.
    #[inline]
    pub(crate) fn held(&self, calls: &Calls) -> usize {
        if !calls.committed() {
            return 0;
        }
        let (begins, readers) = (self.call.item_at, &self.readers);
        let item = || usize::try_from(calls.at.saturating_sub(begins)).unwrap_or(usize::MAX);
        match self.state {
            MachineState::Arguments if calls.is_open() || readers.object.answered => {
                let decoded = calls.decoder().map_or(0, Decoder::held);
                let decoded = decoded.saturating_add(calls.held_keys(readers.value.is_literal()));
                readers.held(decoded).unwrap_or_else(item)
            }
            MachineState::Arguments if readers.object.is_listed() => 0,
            MachineState::Message
            | MachineState::Header
            | MachineState::Field
            | MachineState::Arguments => item(),
            _ => 0,
        }
    }

    /// Returns the number of bytes in buffers that grow with input.
    pub(crate) fn buffered(&self) -> usize {
        match self.state {
            MachineState::Field => {
                self.header.field.len().saturating_add(self.header.attributes.held())
            }
            MachineState::Arguments => {
                [self.readers.buffered(), self.call.early.len(), self.skipped.text.len()]
                    .iter()
                    .sum()
            }
            _ => 0,
        }
    }
}
