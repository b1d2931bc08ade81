//! Accounting: the bytes that the machine holds, and the size of its buffers.

use super::{
    call::{ActiveReader, Machine, MachineState},
    object::ObjectAt,
};
use crate::{calls::Calls, decoded::Decoder};

impl Machine {
    /// Returns the number of bytes that were read but not emitted, beyond those in the driver. For
    /// a started call these are the bytes held by the reader of its arguments. Otherwise they are
    /// all bytes of the call.
    pub(crate) fn held(&self, calls: &Calls) -> usize {
        if !calls.committed() {
            return 0;
        }
        let item = || usize::try_from(calls.at.saturating_sub(self.item_at)).unwrap_or(usize::MAX);
        match self.state {
            MachineState::Arguments if calls.is_open() || self.object.answered => match self.reader
            {
                ActiveReader::Object if self.object.at == ObjectAt::Key => item(),
                ActiveReader::Value | ActiveReader::Object => {
                    self.value.held().saturating_add(calls.decoder().map_or(0, Decoder::held))
                }
                ActiveReader::Parameters => self.parameters.held(),
                ActiveReader::Elements => self.elements.held(),
                ActiveReader::None => 0,
            },
            MachineState::Arguments if self.object.is_listed() => 0,
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
            MachineState::Field => self.field.len().saturating_add(self.attributes.held()),
            MachineState::Arguments => [
                self.value.buffered(),
                self.object.buffered(),
                self.parameters.buffered(),
                self.elements.buffered(),
                self.early.len(),
                self.text.len(),
            ]
            .iter()
            .sum(),
            _ => 0,
        }
    }
}
