//! The place of a marker in a text.
//!
//! The place depends on the start of the line, code fences, inline code, double quotes and open
//! blocks. Places only classify markers and never change the text:
//!
//! ```text
//! <tool_call>            structural: at the start of a line
//! see <tool_call>        prose
//! `<tool_call>`          inline code
//! {"a": "<tool_call>"}   quotes
//! ```

use crate::pair::Role;

/// Place of a marker in its text.
///
/// ```
/// use wire_remap::{DecodedPiece, MarkerPlace, RemapTable, StreamDecoder};
/// let mut places = Vec::new();
/// StreamDecoder::new(&RemapTable::hermes()).push("[[CALL]]{}[[/CALL]]\nsee `[[CALL]]`", |piece| {
///     if let DecodedPiece::Marker(marker) = piece {
///         places.push((marker.place, marker.counts));
///     }
/// });
/// let structural = (MarkerPlace::Structural, true);
/// assert_eq!(places, [structural, structural, (MarkerPlace::InlineCode, false)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MarkerPlace {
    /// A place where a tool format writes a marker: the start of a line, directly after a closed
    /// block, or the end of an open block.
    Structural,
    /// The middle of a line.
    Prose,
    /// A fenced code block.
    Fence,
    /// Inline code, which ends at the end of the line at the latest.
    InlineCode,
    /// Double quotes, as in a JSON string. They end at the end of the line at the latest.
    Quotes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    tick: char,
    len: usize,
    at_line_start: bool,
}

/// The layout of one message up to the current place.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Whether only blanks followed the last newline.
    at_line_start: bool,
    /// Whether only blanks and newlines followed the last closed block.
    after_block: bool,
    in_block: bool,
    /// A run of backticks or tildes that may continue.
    run: Option<Run>,
    fence: Option<Run>,
    inline: Option<usize>,
    quoted: bool,
    backslash: bool,
}

impl Layout {
    pub(crate) fn new() -> Self {
        Self {
            at_line_start: true,
            after_block: false,
            in_block: false,
            run: None,
            fence: None,
            inline: None,
            quoted: false,
            backslash: false,
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        for c in text.chars() {
            self.char(c);
        }
    }

    fn char(&mut self, c: char) {
        if let Some(run) = &mut self.run {
            if run.tick == c {
                run.len += 1;
                return;
            }
            self.end_run();
        }
        let escaped = core::mem::take(&mut self.backslash);
        match c {
            '\n' => {
                self.at_line_start = true;
                self.inline = None;
                self.quoted = false;
                return;
            }
            ' ' | '\t' | '\r' => return,
            '`' | '~' if !self.in_block => {
                self.run = Some(Run { tick: c, len: 1, at_line_start: self.at_line_start });
            }
            '"' if !escaped && self.fence.is_none() => self.quoted = !self.quoted,
            '\\' => self.backslash = !escaped,
            _ => {}
        }
        self.at_line_start = false;
        self.after_block = false;
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let fences = run.at_line_start && run.len >= 3;
        match self.fence {
            Some(open) if fences && run.tick == open.tick && run.len >= open.len => {
                self.fence = None;
            }
            Some(_) => {}
            None if fences => {
                self.fence = Some(run);
                self.inline = None;
            }
            None if run.tick == '`' => match self.inline {
                Some(len) if len == run.len => self.inline = None,
                Some(_) => {}
                None => self.inline = Some(run.len),
            },
            None => {}
        }
    }

    /// Returns the place of a marker that comes next.
    pub(crate) fn place(&mut self, role: Role) -> MarkerPlace {
        self.end_run();
        if self.in_block {
            return match role {
                _ if self.quoted => MarkerPlace::Quotes,
                Role::Close => MarkerPlace::Structural,
                _ if self.at_line_start => MarkerPlace::Structural,
                _ => MarkerPlace::Prose,
            };
        }
        if self.fence.is_some() {
            MarkerPlace::Fence
        } else if self.inline.is_some() {
            MarkerPlace::InlineCode
        } else if self.at_line_start || self.after_block {
            MarkerPlace::Structural
        } else if self.quoted {
            MarkerPlace::Quotes
        } else {
            MarkerPlace::Prose
        }
    }

    /// Records a marker at the given place.
    pub(crate) fn marker(&mut self, role: Role, place: MarkerPlace) {
        self.at_line_start = false;
        self.after_block = false;
        self.backslash = false;
        if place != MarkerPlace::Structural {
            return;
        }
        match role {
            Role::Open => {
                self.in_block = true;
                self.quoted = false;
            }
            Role::Close => {
                self.in_block = false;
                self.after_block = true;
                self.quoted = false;
            }
            Role::Other => {}
        }
    }
}
