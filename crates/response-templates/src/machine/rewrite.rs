//! The rewriting of a JSON dialect to plain JSON while it arrives.
//!
//! With bare names and the delimiters `<q>`, `</q>`:
//!
//! | chunk | JSON written |
//! |---|---|
//! | `{city:<q>Pa` | `{"city":"Pa` |
//! | `r"is</` | `r\"is`; `</` may begin a delimiter |
//! | `q>}` | `"}` |

use alloc::{string::String, vec::Vec};
use core::mem;

use crate::{bare_keys::BareKeys, content, json::escaped, template::Dialect};

/// A rewriter of the text of a region. Bare names get quotes, and text between the dialect's
/// delimiters becomes a JSON string.
///
/// The result equals that of [`crate::content`], which searches the whole text for each kind of
/// delimiters in turn. Two cases need the whole text, so that the rest waits for the end of the
/// region:
///
/// * a delimiter inside a JSON string or inside a string of a later kind counts only if it is
///   closed;
/// * delimiters of two kinds overlap.
#[derive(Debug, Clone, Default)]
pub(super) struct Rewriter {
    delimiters: Vec<(String, String)>,
    /// Whether delimiters of two kinds may overlap. The end of the text decides which of them
    /// count.
    overlapping: bool,
    /// The kind of delimiters around the current text.
    inside: Option<usize>,
    /// The end of the text, if it may be the start of a delimiter.
    tail: String,
    /// The number of bytes that wait for the end.
    pub(super) waiting: Option<usize>,
    /// The writer of text outside of delimited strings.
    writer: BareKeys,
    /// The JSON that was written.
    pub(super) json: String,
}

impl Rewriter {
    /// Creates a rewriter. Returns `None` if the dialect is plain JSON.
    pub(super) fn new(dialect: &Dialect) -> Option<Self> {
        let Dialect { unquoted_keys, delimiters, .. } = dialect;
        let earlier = |n: usize| delimiters[..n].iter().map(|(open, _)| open);
        let overlapping = delimiters.iter().enumerate().any(|(n, (open, close))| {
            earlier(n).any(|other| overlap(open, other) || overlap(close, other))
        });
        (*unquoted_keys || !delimiters.is_empty()).then(|| Self {
            writer: BareKeys::new(*unquoted_keys),
            delimiters: delimiters.clone(),
            overlapping,
            ..Self::default()
        })
    }

    /// Returns the number of bytes that were read and not written yet.
    pub(super) fn held(&self) -> usize {
        let known = self.tail.len().saturating_add(self.writer.held());
        known.saturating_add(self.waiting.unwrap_or(0))
    }

    /// Reads the next text of the region.
    pub(super) fn advance(&mut self, text: &str) {
        if let Some(waiting) = &mut self.waiting {
            *waiting = waiting.saturating_add(text.len());
            return;
        }
        if self.delimiters.is_empty() {
            return self.writer.push(text, &mut self.json);
        }
        let (mut whole, delimiters) = (mem::take(&mut self.tail), mem::take(&mut self.delimiters));
        whole.push_str(text);
        let mut rest = whole.as_str();
        while let Some((at, len, kind)) = self.next(&delimiters, rest) {
            self.part(&rest[..at]);
            self.writer.end(&mut self.json);
            rest = &rest[at..];
            if kind.is_some()
                && (self.overlapping || self.writer.is_quoted() || self.inside.is_some())
            {
                self.waiting = Some(rest.len());
                return;
            }
            self.json.push('"');
            self.inside = kind;
            rest = &rest[len..];
        }
        let wanted = wanted(&delimiters, self.inside).map(|(wanted, _)| begun(rest, wanted));
        let tail = wanted.max().unwrap_or(0);
        let (sure, tail) = rest.split_at(rest.len() - tail);
        self.part(sure);
        let gone = whole.len() - tail.len();
        whole.drain(..gone);
        (self.tail, self.delimiters) = (whole, delimiters);
    }

    /// Returns the next delimiter that counts: its offset, its length, and the kind it opens, if
    /// any.
    fn next(
        &self,
        delimiters: &[(String, String)],
        text: &str,
    ) -> Option<(usize, usize, Option<usize>)> {
        let all = || wanted(delimiters, self.inside);
        if let ([_], Some((only, kind))) = (delimiters, all().next()) {
            return Some((text.find(only)?, only.len(), kind));
        }
        text.char_indices().find_map(|(at, _)| {
            let (found, kind) = all().find(|(wanted, _)| text[at..].starts_with(wanted))?;
            Some((at, found.len(), kind))
        })
    }

    /// Ends the region, whose whole text is `text`.
    pub(super) fn end(&mut self, dialect: &Dialect, text: &str) {
        let tail = mem::take(&mut self.tail);
        self.part(&tail);
        self.writer.end(&mut self.json);
        if self.waiting.is_some() {
            let whole = content::rewritten(dialect, text).unwrap_or_default();
            // Text that is not JSON makes the call malformed, as in the message.
            self.json.push_str(whole.strip_prefix(&*self.json).unwrap_or("\0"));
        }
    }

    /// Writes text without delimiters.
    fn part(&mut self, text: &str) {
        match self.inside {
            // Writing to a string cannot fail.
            Some(_) => drop(escaped(text, &mut self.json)),
            None => self.writer.push(text, &mut self.json),
        }
    }
}

/// Returns the number of bytes at the end of `text` that may begin `wanted`.
fn begun(text: &str, wanted: &str) -> usize {
    let ends = wanted.char_indices().map(|(at, _)| at).rev();
    ends.into_iter().find(|&len| text.ends_with(&wanted[..len])).unwrap_or(0)
}

/// Returns the delimiters that count inside a string of the kind `inside`, or outside of strings,
/// each with the kind it opens. Earlier kinds come first.
fn wanted(
    delimiters: &[(String, String)],
    inside: Option<usize>,
) -> impl Iterator<Item = (&str, Option<usize>)> {
    let close = inside.and_then(|kind| delimiters.get(kind)).map(|(_, close)| (&**close, None));
    let kinds = delimiters.iter().take(inside.unwrap_or(delimiters.len())).enumerate();
    close.into_iter().chain(kinds.map(|(kind, (open, _))| (&**open, Some(kind))))
}

/// Returns whether two delimiters may overlap.
fn overlap(one: &str, other: &str) -> bool {
    let within = |one: &str, other: &str| {
        other.contains(one) || one.char_indices().any(|(at, _)| other.starts_with(&one[at..]))
    };
    within(one, other) || within(other, one)
}
