//! Suffixes of markers that only the checkpoint knows: `<think:6124c78e>`.

use core::fmt;

/// Whether a marker may carry a suffix that only the checkpoint knows: `<think:6124c78e>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SuffixRule {
    /// It stands as it is written.
    #[default]
    None,
    /// A `:` and 1 to [`SuffixRule::LONGEST`] ASCII letters, digits, `_` or `-` may stand before its
    /// end: `|>` or `｜>`, else its last byte, which is another ASCII character and not the
    /// marker's only one. The first suffix that a marker of the stream carried is that of every
    /// other.
    Optional,
}

impl SuffixRule {
    /// The most characters after the `:`.
    pub const LONGEST: usize = 32;
}

/// Where in `marker` a suffix stands: before its closing bracket and the bar before that.
pub(crate) fn place(marker: &[u8]) -> usize {
    let closing = ["｜>", "|>"].into_iter().find(|end| marker.ends_with(end.as_bytes()));
    let len = closing.map_or(1, str::len);
    match marker.len().checked_sub(len) {
        Some(at @ 1..) => at,
        _ => marker.len().saturating_sub(1),
    }
}

/// The suffix that the markers of a stream carry; empty until one of them did.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LearntSuffix {
    bytes: [u8; 1 + SuffixRule::LONGEST],
    len: u8,
}

impl LearntSuffix {
    /// None was seen.
    pub const NONE: Self = Self { bytes: [0; 1 + SuffixRule::LONGEST], len: 0 };

    /// The suffix in `text`, where `marker` was found with or without one.
    pub(crate) fn of(marker: &[u8], text: &[u8]) -> Self {
        let mut suffix = Self::NONE;
        let (at, more) = (place(marker), text.len().saturating_sub(marker.len()));
        let from = text.get(at..at.saturating_add(more));
        if let (Some(from), Some(to)) = (from, suffix.bytes.get_mut(..more)) {
            to.copy_from_slice(from);
            suffix.len = more as u8;
        }
        suffix
    }

    /// Whether none was seen.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The suffix with its `:`; empty if none was seen.
    #[must_use]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// This suffix, or else the other.
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
