//! Functions for whole texts, which feed a clone of the filter.

use alloc::string::String;

use jail_match::End;

use crate::{filter::ThinkFilter, pieces::Piece};

/// A whole message, split into content and reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Split {
    /// The visible text of the message.
    pub content: String,
    /// The text of all reasoning.
    pub reasoning: String,
    /// Number of spans of reasoning.
    pub spans: u64,
    /// Whether the text ended inside reasoning.
    pub unclosed: bool,
}

impl ThinkFilter {
    /// Splits a whole message. Text that was pushed before has no effect, and the filter is not
    /// changed.
    ///
    /// If reasoning hits a limit with the error policy, the result is the text before the limit.
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

    /// Returns the visible text of a whole message.
    #[must_use]
    pub fn strip(&self, text: &str) -> String {
        self.split(text).content
    }

    /// Returns the reasoning of a whole message.
    #[must_use]
    pub fn only_reasoning(&self, text: &str) -> String {
        self.split(text).reasoning
    }

    /// Returns whether the visible text of a whole message is more than whitespace.
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
            // An error means that a limit cut the message: the text before it is the result.
            let _ = filter.finish(End::Stop, &mut on);
        }
        filter
    }
}
