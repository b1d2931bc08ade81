//! Tracking of strings and brackets in JSON text that may arrive in pieces.

/// A tracker of strings in JSON text, fed byte by byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct StringTracker {
    open: bool,
    escaped: bool,
}

impl StringTracker {
    /// Reads the next byte and returns whether it is part of a string, quotes included.
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

/// A check whether JSON text that arrives in pieces, such as a call's arguments, is whole. Text is
/// whole if its brackets outside of strings match.
///
/// ```
/// let mut arguments = llm_stream_guard::chat::Balance::default();
/// arguments.feed("{\"a\": \"}");
/// assert!(!arguments.is_closed());
/// arguments.feed("\"}");
/// assert!(arguments.is_closed());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Balance {
    opened: bool,
    depth: usize,
    strings: StringTracker,
}

impl Balance {
    /// Reads the next piece.
    pub fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.strings.take(byte) => {}
                b'{' | b'[' => {
                    self.depth = self.depth.saturating_add(1);
                    self.opened = true;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether an object or a list has begun and ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.strings.is_open()
    }
}
