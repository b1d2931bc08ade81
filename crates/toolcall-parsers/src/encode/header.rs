//! Writing of names, ids and keys in a header.

use alloc::{borrow::Cow, format, string::String};

use super::{CallToWrite, tags::tag};
use crate::{
    compiled::name_starts,
    encode::{EncodeErrorKind, error::EncodeFault},
    template::{Hole, Part},
};

/// The context of a text in a header.
pub(super) struct HeaderPlace<'p> {
    /// The text written before the position.
    pub(super) before: &'p str,
    /// The offset at which the block began.
    pub(super) begun: usize,
    /// The texts that may follow, as in the template.
    pub(super) next: &'p [&'p str],
    /// Whether a script's or Python's arguments follow, so that the name must be an identifier.
    pub(super) applied: bool,
}

impl HeaderPlace<'_> {
    /// Returns whether the position is inside the quotes of an attribute.
    fn quoted(&self) -> bool {
        self.before.ends_with("=\"") && self.next.iter().any(|next| next.starts_with('"'))
    }

    /// Returns the spelling of a text at this position.
    fn written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.quoted() && text.contains(['&', '"']) {
            // Parsers decode only these two references, and chat templates leave other `&`
            // unchanged.
            true => text
                .replace("&amp;", "&amp;amp;")
                .replace("&quot;", "&amp;quot;")
                .replace('"', "&quot;")
                .into(),
            false => text.into(),
        }
    }

    /// Returns the first byte of `text` that would end it too early, or is not allowed at this
    /// position.
    fn end_of(&self, text: &str, odd: impl Fn(char) -> bool) -> Option<usize> {
        let blank = |c: char| c.is_ascii_whitespace();
        let edges = text.trim_ascii() != text || text.is_empty();
        let found = text.find(|c: char| c.is_control() || odd(c));
        // White space in the template may end the text before it.
        let shown = |next: &str| match next.chars().next() {
            Some('\n') => text.find('\n'),
            Some(c) if blank(c) => text.find(blank),
            _ => None,
        };
        let ends = |next: &&str| text.find(tag(next)).filter(|_| !tag(next).is_empty());
        let stop = self.next.iter().filter(|_| !self.quoted()).filter_map(ends).min();
        let shown = self.next.iter().filter_map(|next| shown(next)).min();
        [found, stop, shown, edges.then_some(0)].into_iter().flatten().min()
    }
}

/// Returns the spelling of a tool's name.
pub(super) fn name<'c>(
    call: &CallToWrite<'c>,
    place: &HeaderPlace<'_>,
) -> Result<Cow<'c, str>, EncodeFault> {
    let no = |at, why| Err(EncodeFault::new(EncodeErrorKind::Name, why).at(at));
    let name = call.name;
    if place.applied {
        match not_identifier(name, &['.', '-']) {
            Some(at) => return no(at, "a function's name cannot contain this"),
            None if name.ends_with(['.', '-']) => {
                return no(name.len().saturating_sub(1), "a function's name cannot end with this");
            }
            None => {}
        }
    }
    if place.before.len() == place.begun && !name_starts().any(|c| name.starts_with(c)) {
        return no(0, "without a marker, a call must begin with an ASCII letter or `_`");
    }
    let odd = |c: char| c.is_whitespace() || "()[]{}<>,\"'`".contains(c);
    match place.end_of(name, odd) {
        Some(at) => no(at, "the header cannot contain this"),
        None => Ok(place.written(name)),
    }
}

/// Checks the id that the caller gave.
pub(super) fn id(id: &str, place: &HeaderPlace<'_>) -> Result<(), EncodeFault> {
    match place.end_of(id, char::is_whitespace) {
        Some(at) => {
            Err(EncodeFault::new(EncodeErrorKind::Id, "the header cannot contain this").at(at))
        }
        None => Ok(()),
    }
}

/// Returns the spelling of a parameter's name.
pub(super) fn key<'k>(key: &'k str, place: &HeaderPlace<'_>) -> Result<Cow<'k, str>, EncodeFault> {
    // After `=`, the parser removes quotes around a key.
    let enclosed = place.before.ends_with('=') && key.starts_with(['"', '\'']);
    // In and between tags, `<` and `>` belong to the tags.
    let tagged = place.next.iter().any(|next| next.starts_with(['<', '>', '"']));
    match place.end_of(key, |c| tagged && "<>".contains(c)) {
        _ if enclosed => {
            Err(EncodeFault::new(EncodeErrorKind::Key, "quotes around it would be removed").at(0))
        }
        Some(at) => {
            Err(EncodeFault::new(EncodeErrorKind::Key, "the header cannot contain this").at(at))
        }
        None => Ok(place.written(key)),
    }
}

/// Returns the first byte of `word` that an identifier cannot contain. Characters of `more` are
/// also allowed, except at the start.
pub(super) fn not_identifier(word: &str, more: &[char]) -> Option<usize> {
    let fits = |at, c: char| {
        let begins = c == '_' || c.is_alphabetic();
        begins || at > 0 && (c.is_alphanumeric() || more.contains(&c))
    };
    match word.char_indices().find(|&(at, c)| !fits(at, c)) {
        Some((at, _)) => Some(at),
        None if word.is_empty() => Some(0),
        None => None,
    }
}

/// Returns whether the template of an id matches `text`. The name in it must be that of the call.
pub(super) fn id_fits(parts: &[Part], text: &str, name: &str) -> bool {
    let Some((first, rest)) = parts.split_first() else { return text.is_empty() };
    match first {
        Part::Literal(literal) => {
            text.strip_prefix(literal.as_str()).is_some_and(|text| id_fits(rest, text, name))
        }
        Part::Hole(Hole::Name) => {
            text.strip_prefix(name).is_some_and(|text| id_fits(rest, text, name))
        }
        Part::Hole(Hole::Index(_)) => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && id_fits(rest, &text[digits..], name)
        }
        Part::Hole(_) => false,
        Part::Group(parts) => {
            let with = [&parts[..], rest].concat();
            id_fits(&with, text, name) || id_fits(rest, text, name)
        }
    }
}

/// Returns an id for a template that requires one, if the caller gave none.
pub(super) fn made_id(index: usize) -> String {
    format!("call_{index}")
}
