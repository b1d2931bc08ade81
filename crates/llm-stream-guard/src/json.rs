//! Where the strings of JSON text begin and end, whole or not, in pieces or not.

/// Follows JSON text byte by byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings {
    open: bool,
    escaped: bool,
}

impl Strings {
    /// Takes the next byte, and says whether it is part of a string, quotes included.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.open => self.escaped = true,
            b'"' => self.open = !self.open,
            _ => return self.open,
        }
        true
    }

    /// Whether a string has begun and not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }
}
