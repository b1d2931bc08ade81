//! White space at the edges of text.

use crate::chars::is_blank;

/// Returns `text` without white space at both ends.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_blank)
}
