//! White space at the ends of a text that streams.

use alloc::string::String;

use jail_match::{Channel, DiagnosticKind, SpanKind};

use super::out::Out;
use crate::chars::is_blank;

/// Drops the white space at both ends of a text.
///
/// ```text
/// "\n a  b \n"    framing "\n ", text "a  b", framing " \n"
/// ```
#[derive(Debug, Clone, Default)]
pub(super) struct Trim {
    /// Whether anything but white space came.
    begun: bool,
    /// White space that may end the text.
    blanks: String,
    /// Whether the white space read last outgrew its limit: more of it is text.
    overflow: bool,
}

impl Trim {
    /// Begins another text; keeps the buffer's memory.
    pub(super) fn clear(&mut self) {
        self.blanks.clear();
        (self.begun, self.overflow) = (false, false);
    }

    /// Returns how many bytes of white space may end the text.
    pub(super) fn held(&self) -> usize {
        self.blanks.len()
    }

    /// Emits the text that begins at `at`, but for the white space at its ends. More than `limit`
    /// bytes of white space in a row are text.
    pub(super) fn text(
        &mut self,
        text: &str,
        at: u64,
        (channel, limit): (Channel, usize),
        out: &mut Out<'_>,
    ) {
        let (mut text, mut at) = (text, at);
        if !self.begun {
            let blank = blank_head(text);
            out.span(SpanKind::Framing, at, at + blank as u64);
            (text, at) = (&text[blank..], at + blank as u64);
            self.begun = !text.is_empty();
        }
        while !text.is_empty() {
            let blank = blank_head(text);
            let len = if blank > 0 { blank } else { visible_head(text, limit) };
            let (head, rest) = text.split_at(len);
            if blank > 0 {
                self.blank(head, at, (channel, limit), out);
            } else {
                self.release(at, channel, out);
                self.overflow = false;
                out.text(channel, at, head);
            }
            (text, at) = (rest, at + len as u64);
        }
    }

    /// Holds white space, as it may end the text, until there is more than `limit` of it. All of
    /// such a run is text, so that nothing depends on the pieces it comes in.
    fn blank(
        &mut self,
        text: &str,
        at: u64,
        (channel, limit): (Channel, usize),
        out: &mut Out<'_>,
    ) {
        if self.overflow {
            return out.text(channel, at, text);
        }
        self.blanks.push_str(text);
        if self.blanks.len() > limit {
            let end = at + text.len() as u64;
            let start = end - self.blanks.len() as u64;
            out.diagnostic(DiagnosticKind::WhitespaceLimit, start, 0);
            self.release(end, channel, out);
            self.overflow = true;
        }
    }

    /// Emits white space that ends at `end` and did not end the text.
    fn release(&mut self, end: u64, channel: Channel, out: &mut Out<'_>) {
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
