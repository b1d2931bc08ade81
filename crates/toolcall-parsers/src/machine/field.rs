//! Rules for the text of header fields.

use super::plan::FieldKind;
use crate::tools::Tools;

/// Returns the first declared name that is a whole word of `text`, and the longest one at that
/// position. Without declared tools, returns `text` without a parenthesis at its end, if that can
/// be a name.
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
            let following = text[at..].strip_prefix(name);
            !in_word && !name.is_empty() && following.is_some_and(|rest| !rest.starts_with(part))
        });
        if let Some(name) = names.max_by_key(|name| name.len()) {
            return text.get(at..at.saturating_add(name.len()));
        }
        in_word = part(scalar);
    }
    None
}

/// Returns the name in an id such as `functions.ring:0`, without `prefix` and without `separator`
/// and number.
pub(super) fn id_with_name<'t>(id: &'t str, prefix: &str, separator: &str) -> &'t str {
    let name = id.strip_prefix(prefix).unwrap_or(id);
    match name.rsplit_once(separator).filter(|_| !separator.is_empty()) {
        Some((name, n)) if n.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Returns whether the character `next` may follow the text of a field, which is in two parts.
///
/// Names contain no inner blanks, brackets or quotes. Before a parenthesis they are identifiers.
/// Leading blanks were skipped by the caller.
pub(super) fn fits<'s>(
    kind: &FieldKind,
    mut stops: impl Iterator<Item = &'s str>,
    text: [&str; 2],
    next: char,
) -> bool {
    let [field, more] = text;
    if *kind == FieldKind::Declared {
        return next.is_ascii_whitespace() || !next.is_control();
    }
    if *kind == FieldKind::Name && stops.any(|stop| stop == "(") {
        let inside = next.is_alphanumeric() || matches!(next, '_' | '.' | '-');
        return inside
            && !(field.is_empty() && more.is_empty() && !next.is_alphabetic() && next != '_');
    }
    if next.is_ascii_whitespace() {
        return true;
    }
    let last = more.chars().next_back().or(field.chars().next_back());
    let inside_blank = last.is_some_and(|last| last.is_ascii_whitespace());
    let odd = matches!(next, '{' | '}' | '[' | ']' | '<' | '>' | '"' | '\'') || next.is_control();
    let odd = odd || jail_match::is_reserved(next);
    !odd && (!inside_blank || *kind == FieldKind::Label)
}

/// Returns the characters that may begin the name of a call without a marker.
pub(crate) fn name_starts() -> impl Iterator<Item = char> {
    ('a'..='z').chain('A'..='Z').chain(['_'])
}

#[cfg(test)]
mod tests {
    use super::declared;
    use crate::Tools;

    #[test]
    fn longest_declared_name_is_found_as_a_separate_word() {
        let tools = Tools::new(["go", "go_on"].map(|name| (name, serde_json::json!({}))));
        for (text, wanted) in [("go_on now", "go_on"), ("ago, go", "go"), ("(go)", "go")] {
            assert_eq!(declared(text, &tools), Some(wanted), "{text}");
        }
        assert_eq!(declared("gone ago", &tools), None);
    }

    #[test]
    fn without_tools_the_complete_text_is_the_name_or_rejected() {
        let name = |text| declared(text, &Tools::none());
        assert_eq!(
            (name("a.b-c_1"), name("f("), name("f  (")),
            (Some("a.b-c_1"), Some("f"), Some("f"))
        );
        assert_eq!((name(""), name("("), name("a b")), (None, None, None));
    }
}
