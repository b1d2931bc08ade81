//! What a step of an engine comes to.

use jail_match::{Feed, Resume};

/// What a step of an engine asks its loop to do.
pub(crate) enum Step {
    Go,
    Return(Feed),
}

impl Step {
    /// The engine is through with its call, behind `used` bytes.
    pub(crate) fn done(used: usize) -> Self {
        Self::Return(Feed::Done { used, then: Resume::SameChannel })
    }

    /// As [`not_mine`].
    pub(crate) fn not_mine(text: &str, at: usize) -> Self {
        Self::Return(not_mine(text, at))
    }
}

/// The scalar at `at` shows that the text is not the engine's.
pub(crate) fn not_mine(text: &str, at: usize) -> Feed {
    let len = text[at..].chars().next().map_or(0, char::len_utf8);
    Feed::Mismatch { used: at + len }
}
