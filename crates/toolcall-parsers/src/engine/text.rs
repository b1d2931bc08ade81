//! Small readings of text that may end too early: literals, alternatives, whitespace.

use crate::grammar::Text;

/// Whether a literal stands at the head of some text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Is {
    /// It does.
    Yes,
    /// It does not, whatever follows.
    No,
    /// The text ends inside it.
    Maybe,
}

/// Whether `text` begins with `literal`.
pub(crate) fn is(text: &str, literal: &str) -> Is {
    let n = text.len().min(literal.len());
    if text.as_bytes()[..n] != literal.as_bytes()[..n] {
        Is::No
    } else if n == literal.len() {
        Is::Yes
    } else {
        Is::Maybe
    }
}

/// The longest of `literals` at the head of `text`: its position in the list, unless a longer
/// one may still come.
pub(crate) fn any(text: &str, literals: &[Text]) -> Result<Option<usize>, Undecided> {
    longest(text, literals.iter().map(|literal| literal.as_ref()))
}

/// More text is needed to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided;

/// As [`any`], over any list of literals.
pub(crate) fn longest<'a>(
    text: &str,
    literals: impl IntoIterator<Item = &'a str>,
) -> Result<Option<usize>, Undecided> {
    let mut best: Option<(usize, usize)> = None;
    let mut maybe = false;
    for (i, literal) in literals.into_iter().enumerate() {
        match is(text, literal) {
            Is::Yes if best.is_none_or(|(_, len)| literal.len() > len) => {
                best = Some((i, literal.len()));
            }
            // Longer than any that is whole already, since the text ends inside it.
            Is::Maybe => maybe = true,
            Is::Yes | Is::No => {}
        }
    }
    if maybe { Err(Undecided) } else { Ok(best.map(|(i, _)| i)) }
}

/// How much whitespace may stand before a literal that may be missing: it must be held until the
/// literal is certain. Behind more of it a closer is found as an orphan.
pub(crate) const BLANKS: usize = 32;

/// Bytes of ASCII whitespace at the head of `text`.
pub(crate) fn space(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_whitespace).count()
}

/// The first index of `text` at which one of `literals` stands, with its number in the list; or
/// the index from which the text must be looked at again.
pub(crate) fn find<'a>(
    text: &str,
    literals: impl Iterator<Item = &'a str> + Clone,
) -> Result<(usize, usize), usize> {
    let bytes = text.as_bytes();
    let first = |byte: &u8| literals.clone().any(|l| l.as_bytes().first() == Some(byte));
    let mut at = 0;
    while let Some(hit) = bytes[at..].iter().position(first) {
        at += hit;
        match longest(&text[at..], literals.clone()) {
            Ok(Some(i)) => return Ok((at, i)),
            Ok(None) => at += text[at..].chars().next().map_or(1, char::len_utf8),
            Err(Undecided) => return Err(at),
        }
    }
    Err(bytes.len())
}
