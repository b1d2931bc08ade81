//! White space at the ends of a text that streams.

use alloc::string::String;

use jail_match::{Channel, DiagnosticKind, SpanKind};

use super::emitter::Emitter;
use crate::chars::is_blank;

/// A filter that drops the white space at both ends of a text.
///
/// ```text
/// "\n a  b \n"    framing "\n ", text "a  b", framing " \n"
/// ```
#[derive(Debug, Clone, Default)]
pub(super) struct Trim {
    /// Whether a character that is not white space was read.
    begun: bool,
    /// White space that may end the text.
    blanks: String,
    /// Whether the current run of white space is longer than the limit, and therefore text.
    overflow: bool,
}

/// A piece of the text that begins at `at`.
#[derive(Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) channel: Channel,
    pub(super) at: u64,
    pub(super) text: &'t str,
}

impl<'t> Piece<'t> {
    fn split_at(self, len: usize) -> (Self, Self) {
        let (head, rest) = self.text.split_at(len);
        (Self { text: head, ..self }, Self { text: rest, at: self.at + len as u64, ..self })
    }
}

impl Trim {
    /// Begins another text. The buffer stays allocated.
    pub(super) fn clear(&mut self) {
        self.blanks.clear();
        (self.begun, self.overflow) = (false, false);
    }

    /// Returns the number of bytes of white space held because they may end the text.
    pub(super) fn held(&self) -> usize {
        self.blanks.len()
    }

    /// Emits a piece without the white space at the ends of the text. A run of more than `limit`
    /// bytes of white space is text.
    pub(super) fn text(&mut self, mut piece: Piece<'_>, limit: usize, out: &mut Emitter<'_>) {
        if !self.begun {
            let (head, rest) = piece.split_at(blank_head(piece.text));
            out.span(SpanKind::Framing, head.at, rest.at);
            self.begun = !rest.text.is_empty();
            piece = rest;
        }
        while !piece.text.is_empty() {
            let blank = blank_head(piece.text);
            let len = if blank > 0 { blank } else { visible_head(piece.text, limit) };
            let (head, rest) = piece.split_at(len);
            if blank > 0 {
                self.blank(head, limit, out);
            } else {
                self.release(head.channel, head.at, out);
                self.overflow = false;
                out.text(head.channel, head.at, head.text);
            }
            piece = rest;
        }
    }

    /// Holds white space that may end the text. If there are more than `limit` bytes, the whole run
    /// is text, so that the result does not depend on chunks.
    fn blank(&mut self, piece: Piece<'_>, limit: usize, out: &mut Emitter<'_>) {
        if self.overflow {
            return out.text(piece.channel, piece.at, piece.text);
        }
        self.blanks.push_str(piece.text);
        if self.blanks.len() > limit {
            let end = piece.at + piece.text.len() as u64;
            out.diagnostic(DiagnosticKind::WhitespaceLimit, end - self.blanks.len() as u64, 0);
            self.release(piece.channel, end, out);
            self.overflow = true;
        }
    }

    /// Emits the held white space, which ends at `end` and did not end the text.
    fn release(&mut self, channel: Channel, end: u64, out: &mut Emitter<'_>) {
        out.text(channel, end - self.blanks.len() as u64, &self.blanks);
        self.blanks.clear();
    }
}

/// Returns the length of the white space at the head of `text`.
fn blank_head(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_blank).len()
}

/// Returns the length of the text before the white space at the end of `text`, or before the first
/// run of more than `limit` bytes of it.
fn visible_head(text: &str, limit: usize) -> usize {
    let visible = text.trim_end_matches(is_blank);
    if visible.len() <= limit {
        return visible.len();
    }
    let mut run = 0;
    for (at, scalar) in visible.char_indices() {
        let end = at + scalar.len_utf8();
        if !is_blank(scalar) {
            run = end;
        } else if end - run > limit {
            return run;
        }
    }
    visible.len()
}
