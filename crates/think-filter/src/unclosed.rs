//! Reasoning that the end of the message leaves open.

use alloc::string::String;

/// What becomes of reasoning that the message ends in, whether the stream stopped of itself or
/// was cut: the text of its last span, whose closer never came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Unclosed {
    /// It is reasoning.
    #[default]
    Reasoning,
    /// It is content: the closer was forgotten.
    Content,
    /// What follows its last blank line is content, the rest is reasoning; all of it, if no blank
    /// line stands between text and text.
    Split,
}

/// The text of an open span, kept until it is certain whether it closes.
#[derive(Debug, Clone)]
pub(crate) struct OpenSpan {
    policy: Unclosed,
    limit: usize,
    text: String,
    /// It outgrew the limit: it is reasoning, however it ends.
    outgrown: bool,
}

impl OpenSpan {
    pub(crate) const fn new((policy, limit): (Unclosed, usize)) -> Self {
        Self { policy, limit, text: String::new(), outgrown: false }
    }

    /// Whether more reasoning is kept. If not, it follows what was.
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

    /// What was kept.
    pub(crate) fn take(&mut self) -> String {
        core::mem::take(&mut self.text)
    }

    /// The span is over; the next is kept again.
    pub(crate) fn close(&mut self) {
        self.outgrown = false;
        self.text.clear();
    }

    /// How much of what is kept is reasoning if the message ends here.
    pub(crate) fn reasoning(&self) -> usize {
        match self.policy {
            Unclosed::Reasoning => self.text.len(),
            Unclosed::Content => 0,
            Unclosed::Split => behind_blank_line(&self.text).unwrap_or(self.text.len()),
        }
    }
}

/// Where the last text behind a blank line begins, if text stands before that line, too.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "`at` adds up lines of `text`, so it is at most the length of it"
)]
fn behind_blank_line(text: &str) -> Option<usize> {
    let (mut at, mut text_before, mut blank, mut behind) = (0, false, false, None);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim_ascii().is_empty();
        if blank && !is_blank {
            behind = Some(at);
        }
        text_before |= !is_blank;
        blank = is_blank && text_before;
        at += line.len();
    }
    behind
}
