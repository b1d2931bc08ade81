//! What header fields may hold.

use super::FieldKind;
use crate::tools::Tools;

/// The name of a declared tool in `text`: the longest at the first place where one stands as a
/// word. If no tools are declared, all of `text` but a parenthesis at its end.
pub(super) fn declared<'t>(text: &'t str, tools: &Tools) -> Option<&'t str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    if tools.is_empty() {
        let name = text.strip_suffix('(').unwrap_or(text).trim_ascii_end();
        let named = |c: char| part(c) || matches!(c, '.' | '-');
        return (!name.is_empty() && name.chars().all(named)).then_some(name);
    }
    let mut in_word = false;
    for (at, scalar) in text.char_indices() {
        let names = tools.iter().map(|tool| tool.name.as_str()).filter(|name| {
            let behind = text[at..].strip_prefix(name);
            !in_word && !name.is_empty() && behind.is_some_and(|rest| !rest.starts_with(part))
        });
        if let Some(name) = names.max_by_key(|name| name.len()) {
            return Some(&text[at..at + name.len()]);
        }
        in_word = part(scalar);
    }
    None
}

/// Whether `next` may follow `field` and `more` in a header: names hold no blanks inside and no
/// brackets or quotes. (Blanks at the head were skipped.)
pub(crate) fn fits(kind: &FieldKind, field: &str, more: &str, next: char) -> bool {
    if next.is_ascii_whitespace() {
        return true;
    }
    if *kind == FieldKind::Declared {
        return !next.is_control();
    }
    if let FieldKind::Word(word) = kind {
        let rest = word.strip_prefix(field).and_then(|rest| rest.strip_prefix(more));
        return rest.is_some_and(|rest| rest.starts_with(next));
    }
    let last = more.chars().next_back().or(field.chars().next_back());
    let inside_blank = last.is_some_and(|last| last.is_ascii_whitespace());
    let odd = matches!(next, '{' | '}' | '[' | ']' | '<' | '>' | '"' | '\'') || next.is_control();
    !odd && (!inside_blank || *kind == FieldKind::Label)
}

/// Bytes that are no whitespace: the same however the text is cut.
pub(super) fn visible(text: &str) -> u64 {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() as u64
}
