//! Tracking of JSON strings inside a value: a tag inside such a string is data.
//!
//! ```text
//! {"k": "</parameter>"}</parameter>
//! Outside
//!       Inside: the tag is data
//!                      Outside: this tag ends the value
//! ```

/// Tracks the strings and brackets of a value that may be JSON.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shield {
    state: ShieldState,
    /// Number of open brackets.
    depth: u32,
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
    /// After a quote that ends the string if a comma, a colon or a bracket follows, or a tag.
    Quote(u8),
}

impl Shield {
    /// Creates a shield for a value that is JSON if it begins with a bracket.
    pub(super) fn of_json() -> Self {
        Self { state: ShieldState::Blank, depth: 0 }
    }

    /// Returns whether the position is inside a string.
    pub(super) fn is_up(self) -> bool {
        matches!(self.state, ShieldState::Inside(_) | ShieldState::Escape(_))
    }

    /// Returns whether no bracket and no string is open.
    pub(super) fn is_closed(self) -> bool {
        self.depth == 0 && !self.is_up()
    }

    /// Returns whether the value is an object or a list, and its last bracket was read.
    pub(super) fn is_whole(self) -> bool {
        self.depth == 0 && self.state == ShieldState::Outside
    }

    /// Reads the next text of the value.
    pub(super) fn feed(&mut self, text: &str) {
        if self.state == ShieldState::Off {
            return;
        }
        for byte in text.bytes() {
            self.state = match (self.state, byte) {
                (ShieldState::Blank, b'{' | b'[') => {
                    self.depth = 1;
                    ShieldState::Outside
                }
                (ShieldState::Blank, byte) if byte.is_ascii_whitespace() => ShieldState::Blank,
                (ShieldState::Off | ShieldState::Blank, _) => ShieldState::Off,
                (ShieldState::Inside(quote), _) if byte == quote => ShieldState::Quote(quote),
                (ShieldState::Inside(quote), b'\\') => ShieldState::Escape(quote),
                (ShieldState::Inside(quote) | ShieldState::Escape(quote), _) => {
                    ShieldState::Inside(quote)
                }
                (ShieldState::Quote(_), b',' | b':' | b'}' | b']' | b')')
                | (ShieldState::Outside, _) => self.structure(byte),
                (ShieldState::Quote(_), byte) if byte.is_ascii_whitespace() => self.state,
                (ShieldState::Quote(quote), _) if byte == quote => ShieldState::Quote(quote),
                (ShieldState::Quote(quote), b'\\') => ShieldState::Escape(quote),
                (ShieldState::Quote(quote), _) => ShieldState::Inside(quote),
            };
        }
    }

    /// Returns the state after `byte`, which is outside of strings.
    fn structure(&mut self, byte: u8) -> ShieldState {
        match byte {
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            // Scripts and Python also write strings in single quotes.
            b'"' | b'\'' => return ShieldState::Inside(byte),
            _ => {}
        }
        ShieldState::Outside
    }
}
