//! A search for text that looks like markup of any family.
//!
//! ```text
//! text   <tool_call>{"a": 1}<|im_end|>
//! marks  <tool_call> (not special), <|im_end|> (special)
//! ```

use crate::limits::MAX_MARK_BYTES;
/// A piece of text that looks like a tag or a special token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark<'t> {
    pub(super) text: &'t str,
    /// Whether only chat templates and models write such text: `<|im_end|>`, not `<b>`.
    pub(super) special: bool,
}

/// Returns the marks in a text, in order: `<tag ...>`, `</tag>`, `<|token|>`, `[TOKEN]`,
/// `[|token|]`, and the same with the wide brackets of some vocabularies.
pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(['<', '[', '◁'])?;
            rest = &rest[at..];
            let mark = mark(rest);
            let step = rest.chars().next().map_or(1, char::len_utf8);
            rest = &rest[mark.map_or(step, |mark| mark.text.len())..];
            if mark.is_some() {
                return mark;
            }
        }
    })
}

/// Returns the mark at the beginning of a text.
fn mark(text: &str) -> Option<Mark<'_>> {
    let mut scalars = text.chars();
    let (open, close) = match scalars.next()? {
        '<' => ('<', '>'),
        '[' => ('[', ']'),
        _ => ('◁', '▷'),
    };
    let inside = scalars.as_str();
    let ends = |scalar: char| scalar == close || scalar == open || scalar == '\n';
    let end = inside
        .find(ends)
        .filter(|&end| end <= MAX_MARK_BYTES && inside[end..].starts_with(close))?;
    let inside = &inside[..end];
    let word = inside.trim_start_matches(['/', '|', '｜']);
    let special = match open {
        '<' => inside.starts_with(['|', '｜']) || inside.ends_with(['|', '｜']),
        '[' => is_token(inside),
        _ => true,
    };
    let tag =
        open == '<' && word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let is_mark = special && !word.is_empty() || tag;
    let len = open.len_utf8() + end + close.len_utf8();
    is_mark.then(|| Mark { text: &text[..len], special })
}

/// Whether the text in square brackets is a token: `TOOL_CALLS`, `/THINK`, `|endofturn|`, not `A1`
/// or an index.
fn is_token(inside: &str) -> bool {
    if inside.len() > 2 && inside.starts_with('|') && inside.ends_with('|') {
        return true;
    }
    let word = inside.strip_prefix('/').unwrap_or(inside);
    let upper = |scalar: char| scalar.is_ascii_uppercase() || scalar == '_' || scalar == ' ';
    word.len() >= 4 && word.chars().all(upper)
}

#[cfg(test)]
mod tests {
    use super::marks;

    #[test]
    fn tags_and_special_tokens_are_distinguished_from_text() {
        let text = "a<b> 1 < 2 <|im_end|></s><｜tool▁sep｜>[TOOL_CALLS][1][OK] [/THINK]\
                    ◁think▷ <a\nb> <function=f> <<x>> [|endofturn|] <";
        let found: Vec<(&str, bool)> = marks(text).map(|mark| (mark.text, mark.special)).collect();
        assert_eq!(
            found,
            [
                ("<b>", false),
                ("<|im_end|>", true),
                ("</s>", false),
                ("<｜tool▁sep｜>", true),
                ("[TOOL_CALLS]", true),
                ("[/THINK]", true),
                ("◁think▷", true),
                ("<function=f>", false),
                ("<x>", false),
                ("[|endofturn|]", true),
            ]
        );
    }
}
