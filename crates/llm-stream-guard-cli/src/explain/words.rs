//! Numbers and text as words have them.

use std::fmt::Display;

/// Returns a number of things: `s` makes the word plural.
pub(super) fn count(count: usize, what: impl Display) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

/// Formats a number of bytes.
pub(super) fn bytes(bytes: usize) -> String {
    count(bytes, "byte")
}

/// Text in one line: newlines and tabs as a programmer writes them.
pub(super) fn visible(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t")
}
