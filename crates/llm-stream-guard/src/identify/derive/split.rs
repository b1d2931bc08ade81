//! The division of the text around calls: what opens a section, a call and a parameter.
//!
//! ```text
//! one call    <all><do>CALL</do></all>
//! two calls   <all><do>CALL</do>, <do>CALL</do></all>
//! head <all><do>   middle </do>, <do>   tail </do></all>
//! ```

use super::{
    super::markup::marks,
    pieces::{common_ends, common_starts, literal},
    templates::Draft,
};

/// The texts around the holes of calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Around {
    /// The text before the first hole.
    pub(super) head: String,
    /// The text after the last hole.
    pub(super) tail: String,
    /// The text between the holes of two calls, if several are rendered.
    pub(super) middle: Option<String>,
}

/// A division of the text around calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Parts {
    before: String,
    open: String,
    close: String,
    after: String,
    separator: String,
    /// Whether a section holds all calls.
    shared: bool,
    /// Tokens after the last call that end the turn.
    ends: String,
}

impl Around {
    /// Returns the divisions that fit, the simplest first.
    pub(super) fn parts(&self) -> Vec<Parts> {
        let (head, tail) = (&*self.head, &*self.tail);
        let own = |separator: &str| Parts {
            open: head.to_owned(),
            close: tail.to_owned(),
            separator: separator.to_owned(),
            ..Parts::default()
        };
        let Some(middle) = self.middle.as_deref() else {
            let parts = own("");
            let (close, ends) = (String::new(), tail.trim().to_owned());
            let ended = Parts { close, ends, ..parts.clone() };
            return if is_tokens(tail) { vec![ended, parts] } else { vec![parts] };
        };
        let mut all = Vec::new();
        let alone = middle.strip_prefix(tail).and_then(|rest| rest.strip_suffix(head));
        if let Some(separator) = alone.filter(|_| !head.is_empty()) {
            all.push(own(separator));
        }
        for open in common_ends(head, middle) {
            let (before, open) = head.split_at(head.len() - open);
            let rest = &middle[..middle.len() - open.len()];
            for close in common_starts(tail, rest) {
                let (close, after) = tail.split_at(close);
                let parts = Parts {
                    before: before.to_owned(),
                    open: open.to_owned(),
                    close: close.to_owned(),
                    after: after.to_owned(),
                    separator: rest[close.len()..].to_owned(),
                    shared: true,
                    ends: String::new(),
                };
                if before.is_empty() && is_tokens(after) {
                    let (after, ends) = (String::new(), parts.after.clone());
                    all.push(Parts { after, ends, shared: false, ..parts.clone() });
                }
                all.push(parts);
            }
        }
        all
    }
}

/// Returns whether a text consists of special tokens and blanks only.
fn is_tokens(text: &str) -> bool {
    let special = marks(text).filter(|mark| mark.special).map(|mark| mark.text.len());
    let blanks = text.chars().filter(|scalar| scalar.is_whitespace()).map(char::len_utf8);
    !text.trim().is_empty() && special.sum::<usize>() + blanks.sum::<usize>() == text.len()
}

impl Parts {
    /// Returns the draft of a call with these holes and literals between its opener and its end.
    pub(super) fn draft(&self, inner: &str) -> Draft {
        let call = format!("{}{inner}{}", literal(&self.open), literal(&self.close));
        let calls = match self.separator.as_str() {
            "" => "{calls}".to_owned(),
            separator => format!("{{calls:{}}}", literal(separator)),
        };
        let section = match self.shared {
            true => format!("{}{calls}{}", literal(&self.before), literal(&self.after)),
            false => String::new(),
        };
        let between = if self.shared { "\n" } else { &self.separator };
        Draft {
            section,
            call,
            between: between.to_owned(),
            bare: self.before.trim().is_empty() && self.open.trim().is_empty(),
            ends: self.ends.clone(),
            ..Draft::default()
        }
    }
}

/// A division of the text around parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParameterParts {
    /// The text between the call's first holes and its first parameter.
    pub(super) header: String,
    pub(super) open: String,
    pub(super) close: String,
    pub(super) separator: String,
}

/// Divides the text before the first key, between two parameters, and after the last value.
/// Divisions that explain a call without parameters come first.
pub(super) fn parameters(
    first: &str,
    next: &str,
    last: &str,
    empty: Option<&str>,
) -> Vec<ParameterParts> {
    let mut all = Vec::new();
    for close in common_starts(last, next) {
        let rest = &next[close..];
        for open in common_ends(first, rest) {
            let (header, opener) = first.split_at(first.len() - open);
            let parts = ParameterParts {
                header: header.to_owned(),
                open: opener.to_owned(),
                close: last[..close].to_owned(),
                separator: rest[..rest.len() - open].to_owned(),
            };
            if !opener.trim().is_empty() || header.ends_with(['(', '{', '[']) {
                all.push(parts);
            }
        }
    }
    let explains = |parts: &ParameterParts| {
        let after = last.strip_prefix(parts.close.as_str()).unwrap_or_default();
        empty.is_some_and(|empty| empty.trim_end() == format!("{}{after}", parts.header).trim_end())
    };
    all.sort_by_key(|parts| !explains(parts));
    all
}
