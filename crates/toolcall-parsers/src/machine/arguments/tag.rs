//! Tags: the indivisible parts of a template's literals.
//!
//! ```text
//! </arg_key>\n<arg_value>      two tags: `</arg_key>` and `<arg_value>`
//! ```

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use crate::{
    cursor::{Prefix, Undecided, match_prefix},
    machine::compile::respell::{Respell, Speller},
};

/// A tag with all its spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TagTexts {
    texts: Vec<String>,
}

impl TagTexts {
    /// Creates a tag from its text in a template, and the other spellings of texts in it. Also
    /// accepts the tag without its white space.
    pub(crate) fn new(shown: &str, spellings: &[(String, Vec<String>)]) -> Self {
        let mut texts = vec![shown.to_owned()];
        let mut order: Vec<_> = spellings.iter().collect();
        order.sort_by_key(|(text, _)| core::cmp::Reverse(text.len()));
        for (text, others) in order {
            for at in 0..texts.len() {
                if texts[at].contains(text.as_str()) {
                    let spelled = others.iter().map(|other| texts[at].replace(text, other));
                    texts.extend(spelled.collect::<Vec<_>>());
                }
            }
        }
        let tight = texts.iter().map(|text| text.split_ascii_whitespace().collect());
        texts.extend(tight.collect::<Vec<String>>());
        Self::exact(texts)
    }

    /// Creates a tag with exactly these spellings.
    pub(crate) fn exact(texts: impl IntoIterator<Item = String>) -> Self {
        let mut tag = Self { texts: Vec::new() };
        for text in texts {
            if !text.is_empty() && !tag.texts.contains(&text) {
                tag.texts.push(text);
            }
        }
        tag
    }

    /// Adds the spellings of `other`.
    pub(crate) fn extend(&mut self, other: Self) {
        let all = core::mem::take(&mut self.texts).into_iter().chain(other.texts);
        *self = Self::exact(all);
    }

    /// Returns whether the tag contains letters or digits, not only punctuation.
    pub(crate) fn has_letters(&self) -> bool {
        self.texts().any(|text| text.contains(char::is_alphanumeric))
    }

    /// Returns whether a spelling of the tag contains a marker token.
    pub(crate) fn is_token(&self) -> bool {
        self.texts().any(|text| text.contains(jail_match::is_reserved))
    }

    /// Returns all spellings of the tag.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.texts.iter().map(String::as_str)
    }
}

impl Respell for TagTexts {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.texts.respell(speller);
    }
}

/// Adds the spellings of each tag of `more` to the tag at the same index.
pub(crate) fn merge(tags: &mut [TagTexts], more: Vec<TagTexts>) {
    for (tag, more) in tags.iter_mut().zip(more) {
        tag.extend(more);
    }
}

/// Returns the index and length of the longest of `tags` that `text` begins with. Undecided while a
/// longer one may follow.
pub(crate) fn longest(text: &str, tags: &[TagTexts]) -> Result<Option<(usize, usize)>, Undecided> {
    let mut best: Option<(usize, usize)> = None;
    let mut partial = false;
    for (n, tag) in tags.iter().enumerate() {
        for literal in &tag.texts {
            match match_prefix(text, literal) {
                Prefix::Match if best.is_none_or(|(_, len)| literal.len() > len) => {
                    best = Some((n, literal.len()));
                }
                Prefix::Partial => partial = true,
                Prefix::Match | Prefix::Mismatch => {}
            }
        }
    }
    if partial { Err(Undecided) } else { Ok(best) }
}

/// Cuts a template's literal into tags, between `>` and `<`. Removes white space around them.
pub(crate) fn cut(literal: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(literal);
    core::iter::from_fn(move || {
        let text = rest?;
        let ends = |at: &usize| text[at + 1..].trim_ascii_start().starts_with('<');
        let end = text.match_indices('>').map(|(at, _)| at).find(ends);
        let (piece, tail) = end.map_or((text, None), |at| (&text[..=at], Some(&text[at + 1..])));
        rest = tail;
        Some(piece.trim_ascii())
    })
    .filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec, vec::Vec};

    use super::{TagTexts, cut, longest};
    use crate::cursor::Undecided;

    #[test]
    fn literals_are_split_between_tags() {
        let pieces: Vec<_> = cut("</a>\n<b> <c d>x").collect();
        assert_eq!(pieces, ["</a>", "<b>", "<c d>x"]);
        assert_eq!(cut(" \n").count(), 0);
    }

    #[test]
    fn tag_has_every_combination_of_its_spellings() {
        let spellings = [
            ("<|".to_string(), vec!["<| ".to_string()]),
            ("|>".to_string(), vec![" |>".to_string()]),
        ];
        let tag = TagTexts::new("<|x y|>", &spellings);
        let texts: Vec<_> = tag.texts().collect();
        assert_eq!(texts, ["<|x y|>", "<| x y|>", "<|x y |>", "<| x y |>", "<|xy|>"]);
    }

    #[test]
    fn longest_tag_is_matched() {
        let tags = ["<a", "<ab>"].map(|text| TagTexts::new(text, &[]));
        assert_eq!(longest("<ab>", &tags), Ok(Some((1, 4))));
        assert_eq!(longest("<ac", &tags), Ok(Some((0, 2))));
        assert_eq!(longest("<ab", &tags), Err(Undecided));
        assert_eq!(longest("x", &tags), Ok(None));
    }
}
