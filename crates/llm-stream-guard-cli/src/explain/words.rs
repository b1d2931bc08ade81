//! Formats numbers and text for sentences.

use std::fmt::Display;

/// Formats a number of things. An `s` makes the word plural.
pub(super) fn count(count: usize, what: impl Display) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// Formats a number of bytes.
pub(super) fn bytes(bytes: usize) -> String {
    count(bytes, "byte")
}

/// Returns text on one line, with newlines and tabs as escapes.
pub(super) fn visible(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t")
}
