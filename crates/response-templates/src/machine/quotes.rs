//! Where a closer does not count, if strings do: in a string of JSON, in the value of a tag.

use alloc::boxed::Box;

use crate::{json::Scanner, pattern::Scan, template::Content};

/// Follows the text of a region.
#[derive(Debug, Clone)]
pub(super) enum Quotes {
    Json(Scanner),
    Tags(Box<Scan>),
}

impl Quotes {
    /// Of a region that is JSON or tags.
    pub(super) fn of(content: &Content) -> Option<Self> {
        match content {
            Content::Json(_) => Some(Self::Json(Scanner::default())),
            Content::Tags { pattern, .. } => {
                pattern.grows.is_some().then(|| Self::Tags(Box::default()))
            }
            _ => None,
        }
    }

    /// Reads `text`, with which `body` ends; false: it is malformed, and its closer ends it.
    pub(super) fn read(&mut self, content: &Content, text: &str, body: &str) -> bool {
        match (self, content) {
            (Self::Json(scanner), _) => scanner.feed(text, &mut |_| {}).is_ok(),
            (Self::Tags(scan), Content::Tags { pattern, .. }) => {
                while scan.next(pattern, body, false).is_some() {}
                body.ends_with(text)
            }
            _ => false,
        }
    }

    /// Whether the region so far ends inside of one.
    pub(super) fn is_open(&self, content: &Content, body: &str) -> bool {
        match (self, content) {
            (Self::Json(scanner), _) => scanner.in_string(),
            (Self::Tags(scan), Content::Tags { pattern, .. }) => {
                scan.growing(pattern, body, true).is_some()
            }
            _ => false,
        }
    }
}
