//! Tracking of JSON strings inside a value: a tag inside such a string is data.
//!
//! ```text
//! {"k": "</parameter>"}</parameter>
//! Outside
//!       Inside: the tag is data
//!                      Outside: this tag ends the value
//! ```

/// Tracks whether the text so far ends inside a JSON string.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shield {
    state: ShieldState,
}

/// The position in the value's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ShieldState {
    /// The value is not JSON.
    #[default]
    Off,
    /// Nothing but whitespace was read.
    Blank,
    Outside,
    /// Inside a string that ends with this quote.
    Inside(u8),
    /// After a backslash inside a string with this quote.
    Escape(u8),
}

impl Shield {
    /// Creates a shield for a value that is JSON if it begins with a bracket.
    pub(super) fn of_json() -> Self {
        Self { state: ShieldState::Blank }
    }

    /// Returns whether the position is inside a string.
    pub(super) fn is_up(self) -> bool {
        matches!(self.state, ShieldState::Inside(_) | ShieldState::Escape(_))
    }

    /// Reads the next text of the value.
    pub(super) fn feed(&mut self, text: &str) {
        if self.state == ShieldState::Off {
            return;
        }
        for byte in text.bytes() {
            self.state = match (self.state, byte) {
                (ShieldState::Blank, b'{' | b'[') => ShieldState::Outside,
                (ShieldState::Blank, byte) if byte.is_ascii_whitespace() => ShieldState::Blank,
                (ShieldState::Off | ShieldState::Blank, _) => ShieldState::Off,
                // Scripts and Python also write strings in single quotes.
                (ShieldState::Outside, b'"' | b'\'') => ShieldState::Inside(byte),
                (ShieldState::Inside(quote), _) if byte == quote => ShieldState::Outside,
                (ShieldState::Inside(quote), b'\\') => ShieldState::Escape(quote),
                (ShieldState::Inside(quote) | ShieldState::Escape(quote), _) => {
                    ShieldState::Inside(quote)
                }
                (ShieldState::Outside, _) => ShieldState::Outside,
            };
        }
    }
}
