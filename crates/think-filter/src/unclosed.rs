//! Reasoning that is still open at the end of the message.
//!
//! `<think>plan⏎⏎The answer` under each policy:
//!
//! | policy | reasoning | content |
//! |---|---|---|
//! | `Reasoning` | `plan⏎⏎The answer` | |
//! | `Content` | | `plan⏎⏎The answer` |
//! | `Split` | `plan⏎⏎` | `The answer` |

use alloc::string::String;

/// Policy for the last span of a message if its closer is missing. It applies whether the model
/// stopped by itself or was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Unclosed {
    /// The span is reasoning.
    #[default]
    Reasoning,
    /// The span is content, because the model forgot the closer.
    Content,
    /// The text after the last blank line is content, and the text before it is reasoning. Without
    /// a blank line between two texts, the span is reasoning.
    Split,
}

/// The text of an open span, kept until it is certain whether it closes.
#[derive(Debug, Clone)]
pub(crate) struct OpenSpan {
    policy: Unclosed,
    limit: usize,
    text: String,
    /// Whether the span is longer than the limit, and therefore reasoning.
    outgrown: bool,
}

impl OpenSpan {
    pub(crate) const fn new((policy, limit): (Unclosed, usize)) -> Self {
        Self { policy, limit, text: String::new(), outgrown: false }
    }

    /// Keeps more reasoning, unless the span is longer than the limit. Returns whether it was kept.
    pub(crate) fn keeps(&mut self, new: &str) -> bool {
        self.outgrown |= self.text.len().saturating_add(new.len()) > self.limit;
        if !self.outgrown {
            self.text.push_str(new);
        }
        !self.outgrown
    }

    pub(crate) fn held(&self) -> usize {
        self.text.len()
    }

    /// Removes and returns the kept text.
    pub(crate) fn take(&mut self) -> String {
        core::mem::take(&mut self.text)
    }

    /// Ends the span. The next span is kept again.
    pub(crate) fn close(&mut self) {
        self.outgrown = false;
        self.text.clear();
    }

    /// Returns the number of kept bytes that are reasoning if the message ends here.
    pub(crate) fn reasoning(&self) -> usize {
        match self.policy {
            Unclosed::Reasoning => self.text.len(),
            Unclosed::Content => 0,
            Unclosed::Split => after_blank_line(&self.text).unwrap_or(self.text.len()),
        }
    }
}

/// Returns the index of the last text that has a blank line, and text before that, in front of it.
fn after_blank_line(text: &str) -> Option<usize> {
    let (mut at, mut text_before, mut blank, mut after) = (0_usize, false, false, None);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim_ascii().is_empty();
        if blank && !is_blank {
            after = Some(at);
        }
        text_before |= !is_blank;
        blank = is_blank && text_before;
        at = at.saturating_add(line.len());
    }
    after
}
