//! Ready-made collectors, all of them bounded.

mod chat;
mod message;
mod text;

pub use chat::ChatCollector;
pub use message::{MessageCollector, message_json};
pub use text::TextCollector;

/// Counts what is kept, and says what of a text still fits.
#[derive(Debug, Clone)]
struct Room {
    left: usize,
    truncated: bool,
}

impl Room {
    /// The most bytes a collector keeps unless told otherwise.
    const DEFAULT: usize = 16 << 20;

    const fn new(limit: usize) -> Self {
        Self { left: limit, truncated: false }
    }

    /// Takes room for `bytes` more, or none: what is kept is a prefix of what was said.
    fn take(&mut self, bytes: usize) -> bool {
        self.truncated |= bytes > self.left;
        if !self.truncated {
            self.left -= bytes;
        }
        !self.truncated
    }

    /// What of `text` fits.
    fn cut<'t>(&mut self, text: &'t str) -> &'t str {
        let most = if self.truncated { 0 } else { self.left.min(text.len()) };
        let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.truncated |= fits < text.len();
        self.left -= fits;
        &text[..fits]
    }
}
