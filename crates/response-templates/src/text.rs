//! Text: white space at its edges.

use crate::chars::is_blank;

/// `text` without white space at both ends.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_blank)
}
