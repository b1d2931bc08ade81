//! Character boundaries: the places where a text may be cut.

/// Returns the highest char boundary of `text` that is at most `at`, which is at most its length.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// Returns the lowest char boundary of `text` that is at least `at`, or the text's length.
pub(crate) fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}
