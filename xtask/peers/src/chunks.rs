//! Chunks in which tags stay whole, as those are that a tokenizer has as one token.

use crate::text::tokens;

/// No longer than this, in bytes.
const LONGEST: usize = 48;

/// Cuts text as [`tokens`] does, except that each tag is a separate chunk.
pub(crate) fn whole_tags(text: &str) -> Vec<&str> {
    let (mut chunks, mut rest) = (Vec::new(), text);
    while let Some((before, tag, behind)) = tag(rest) {
        chunks.extend(tokens(before));
        chunks.push(tag);
        rest = behind;
    }
    chunks.extend(tokens(rest));
    chunks
}

/// Returns the first tag, `<name>` or `[NAME]`, with the text before and after it.
fn tag(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices(['<', '[']).find_map(|(at, open)| {
        let capitals = open == "[";
        let len = text[at..].find(if capitals { ']' } else { '>' })? + 1;
        let name = text.get(at + 1..at + len - 1)?;
        let of_tag = |c: char| match capitals {
            true => c == '_' || c.is_ascii_uppercase(),
            false => c != '<' && !c.is_whitespace(),
        };
        let is_tag = !name.is_empty() && len <= LONGEST && name.chars().all(of_tag);
        is_tag.then(|| (&text[..at], &text[at..at + len], &text[at + len..]))
    })
}
