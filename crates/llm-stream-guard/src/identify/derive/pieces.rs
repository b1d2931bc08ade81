//! The literals of a template while it is drafted: texts in which one private character is a hole.
//!
//! ```text
//! rendering  </zfuncaz>        <call n="0">
//! literal    </\u{E000}>       <call n="\u{E002}">
//! template   </{name}>         <call n="{index}">
//! ```

use crate::limits::deriving::MAX_TEXT_CUTS;

/// A repeated name of the call.
pub(super) const NAME: char = '\u{E000}';
/// A repeated key of the parameter.
pub(super) const KEY: char = '\u{E001}';
/// The index of the call, from 0.
pub(super) const INDEX: char = '\u{E002}';
/// The number of the call, from 1.
pub(super) const NUMBER: char = '\u{E003}';
/// Whether the value is a string.
pub(super) const STRING: char = '\u{E004}';
/// The type of the value.
pub(super) const TYPE: char = '\u{E005}';

const HOLES: [(char, &str); 6] = [
    (NAME, "{name}"),
    (KEY, "{key}"),
    (INDEX, "{index}"),
    (NUMBER, "{index:1}"),
    (STRING, "{string}"),
    (TYPE, "{type}"),
];

/// Returns whether a template's text has one of the private characters, so that literals would be
/// ambiguous.
pub(super) fn is_ambiguous(text: &str) -> bool {
    text.contains(|scalar| HOLES.iter().any(|(hole, _)| *hole == scalar))
}

/// Returns the text of a template: the characters of the language are escaped, and private
/// characters are holes.
pub(super) fn literal(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('{', "{{").replace('}', "}}");
    let text = text.replace('\n', "\\n").replace('\t', "\\t");
    HOLES.iter().fold(text, |text, (hole, written)| text.replace(*hole, written))
}

/// Returns the text in which `hole` replaces the number `n` where it is a separate word.
pub(super) fn counted(text: &str, n: usize, hole: char) -> String {
    let word = n.to_string();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word.as_str()) {
        let (before, found) = rest.split_at(at);
        let after = &found[word.len()..];
        let is_word = |scalar: char| scalar.is_alphanumeric();
        let joined = before.chars().next_back().or(out.chars().next_back()).is_some_and(is_word)
            || after.starts_with(is_word);
        out.push_str(before);
        match joined {
            true => out.push_str(&word),
            false => out.push(hole),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the lengths of common starts of two texts at which a template may be cut, the longest
/// first.
pub(super) fn common_starts(a: &str, b: &str) -> Vec<usize> {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    let len: usize = common.map(|(a, _)| a.len_utf8()).sum();
    let places = (0..=len).rev().filter(|&at| is_cut(a, at) && is_cut(b, at));
    few(places)
}

/// Returns the lengths of common ends of two texts at which a template may be cut, the longest
/// first.
pub(super) fn common_ends(a: &str, b: &str) -> Vec<usize> {
    let common = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    let len: usize = common.map(|(a, _)| a.len_utf8()).sum();
    let at = |text: &str, len: usize| text.len().checked_sub(len);
    let good = |text: &str, len: usize| at(text, len).is_some_and(|at| is_cut(text, at));
    few((0..=len).rev().filter(|&len| good(a, len) && good(b, len)))
}

/// Returns the first places and the last one, which is the shortest.
fn few(places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all: Vec<usize> = places.collect();
    let last = all.last().copied();
    all.truncate(MAX_TEXT_CUTS);
    all.extend(last.filter(|last| !all.contains(last)));
    all
}

/// Returns whether a position is not inside a word or a tag.
fn is_cut(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return false };
    let open = before.rfind(['<', '◁']);
    let inside = open.is_some_and(|open| !before[open..].contains(['>', '▷', '\n']));
    let edge = before.is_empty() || after.is_empty();
    let begins = after.starts_with(['<', '[', '◁', '\n', ' ', '|', ']']);
    let ends = before.ends_with(['>', ']', '▷', '\n', ' ', ':', '=', ',', ';']);
    edge || !inside && (begins || ends)
}

#[cfg(test)]
mod tests {
    use super::{INDEX, common_ends, common_starts, counted, literal};

    #[test]
    fn digits_inside_words_are_not_counted() {
        assert_eq!(counted("<a n=\"0\" v10 0>", 0, INDEX), "<a n=\"\u{E002}\" v10 \u{E002}>");
    }

    #[test]
    fn private_characters_are_holes_in_templates() {
        assert_eq!(literal("</\u{E000}>{\n"), "</{name}>{{\\n");
    }

    #[test]
    fn common_texts_are_not_cut_inside_tags() {
        assert_eq!(common_starts("</v>\n</f>", "</v>\n<v>"), [5, 4, 0]);
        assert_eq!(common_ends("<f>\n<v k=", "</v>\n<v k="), [6, 5, 0]);
    }
}
