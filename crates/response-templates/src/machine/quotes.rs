//! Where a closer does not count, if strings do: in a string of JSON, in the value of a tag.

use alloc::boxed::Box;

use super::rewrite::Rewriter;
use crate::{json::Scanner, pattern::Scan, template::Content};

/// Follows the text of a region.
#[derive(Debug, Clone)]
pub(super) enum Quotes {
    /// The strings of JSON. For a dialect, the scanner reads the rewritten text.
    Json(Scanner, Option<Box<Rewriter>>),
    Tags(Box<Scan>),
}

impl Quotes {
    /// Creates the follower for a region of JSON or of tags.
    pub(super) fn of(content: &Content) -> Option<Self> {
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

    /// Reads `text`, with which `body` ends; false: it is malformed, and its closer ends it.
    pub(super) fn read(&mut self, content: &Content, text: &str, body: &str) -> bool {
        match (self, content) {
            (Self::Json(scanner, None), _) => scanner.feed(text, &mut |_| {}).is_ok(),
            (Self::Json(scanner, Some(rewriter)), _) => {
                rewriter.read(text);
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

    /// Whether the region so far ends inside of one.
    pub(super) fn is_open(&self, content: &Content) -> bool {
        match (self, content) {
            (Self::Json(scanner, _), _) => scanner.in_string(),
            (Self::Tags(scan), Content::Tags { pattern, .. }) => scan.is_in_value(pattern),
            _ => false,
        }
    }
}
