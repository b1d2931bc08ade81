//! Whole texts: a push and a finish of a copy, no other path.

use alloc::string::String;

use jail_match::End;

use crate::{filter::ThinkFilter, pieces::Piece};

/// A whole message, split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Split {
    /// All visible text.
    pub content: String,
    /// All reasoning.
    pub reasoning: String,
    /// How many spans the reasoning was.
    pub spans: u64,
    /// Whether the text ended inside reasoning.
    pub unclosed: bool,
}

impl ThinkFilter {
    /// Splits a whole message. The filter stays as it is, and what it was fed does not count.
    ///
    /// Under a limit on the reasoning with the error policy, what came before it.
    #[must_use]
    pub fn split(&self, text: &str) -> Split {
        let mut split = Split::default();
        let filter = self.over(text, |piece| match piece {
            Piece::Content(text) => split.content.push_str(text),
            Piece::Reasoning(text) => split.reasoning.push_str(text),
            Piece::ReasoningStart | Piece::ReasoningEnd => {}
        });
        Split { spans: filter.counts().spans, unclosed: filter.counts().unclosed > 0, ..split }
    }

    /// The visible text of a whole message.
    #[must_use]
    pub fn strip(&self, text: &str) -> String {
        self.split(text).content
    }

    /// The reasoning of a whole message.
    #[must_use]
    pub fn only_reasoning(&self, text: &str) -> String {
        self.split(text).reasoning
    }

    /// Whether anything but whitespace is visible in a whole message.
    #[must_use]
    pub fn has_visible_content(&self, text: &str) -> bool {
        let mut visible = false;
        self.over(text, |piece| {
            visible |= matches!(piece, Piece::Content(text) if !text.trim_ascii().is_empty());
        });
        visible
    }

    fn over(&self, text: &str, mut on: impl FnMut(Piece<'_>)) -> Self {
        let mut filter = self.clone();
        filter.reset();
        if filter.push(text, &mut on).is_ok() {
            // A limit hit here cut the message as one hit before does.
            let _ = filter.finish(End::Stop, &mut on);
        }
        filter
    }
}
