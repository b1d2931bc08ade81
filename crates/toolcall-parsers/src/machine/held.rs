//! The text that the machine holds, and the state it keeps.

use super::{
    call::{ActiveReader, Machine, MachineState},
    object::ObjectAt,
};
use crate::{calls::Calls, decoded::Decoder};

impl Machine {
    /// How many bytes nothing came of yet, beyond what the driver keeps: of a call that is
    /// announced, those of its arguments that their reader keeps; of one that is not, all.
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

    /// Live bytes in buffers that grow with input.
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
