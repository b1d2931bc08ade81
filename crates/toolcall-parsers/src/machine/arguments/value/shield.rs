//! Strings of JSON inside a value: a tag in one is data.

/// Whether the text so far ends inside a string of JSON.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shield {
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// The value is not JSON.
    #[default]
    Off,
    /// Nothing but whitespace was read.
    Blank,
    Outside,
    /// In a string that ends with this quote.
    Inside(u8),
    /// After a backslash in it.
    Escape(u8),
}

impl Shield {
    /// A shield for a value that is JSON if it begins as an object or an array does.
    pub(super) fn of_json() -> Self {
        Self { state: State::Blank }
    }

    /// Whether a tag here is inside a string.
    pub(super) fn is_up(self) -> bool {
        matches!(self.state, State::Inside(_) | State::Escape(_))
    }

    /// Reads the next text of the value.
    pub(super) fn feed(&mut self, text: &str) {
        if self.state == State::Off {
            return;
        }
        for byte in text.bytes() {
            self.state = match (self.state, byte) {
                (State::Blank, b'{' | b'[') => State::Outside,
                (State::Blank, byte) if byte.is_ascii_whitespace() => State::Blank,
                (State::Off | State::Blank, _) => State::Off,
                // Scripts and Python write strings in single quotes, too.
                (State::Outside, b'"' | b'\'') => State::Inside(byte),
                (State::Inside(quote), _) if byte == quote => State::Outside,
                (State::Inside(quote), b'\\') => State::Escape(quote),
                (State::Inside(quote) | State::Escape(quote), _) => State::Inside(quote),
                (State::Outside, _) => State::Outside,
            };
        }
    }
}
