//! Suffixes of markers that depend on the checkpoint: `<think:6124c78e>`.

use core::fmt;

/// Whether a marker may carry a suffix that depends on the checkpoint: `<think:6124c78e>`.
///
/// ```
/// use jail_match::{Channel, Edge, SuffixRule, Then};
/// let reasoning = Then::Enter(Channel::REASONING);
/// let opener = Edge::new("<think>", Channel::CONTENT.mask(), reasoning)
///     .suffixed(SuffixRule::Optional);
/// assert_eq!(opener.suffix, SuffixRule::Optional);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SuffixRule {
    /// The marker has no suffix.
    #[default]
    None,
    /// The marker may have a suffix before its closing bracket.
    ///
    /// A suffix is a `:` and 1 to [`SuffixRule::MAX_CHARS`] ASCII letters, digits, `_` or `-`. The
    /// closing bracket is `|>`, `｜>` or else the last byte of a marker of several bytes. The first
    /// suffix of a stream is the suffix of all its markers.
    Optional,
}

impl SuffixRule {
    /// The maximum number of characters after the `:`.
    pub const MAX_CHARS: usize = 32;
}

/// Returns the index in `marker` at which a suffix would be: before its closing bracket.
pub(crate) fn suffix_place(marker: &[u8]) -> usize {
    let closing = ["｜>", "|>"].into_iter().find(|end| marker.ends_with(end.as_bytes()));
    let len = closing.map_or(1, str::len);
    match marker.len().checked_sub(len) {
        Some(at @ 1..) => at,
        _ => marker.len().saturating_sub(1),
    }
}

/// The suffix that the markers of a stream carry; empty until a marker carried one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LearntSuffix {
    bytes: [u8; 1 + SuffixRule::MAX_CHARS],
    len: u8,
}

impl LearntSuffix {
    /// The empty suffix: no marker carried one yet.
    pub const NONE: Self = Self { bytes: [0; 1 + SuffixRule::MAX_CHARS], len: 0 };

    /// Returns the suffix in `text`, where `marker` was found with or without a suffix.
    pub(crate) fn found_in(marker: &[u8], text: &[u8]) -> Self {
        let mut suffix = Self::NONE;
        let (at, more) = (suffix_place(marker), text.len().saturating_sub(marker.len()));
        let from = text.get(at..at.saturating_add(more));
        if let (Some(from), Some(to)) = (from, suffix.bytes.get_mut(..more)) {
            to.copy_from_slice(from);
            suffix.len = more as u8;
        }
        suffix
    }

    /// Returns whether no marker carried a suffix yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the suffix with its `:`; empty if no marker carried one.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns this suffix, or the other one if this is empty.
    pub(crate) fn or(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }
}

impl Default for LearntSuffix {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for LearntSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
