//! Marker tokens in text that the search for stop strings holds back.
//!
//! ```text
//! stop string "END"
//! text "E"           held back: it may begin the stop string
//! marker "<think>"   not the stop string: "E" is passed on as text, "<think>" as a marker token
//! ```

use std::collections::VecDeque;

use super::tokens::{Token, TokenKind};

/// A record of which parts of held text are marker tokens.
///
/// Stop strings are searched in the raw text, marker tokens included, and their beginnings are held
/// back.
#[derive(Debug, Clone, Default)]
pub(super) struct MarkersHeld {
    /// Offset and length of each marker token that is still held back.
    held: VecDeque<(u64, usize)>,
    /// Offset of the next text that is released.
    at: u64,
    /// The released beginning of a marker token whose rest is held back.
    begun: String,
}

impl MarkersHeld {
    pub(super) fn reset(&mut self) {
        self.held.clear();
        self.begun.clear();
        self.at = 0;
    }

    /// Returns the released bytes that wait for the rest of their marker token.
    pub(super) fn held(&self) -> usize {
        self.begun.len()
    }

    /// Records that the text at offset `at` is a marker token.
    pub(super) fn note(&mut self, at: u64, text: &str) {
        self.held.push_back((at, text.len()));
    }

    /// Calls `on` with the pieces of a released text.
    pub(super) fn pass(&mut self, text: &str, on: &mut impl FnMut(Token<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            let (from, len) = self.held.front().copied().unwrap_or((u64::MAX, 0));
            let before = from.saturating_sub(self.at);
            let most =
                if before == 0 { len.saturating_sub(self.begun.len()) } else { before as usize };
            let (piece, behind) = rest.split_at(most.min(rest.len()));
            if before > 0 {
                on(Token::of_text(piece));
                self.at = self.at.saturating_add(piece.len() as u64);
            } else {
                self.begun.push_str(piece);
                if self.begun.len() == len {
                    on(Token { kind: TokenKind::Marker, ..Token::of_text(&self.begun) });
                    self.at = self.at.saturating_add(len as u64);
                    self.begun.clear();
                    self.held.pop_front();
                }
            }
            rest = behind;
        }
    }

    /// Ends the release of held text. The released beginning of a marker token becomes text.
    pub(super) fn cut(&mut self, on: &mut impl FnMut(Token<'_>)) {
        if !self.begun.is_empty() {
            on(Token::of_text(&self.begun));
            self.at = self.at.saturating_add(self.begun.len() as u64);
            self.begun.clear();
            self.held.pop_front();
        }
    }
}
