//! Strings of JSON and values of tags. With string-aware boundaries, closers in them do not count.
//!
//! ```text
//! <call>{"a": "</call>"}</call>    the first closer is in a string: the second one counts
//! ```

use alloc::boxed::Box;

use super::rewrite::Rewriter;
use crate::{json::Scanner, pattern::Scan, template::Content};

/// A tracker of the strings in the text of a region.
#[derive(Debug, Clone)]
pub(super) enum Quotes {
    /// The strings of JSON. For a dialect, the scanner reads the rewritten text.
    Json(Scanner, Option<Box<Rewriter>>),
    Tags(Box<Scan>),
}

impl Quotes {
    /// Creates the tracker for a region of JSON or of tags. Other regions have none.
    pub(super) fn for_content(content: &Content) -> Option<Self> {
        match content {
            Content::Json(dialect) => {
                Some(Self::Json(Scanner::default(), Rewriter::new(dialect).map(Box::new)))
            }
            Content::Tags { pattern, .. } => {
                pattern.has_open_value().then(|| Self::Tags(Box::default()))
            }
            _ => None,
        }
    }

    /// Reads `text`, the end of `body`. Returns `false` if the text is malformed: any closer then
    /// counts.
    pub(super) fn advance(&mut self, content: &Content, text: &str, body: &str) -> bool {
        match (self, content) {
            (Self::Json(scanner, None), _) => scanner.feed(text, &mut |_| {}).is_ok(),
            (Self::Json(scanner, Some(rewriter)), _) => {
                rewriter.advance(text);
                let good = scanner.feed(&rewriter.json, &mut |_| {}).is_ok();
                rewriter.json.clear();
                good && rewriter.waiting.is_none()
            }
            (Self::Tags(scan), Content::Tags { pattern, .. }) => {
                while scan.next(pattern, body, false).is_some() {}
                body.ends_with(text)
            }
            _ => false,
        }
    }

    /// Returns whether the text so far ends inside a string.
    pub(super) fn is_open(&self, content: &Content) -> bool {
        match (self, content) {
            (Self::Json(scanner, _), _) => scanner.in_string(),
            (Self::Tags(scan), Content::Tags { pattern, .. }) => scan.is_in_value(pattern),
            _ => false,
        }
    }
}
