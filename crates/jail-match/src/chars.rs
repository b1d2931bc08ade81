//! Where a text may be cut: between characters.

/// The highest char boundary of `text` that is at most `at`, which is at most its length.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// The lowest char boundary of `text` that is at least `at`; its length if there is none.
pub(crate) fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}
