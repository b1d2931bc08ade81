//! The literals of templates: the texts that may follow a hole.

use alloc::vec::Vec;

use crate::template::{Hole, Part, Template};

/// The parts after a part: the rest of its template, and of the templates around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'t> {
    pub(super) parts: &'t [Part],
    pub(super) around: Option<&'t Self>,
}

impl<'t> Rest<'t> {
    /// Returns the literals that may come next. Groups may be absent, so literals after them are
    /// included, up to the first part that is always present.
    pub(super) fn next(&self) -> Vec<&'t str> {
        let mut texts = Vec::new();
        let mut rest = Some(self);
        while let Some(Rest { parts, around }) = rest {
            if begin(parts, &mut texts) {
                break;
            }
            rest = *around;
        }
        texts
    }
}

/// Collects the literals with which `parts` may begin. Returns whether one of the parts is always
/// present.
fn begin<'t>(parts: &'t [Part], texts: &mut Vec<&'t str>) -> bool {
    for part in parts {
        match part {
            Part::Literal(text) => {
                texts.push(text);
                return true;
            }
            Part::Hole(_) => return true,
            Part::Group(parts) => {
                begin(parts, texts);
            }
        }
    }
    false
}

/// Returns the first tag of a literal, without white space before it. The tag ends at white space
/// or before another tag.
pub(super) fn tag(literal: &str) -> &str {
    let literal = literal.trim_ascii_start();
    let blank = literal.find(|c: char| c.is_ascii_whitespace());
    let end = literal.find("><").map(|at| at.saturating_add(1)).into_iter().chain(blank).min();
    &literal[..end.unwrap_or(literal.len())]
}

/// Returns the literals before and after the first hole of a kind, or empty texts if there is none.
pub(super) fn around(template: &Template, kind: fn(&Hole) -> bool) -> (&str, &str) {
    let parts = &template.parts;
    let is = |part: &Part| matches!(part, Part::Hole(hole) if kind(hole));
    let Some(at) = parts.iter().position(is) else { return ("", "") };
    let literal = |at: Option<usize>| match at.and_then(|at| parts.get(at)) {
        Some(Part::Literal(text)) => text.as_str(),
        _ => "",
    };
    (literal(at.checked_sub(1)), literal(at.checked_add(1)))
}

/// Returns the position of `tag` in `text`, or of an occurrence that begins in `text` and is
/// completed by the `tag` after it. An empty tag is never found.
pub(super) fn find(text: &str, tag: &str) -> Option<usize> {
    if tag.is_empty() {
        return None;
    }
    // Only the last bytes of the text can begin such an occurrence.
    let whole = text.find(tag);
    whole.or_else(|| {
        let from = text.len().saturating_sub(tag.len().saturating_sub(1));
        (from..text.len()).filter(|&at| text.is_char_boundary(at)).find(|&at| {
            let own = &text[at..];
            tag.strip_prefix(own).is_some_and(|rest| tag.starts_with(rest))
        })
    })
}
