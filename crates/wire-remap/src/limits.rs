//! Limits without a setting.

/// Maximum number of characters of a pattern for model names, not counting `*`.
pub(crate) const MAX_GLOB_CHARS: usize = 127;
